/*
 * usage.h - convert Gemini's usage to ours
 *
 * Every frame has a new usage; counts that it omits keep their value.
 */
#pragma once

#include "base/buf.h"

/* The usage so far; initially zero. */
struct gemini_usage {
    allm_int prompt, tools, cached, candidates, thoughts, total;
    struct buf extra;           /* other members of the last frame */
    const allm_json *first;     /* the usage with these members, if it is the
                                   first; else NULL */
    size_t extras;              /* the number of these members */
    bool any;
};

/* Add a "usageMetadata".  False: out of memory. */
bool gemini_usage_add(struct gemini_usage *u, struct arena *life,
                      const allm_json *usage);

/* Our usage; it points into the arena. */
allm_usage gemini_usage_read(const struct gemini_usage *u, struct arena *a);
