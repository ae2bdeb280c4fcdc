/* quota.c - an allocator that counts what it hands out and enforces a limit */
#include "base/quota.h"

void quota_init(struct quota *b, struct mem inner, size_t limit)
{
    *b = (struct quota){ .inner = inner, .limit = limit };
}

/* An allm_alloc_fn. */
static void *counted(void *ud, void *p, size_t old, size_t size)
{
    struct quota *b = ud;
    size_t rest = p ? b->held - old : b->held;
    size_t most = b->limit + b->limit / 2;
    if (size > old && (size > most || rest > most - size)) {
        b->refused = true;
        return NULL;
    }
    void *q = b->inner.fn(b->inner.ud, p, old, size);
    if (q || !size)
        b->held = rest + size;
    return q;
}

struct mem quota_mem(struct quota *b)
{
    return (struct mem){ counted, b };
}

bool quota_spent(const struct quota *b, size_t others)
{
    return b->held > b->limit || others > b->limit - b->held;
}

void quota_let_go(struct quota *b, struct arena *a)
{
    b->held -= arena_held(a);
    a->mem = b->inner;
}

void quota_lift(struct quota *b)
{
    b->limit = SIZE_MAX / 2;
}
