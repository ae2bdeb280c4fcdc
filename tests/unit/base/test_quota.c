/* test_quota.c - an allocator with a limit */
#include "base/quota.h"

#include "harness/check.h"

static void what_is_given_is_counted(void)
{
    struct quota q;
    quota_init(&q, mem_default(), 1000);
    struct mem mem = quota_mem(&q);
    void *p = mem_alloc(mem, 100);
    CHECK_INT(q.held, 100);
    void *larger = mem_resize(mem, p, 100, 300);
    CHECK_INT(q.held, 300);
    mem_free(mem, larger ? larger : p, larger ? 300 : 100);
    CHECK_ALWAYS(q.held == 0 || !p);
    CHECK_ALWAYS(!q.refused);
}

/* The limit is for the user to see; half as much again is given. */
static void beyond_the_limit_it_says_so_and_then_refuses(void)
{
    struct quota q;
    quota_init(&q, mem_default(), 1000);
    struct mem mem = quota_mem(&q);
    void *p = mem_alloc(mem, 1000);
    CHECK(!quota_spent(&q, 0) && quota_spent(&q, 1));
    void *half = mem_alloc(mem, 500);
    CHECK(half && quota_spent(&q, 0) && !q.refused);
    CHECK_ALWAYS(!mem_alloc(mem, 1001) && (q.refused || !check_whole()));
    if (p && half)
        CHECK(!mem_alloc(mem, 1) && !mem_resize(mem, half, 500, 501));
    quota_lift(&q);
    void *more = mem_alloc(mem, 1);
    CHECK(more);
    mem_free(mem, more, 1);
    mem_free(mem, half, 500);
    mem_free(mem, p, 1000);
}

/* The memory of an arena may outlive the quota that counted it. */
static void an_arena_can_be_let_go(void)
{
    struct quota q;
    struct arena a, b;
    quota_init(&q, mem_default(), 1000000);
    arena_init(&a, quota_mem(&q));
    arena_init(&b, mem_default());
    char *mine = arena_text(&a, "mine");
    CHECK(arena_alloc(&b, 1) && mine && q.held > 0);
    quota_let_go(&q, &a);
    CHECK_ALWAYS(q.held == 0);
    if (b.block)
        arena_adopt(&b, &a);
    q = (struct quota){ .limit = 0 };
    CHECK(!strcmp(mine ? mine : "", "mine"));
    arena_release(&a);
    arena_release(&b);
}

static void no_sum_overflows(void)
{
    struct quota q;
    quota_init(&q, mem_default(), 1000);
    CHECK_ALWAYS(!mem_alloc(quota_mem(&q), SIZE_MAX) && q.refused);
}

TESTS = {
    TEST(what_is_given_is_counted),
    TEST(beyond_the_limit_it_says_so_and_then_refuses),
    TEST(an_arena_can_be_let_go),
    TEST(no_sum_overflows),
    TESTS_END,
};
