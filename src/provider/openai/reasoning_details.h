/*
 * reasoning_details.h - assemble the reasoning_details of a router
 *
 * Routers return the reasoning that a model needs back as elements of
 * "reasoning_details".  In a stream each element arrives in pieces with the
 * same "index".
 */
#pragma once

#include "base/buf.h"

struct reasoning_detail;

struct reasoning_details {      /* it begins zeroed */
    struct reasoning_detail *first, *last, *indexed;
    size_t count;
    bool over;                  /* a limit was exceeded */
};

/* Add a piece of an element; false: out of memory.  Check `over`, too. */
bool reasoning_details_add(struct reasoning_details *d, struct arena *life,
                           const allm_json *element);

/* All elements as a list; NULL: none, or out of memory. */
const allm_json *reasoning_details_list(const struct reasoning_details *d,
                                        struct arena *a);

/* The readable text of an element: its "text" or its "summary". */
struct slice reasoning_details_text(const allm_json *element);
