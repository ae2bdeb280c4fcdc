/* test_mem.c - allocators, and sizes that do not overflow */
#include "base/mem.h"

#include "harness/check.h"

#include <string.h>

/* ------------------------------------------------- the function's shape --- */

/* An allocator that logs the requests, and passes them on. */
struct asked {
    struct mem below;
    void *p;
    size_t old, size, times;
};

static void *write_down(void *ud, void *p, size_t old, size_t size)
{
    struct asked *a = ud;
    a->p = p;
    a->old = old;
    a->size = size;
    a->times++;
    return a->below.fn(a->below.ud, p, old, size);
}

static void asks_in_the_promised_way(void)
{
    struct asked a = { .below = mem_default() };
    struct mem m = { write_down, &a };

    void *p = mem_alloc(m, 10);
    CHECK_ALWAYS(a.p == NULL && a.old == 0 && a.size == 10);
    if (!p)
        return;
    void *q = mem_resize(m, p, 10, 30);
    CHECK_ALWAYS(a.p == p && a.old == 10 && a.size == 30);
    size_t size = q ? 30 : 10;
    p = q ? q : p;
    mem_free(m, p, size);
    CHECK_ALWAYS(a.p == p && a.old == size && a.size == 0);
}

static void never_asks_for_nothing(void)
{
    struct asked a = { .below = mem_default() };
    struct mem m = { write_down, &a };

    void *p = mem_alloc(m, 0);
    CHECK(p);
    CHECK_ALWAYS(a.size == 1);
    if (!p)
        return;
    void *q = mem_resize(m, p, 0, 0);
    CHECK_ALWAYS(a.old == 1 && a.size == 1);
    mem_free(m, q ? q : p, 0);
    CHECK_ALWAYS(a.old == 1 && a.size == 0);
}

static void freeing_null_does_nothing(void)
{
    struct asked a = { .below = mem_default() };
    mem_free((struct mem){ write_down, &a }, NULL, 7);
    CHECK_INT(a.times, 0);
}

static void resizing_null_allocates(void)
{
    char *p = mem_resize(mem_default(), NULL, 0, 16);
    CHECK(p);
    if (p)
        memset(p, 'x', 16);
    mem_free(mem_default(), p, 16);
}

static void resizing_keeps_the_bytes(void)
{
    struct mem m = mem_default();
    char *p = mem_alloc(m, 8);
    if (!p)
        return;
    memcpy(p, "12345678", 8);
    char *q = mem_resize(m, p, 8, 100000);
    CHECK_ALWAYS(!memcmp(q ? q : p, "12345678", 8));
    mem_free(m, q ? q : p, q ? 100000 : 8);
}

/* ------------------------------------------------------ whose allocator --- */

static void takes_the_callers_allocator(void)
{
    struct asked a = { .below = mem_default() };
    size_t whole = sizeof(allm_allocator);
    const struct {
        const char *why;
        allm_allocator given;
        bool taken;
    } rows[] = {
        { "a filled struct", { whole, write_down, &a }, true },
        { "a longer one, of a later version", { whole + 8, write_down, &a },
          true },
        { "no function", { whole, NULL, &a }, false },
        { "a forgotten size", { 0, write_down, &a }, false },
        { "a size that ends before ud", { whole - 1, write_down, &a }, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct {
            allm_allocator known;
            char later[8];
        } given = { rows[i].given, "" };
        struct mem m = mem_from(&given.known);
        CHECK((m.fn == write_down) == rows[i].taken);
        CHECK((m.ud == &a) == rows[i].taken);
        CHECK(m.fn == (rows[i].taken ? write_down : mem_default().fn));
    }
    check_row("none at all");
    CHECK(mem_from(NULL).fn == mem_default().fn);
}

static void the_default_can_be_replaced_and_restored(void)
{
    struct mem harness = mem_default();
    struct asked a = { .below = harness };

    mem_set_default((struct mem){ write_down, &a });
    CHECK(mem_default().fn == write_down && mem_default().ud == &a);
    CHECK(mem_from(NULL).fn == write_down);

    mem_set_default((struct mem){ NULL, &a });
    CHECK(mem_default().fn && mem_default().fn != write_down);
    void *p = mem_alloc(mem_default(), 100);
    CHECK(p);
    mem_free(mem_default(), p, 100);
    CHECK_INT(a.times, 0);

    mem_set_default(harness);
}

/* ---------------------------------------------------------------- sizes --- */

static void sizes_do_not_overflow(void)
{
    const size_t max = SIZE_MAX;
    const struct {
        const char *why;
        size_t a, b;
        bool adds;
        size_t sum;
        bool multiplies;
        size_t product;
    } rows[] = {
        { "nothing", 0, 0, true, 0, true, 0 },
        { "small numbers", 3, 4, true, 7, true, 12 },
        { "nothing and all", 0, max, true, max, true, 0 },
        { "all and nothing", max, 0, true, max, true, 0 },
        { "all and one", max, 1, false, 0, true, max },
        { "one and all", 1, max, false, 0, true, max },
        { "the largest sum", max - 5, 5, true, max, false, 0 },
        { "one more", max - 5, 6, false, 0, false, 0 },
        { "half twice", max / 2, 2, true, max / 2 + 2, true, max - 1 },
        { "half and one twice", max / 2 + 1, 2, true, max / 2 + 3, false, 0 },
        { "all squared", max, max, false, 0, false, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        size_t out = 99;
        CHECK(mem_add(rows[i].a, rows[i].b, &out) == rows[i].adds);
        CHECK(out == (rows[i].adds ? rows[i].sum : 99));
        out = 99;
        CHECK(mem_mul(rows[i].a, rows[i].b, &out) == rows[i].multiplies);
        CHECK(out == (rows[i].multiplies ? rows[i].product : 99));
    }
}

TESTS = {
    TEST(asks_in_the_promised_way),
    TEST(never_asks_for_nothing),
    TEST(freeing_null_does_nothing),
    TEST(resizing_null_allocates),
    TEST(resizing_keeps_the_bytes),
    TEST(takes_the_callers_allocator),
    TEST_ONCE(the_default_can_be_replaced_and_restored),
    TEST(sizes_do_not_overflow),
    TESTS_END
};
