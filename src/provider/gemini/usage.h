/*
 * usage.h - the counts of Gemini
 *
 * Every frame counts anew; a number that a frame leaves out stays as it was.
 */
#ifndef PROVIDER_GEMINI_USAGE_H
#define PROVIDER_GEMINI_USAGE_H

#include "base/buf.h"

/* What came so far; zeroed at first. */
struct gemini_usage {
    allm_int prompt, tools, cached, candidates, thoughts, total;
    struct buf extra;           /* everything else of the last frame */
    const allm_json *first;     /* the usage that it is of, if that is the
                                   first; else NULL */
    size_t extras;              /* the members of it */
    bool any;
};

/* A "usageMetadata".  False: no memory. */
bool gemini_usage_add(struct gemini_usage *u, struct arena *life,
                      const allm_json *usage);

/* Ours, what it points to in the arena. */
allm_usage gemini_usage_read(const struct gemini_usage *u, struct arena *a);

#endif
