/* needs.h - the declared reach of a tool: JSON in, instructions out */
#ifndef TOOLBOX_NEEDS_H
#define TOOLBOX_NEEDS_H

#include "base/buf.h"

/*
 * Check a "needs" object (NULL: {}).  A member that is not known is refused: a
 * reach that is not understood is not granted.  NULL, or the error in the
 * arena.
 */
const allm_error *needs_check(struct arena *a, const allm_json *needs,
                              const char *dir);

/*
 * Instructions for the declared reach, which must have been checked, and for
 * the limits: declared or default.  cpu_s: the limit if none is declared; 0:
 * none.
 */
void needs_orders(struct buf *out, const allm_json *needs, const char *dir,
                  uint64_t cpu_s);

/* "read PATH", "write PATH", "net", "net PORT", "env NAME": what exceeds the
 * default reach, for people and for rules.  An array; NULL: out of memory. */
const allm_json *needs_words(struct arena *a, const allm_json *needs,
                             const char *dir);

/* Is this the variable of a provider's key? */
bool needs_is_key(const char *variable);

#endif
