/* collect_call.h - a tool call while its events are folded */
#pragma once

#include "allm.h"
#include "base/buf.h"

struct collect_call {
    struct collect_call *next;
    allm_tool_call call;        /* strings and JSON are in the home */
    struct arena pieces;        /* owns `raw` */
    struct buf raw;             /* the arguments, as pieces arrive */
    bool completed;             /* a completed event has replaced the pieces */
    bool borrowed;              /* ...whose arguments are not copied yet */
};

/* The owner releases `pieces`. */
void collect_call_init(struct collect_call *k, struct mem mem);

/* Set the complete text of the arguments.  A long one that is the sum of its
 * pieces is not copied: the arena, which has the same memory, takes them over.
 * If memory runs out, the arena is broken. */
void collect_call_complete(struct collect_call *k, struct arena *a,
                           struct slice raw);

/* Take the arguments of a completed event as they are, if they are long enough
 * to be worth it; they live as long as the attempt.  False: copy them. */
bool collect_call_borrow(struct collect_call *k, const allm_event *e);

/* Is it completed, and the same as this call? */
bool collect_call_is(const struct collect_call *k, const allm_tool_call *other);
