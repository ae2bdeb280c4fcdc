/*
 * null_transport.h - the transport of a recorder or a player that was not made
 *
 * It opens nothing, for lack of memory.  NULL in its place could be taken for
 * the wish for a network without one.
 */
#ifndef NET_NULL_TRANSPORT_H
#define NET_NULL_TRANSPORT_H

#include "allm.h"

extern const allm_transport null_transport;

#endif
