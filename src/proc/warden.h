/* warden.h - find the program allm-warden */
#pragma once

#include "base/arena.h"

/*
 * Its path, in the arena: what ALLM_WARDEN names; or ../libexec/allm/ relative
 * to the library; or the place that the build was configured for.  NULL: it is
 * missing, and *error (kind TOOL, reason warden_missing) lists the places; or
 * out of memory.
 */
const char *warden_path(struct arena *a, const allm_error **error);
