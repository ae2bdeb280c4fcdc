/* needs.h - the declared reach of a tool: JSON in, instructions out */
#pragma once

#include "base/buf.h"

/*
 * Check a "needs" object (NULL: {}).  A member that is not known is refused: a
 * reach that is not understood is not granted.  *needs becomes a copy whose
 * paths are absolute and have no links.  `grants`: the exact paths and key
 * variables that are granted although they are secret; or NULL.  NULL, or the
 * error in the arena.
 */
const allm_error *needs_check(struct arena *a, const allm_json **needs,
                              const char *dir, const allm_json *grants);

/*
 * Instructions for the declared reach, which must have been checked, and for
 * the limits: declared or default.  cpu_s: the limit if none is declared; 0:
 * none.  Returns a path that leads elsewhere than when it was checked, or NULL.
 */
const char *needs_orders(struct buf *out, const allm_json *needs,
                         uint64_t cpu_s);

/* "read PATH", "write PATH", "net", "net PORT", "env NAME": what exceeds the
 * default reach, for people and for rules.  An array; NULL: out of memory. */
const allm_json *needs_words(struct arena *a, const allm_json *needs);
