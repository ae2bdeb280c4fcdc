/* test_blocks.c - a queue of bytes that lends its first block */
#include "net/blocks.h"

#include "harness/check.h"

static void gives_back_what_was_put(void)
{
    struct blocks b;
    struct queue q = { 0 };
    char in[10000];
    size_t out = 0;
    blocks_init(&b, mem_default());
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (char)(i * 7 + i / 251);
    bool ok = queue_add(&q, &b, (struct slice){ in, 3 }) &&
              queue_add(&q, &b, (struct slice){ in + 3, sizeof in - 3 });
    CHECK_INT(q.bytes, sizeof in);
    while (ok) {
        struct slice s = queue_lend(&q);
        if (!s.len)
            break;
        CHECK_SLICE(s, ((struct slice){ in + out, s.len }));
        out += s.len;
        queue_return(&q, &b);
    }
    CHECK_INT(out, sizeof in);
    CHECK_INT(q.bytes, 0);
    queue_clear(&q, &b);
    blocks_release(&b);
}

static void leaves_borrowed_values_unchanged(void)
{
    struct blocks b;
    struct queue q = { 0 };
    blocks_init(&b, mem_default());
    queue_add(&q, &b, SLICE("abc"));
    struct slice s = queue_lend(&q);
    queue_add(&q, &b, SLICE("def"));
    CHECK_SLICE(s, SLICE("abc"));
    CHECK_SLICE(queue_lend(&q), SLICE("abc"));
    queue_return(&q, &b);
    CHECK_SLICE(queue_lend(&q), SLICE("def"));
    queue_clear(&q, &b);
    CHECK_ALWAYS(q.bytes == 0);
    queue_return(&q, &b);
    blocks_release(&b);
}

static void keeps_some_for_the_next(void)
{
    static char big[400000];
    struct blocks b;
    struct queue q = { 0 };
    blocks_init(&b, mem_default());
    queue_add(&q, &b, (struct slice){ big, sizeof big });
    queue_clear(&q, &b);
    size_t made = check_allocations();
    CHECK_INT(b.spare_count, 16);
    queue_add(&q, &b, (struct slice){ big, 60000 });
    CHECK_INT(check_allocations(), made);
    queue_clear(&q, &b);
    blocks_release(&b);
}

TESTS = {
    TEST(gives_back_what_was_put),
    TEST(leaves_borrowed_values_unchanged),
    TEST(keeps_some_for_the_next),
    TESTS_END,
};
