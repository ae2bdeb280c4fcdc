/* cut.h - shorten results that are too long for the model */
#pragma once

#include "base/arena.h"

/*
 * Keeps the beginning and the end of `text` and puts a line in place of the
 * bytes left out.  The result has at most `max` bytes, unless `max` is too
 * small for that line.  A text that fits is returned unchanged; max 0: no
 * limit.  ptr NULL: out of memory.
 */
struct slice cut_text(struct arena *a, struct slice text, size_t max);
