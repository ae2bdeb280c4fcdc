/* similar.h - the lines of a text that resemble others most */
#pragma once

#include "base/arena.h"

struct similar {
    size_t line, count;         /* the first one, from 1; 0: none */
    struct slice text;          /* from there on */
};

/* At most 12 lines, as many as `wanted` has.  None if nothing resembles it, or
 * there is no memory. */
struct similar similar_lines(struct arena *a, struct slice text,
                             struct slice wanted);
