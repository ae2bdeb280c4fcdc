/*
 * reasoning_details.h - a router's list of thoughts, put together again
 *
 * Routers pass on what the model behind them wants to see again as elements
 * of "reasoning_details"; in a stream each comes in pieces, told apart by
 * "index".
 */
#ifndef PROVIDER_OPENAI_REASONING_DETAILS_H
#define PROVIDER_OPENAI_REASONING_DETAILS_H

#include "base/buf.h"

struct reasoning_detail;

struct reasoning_details {      /* zeroed at first */
    struct reasoning_detail *first, *last, *indexed;
    size_t count;
    bool over;                  /* there were more than we take */
};

/* A piece of one; false: no memory.  Look at `over`, too. */
bool reasoning_details_add(struct reasoning_details *d, struct arena *life,
                           const allm_json *element);

/* All of them as a list; NULL: none, or no memory. */
const allm_json *reasoning_details_list(const struct reasoning_details *d,
                                        struct arena *a);

/* The text that is meant for people: of "text" or "summary". */
struct slice reasoning_details_text(const allm_json *element);

#endif
