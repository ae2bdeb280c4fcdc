/* cut.h - results that are too long for the model */
#ifndef TOOL_CUT_H
#define TOOL_CUT_H

#include "base/arena.h"

/*
 * Head and tail of a text, with a line in place of what is left out: `max`
 * bytes at most, unless `max` is too small for that line.  A text that fits is
 * returned as it is; max 0: every text fits.  ptr NULL: no memory.
 */
struct slice cut_text(struct arena *a, struct slice text, size_t max);

#endif
