/* quota.h - an allocator that counts what it gave, and has a limit */
#ifndef BASE_QUOTA_H
#define BASE_QUOTA_H

#include "base/mem.h"

/*
 * The user stops in good order when quota_spent() says so.  What cannot wait
 * for that, such as one huge document, gets no more than half of the limit on
 * top of it: then allocations fail, and `refused` tells why.
 */
struct quota {
    struct mem inner;
    size_t held;
    size_t limit;
    bool refused;
};

void quota_init(struct quota *b, struct mem inner, size_t limit);

/* Its blocks must be freed while `b` is in its place. */
struct mem quota_mem(struct quota *b);

/* Is more held than the limit, together with what others hold for the same
 * purpose? */
bool quota_spent(const struct quota *b, size_t others);

/* Refuse nothing any more: what comes now is needed to end. */
void quota_lift(struct quota *b);

#endif
