/* servers.h - check the local servers by listing their models */
#pragma once

#include "allm.h"

/* Ask each server for its models, at its default address or that of its
 * variable, and print each result.  Returns true if one has a model. */
bool servers_check(void);
