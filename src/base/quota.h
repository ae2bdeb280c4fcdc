/* quota.h - an allocator that counts what it hands out and enforces a limit */
#pragma once

#include "base/arena.h"

/*
 * The user stops cleanly once quota_spent() returns true.  What cannot wait
 * for that, such as one huge document, gets at most half of the limit in
 * addition: after that, allocations fail and `refused` gives the reason.
 */
struct quota {
    struct mem inner;
    size_t held;
    size_t limit;
    bool refused;
};

void quota_init(struct quota *b, struct mem inner, size_t limit);

/* The blocks must be freed while `b` is still at its address. */
struct mem quota_mem(struct quota *b);

/* Is more held than the limit, together with what others hold for the same
 * purpose? */
bool quota_spent(const struct quota *b, size_t others);

/* Count this arena no longer: from now on its memory is the inner one's, and
 * may outlive `b`. */
void quota_let_go(struct quota *b, struct arena *a);

/* Stop refusing: from now on memory is needed to finish. */
void quota_lift(struct quota *b);
