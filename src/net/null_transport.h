/*
 * null_transport.h - the transport of a recorder or a player that was not made
 *
 * It opens nothing and reports that memory ran out.  NULL instead would mean
 * the HTTP client, and so the network.
 */
#pragma once

#include "allm.h"

extern const allm_transport null_transport;
