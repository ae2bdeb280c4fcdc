/* test_buf.c - buffers grow up to their limit, and break instead of failing */
#include "base/buf.h"

#include "harness/check.h"

#include <stdint.h>
#include <wchar.h>

/* What holds for every buffer, at any time. */
static void check_invariant(const struct buf *b)
{
    CHECK_ALWAYS(b->ptr ? b->len < b->cap && b->ptr[b->len] == '\0'
                        : b->len == 0 && b->cap == 0);
    CHECK_ALWAYS(b->len <= b->limit);
    CHECK_ALWAYS(b->cap == 0 || b->cap - 1 <= b->limit);
    CHECK_ALWAYS(b->broken || !b->over);
}

static void begins_empty(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 100);
    check_invariant(&b);
    CHECK_SLICE(buf_slice(&b), SLICE(""));
    CHECK_INT(check_allocations(), 0);
    buf_clear(&b);
    check_invariant(&b);
    arena_release(&a);
}

static void adds_all_kinds(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 1000);
    buf_text(&b, "text ");
    buf_byte(&b, '!');
    buf_add(&b, (struct slice){ " sliced", 4 });
    buf_text(&b, NULL);
    buf_add(&b, (struct slice){ NULL, 0 });
    buf_byte(&b, ' ');
    buf_uint(&b, 42);
    buf_byte(&b, ' ');
    buf_int(&b, -42);
    buf_format(&b, " %s=%d%%", "x", 7);
    CHECK_TEXT(b.ptr, "text ! sli 42 -42 x=7%");
    CHECK_SLICE(buf_slice(&b), SLICE("text ! sli 42 -42 x=7%"));
    CHECK(!b.broken);
    check_invariant(&b);
    arena_release(&a);
}

static void keeps_nul_bytes(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 10);
    buf_byte(&b, '\0');
    buf_add(&b, SLICE("\0a"));
    CHECK_SLICE(buf_slice(&b), SLICE("\0\0a"));
    arena_release(&a);
}

static void adds_itself(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 10000);
    buf_text(&b, "0123456789abcdef0123456789abcdef0123456789");
    for (int i = 0; i < 5; i++)
        buf_add(&b, buf_slice(&b));
    CHECK_INT(b.len, 42 * 32);
    CHECK(b.len == 42 * 32 && !memcmp(b.ptr, b.ptr + 42 * 31, 42));
    arena_release(&a);
}

static void writes_numbers(void)
{
    static const struct {
        const char *why;
        int64_t n;
        const char *text;
    } rows[] = {
        { "zero", 0, "0" },
        { "one digit", 9, "9" },
        { "two digits", 10, "10" },
        { "negative", -1, "-1" },
        { "the largest", INT64_MAX, "9223372036854775807" },
        { "the smallest", INT64_MIN, "-9223372036854775808" },
    };
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        buf_clear(&b);
        buf_int(&b, rows[i].n);
        CHECK_TEXT(b.ptr, rows[i].text);
    }
    check_row("the largest of all");
    buf_clear(&b);
    buf_uint(&b, UINT64_MAX);
    CHECK_TEXT(b.ptr, "18446744073709551615");
    arena_release(&a);
}

/* --------------------------------------------------------------- limits --- */

static void holds_exactly_its_limit(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 5);
    buf_text(&b, "12345");
    CHECK(!b.broken);
    check_invariant(&b);
    buf_byte(&b, '6');
    CHECK(b.broken && b.over);
    CHECK_TEXT(b.ptr, "12345");
    check_invariant(&b);
    arena_release(&a);
}

static void a_limit_of_nothing_holds_nothing(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 0);
    buf_text(&b, "");
    CHECK(!b.broken);
    check_invariant(&b);
    buf_byte(&b, 'x');
    CHECK(b.broken && b.over);
    check_invariant(&b);
    arena_release(&a);
}

static void what_is_broken_stays_as_it_was(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 4);
    buf_text(&b, "abc");
    buf_text(&b, "too long");
    buf_byte(&b, 'd');          /* would fit, but comes too late */
    buf_uint(&b, 1);
    buf_format(&b, "%d", 2);
    CHECK(!buf_reserve(&b, 0));
    CHECK_TEXT(b.ptr, "abc");
    buf_clear(&b);
    CHECK_ALWAYS(!b.broken && !b.over);
    buf_text(&b, "abcd");
    CHECK_TEXT(b.ptr, "abcd");
    check_invariant(&b);
    arena_release(&a);
}

static void formats_break_at_the_limit(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 6);
    buf_format(&b, "%s", "123456");
    CHECK(!b.broken);
    buf_clear(&b);
    buf_format(&b, "%s", "1234567");
    CHECK(b.broken && b.over);
    CHECK_INT(b.len, 0);
    check_invariant(&b);
    arena_release(&a);
}

/* A wide character that the C locale does not have. */
static void what_cannot_be_printed_breaks_it(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 100);
    buf_text(&b, "abc");
    buf_format(&b, "%lc", (wint_t)0x20AC);
    CHECK_ALWAYS(b.broken && !b.over);
    CHECK_TEXT(b.ptr, "abc");
    check_invariant(&b);
    arena_release(&a);
}

static void room_that_cannot_be_is_refused(void)
{
    static const struct {
        const char *why;
        size_t limit, n;
        bool over;
    } rows[] = {
        { "beyond a small limit", 100, SIZE_MAX, true },
        { "beyond what is left of all", SIZE_MAX, SIZE_MAX, true },
        { "all that is left", SIZE_MAX, SIZE_MAX - 1, false },
        { "half of all", SIZE_MAX, SIZE_MAX / 2, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&b, &a, rows[i].limit);
        buf_byte(&b, 'x');
        CHECK_ALWAYS(!buf_reserve(&b, rows[i].n));
        CHECK_ALWAYS(b.broken);
        CHECK(b.over == rows[i].over);
        CHECK_TEXT(b.ptr, "x");
        check_invariant(&b);
        arena_release(&a);
    }
}

static void lack_of_memory_is_not_over(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 1000);
    for (int i = 0; i < 100; i++)
        buf_text(&b, "0123456789");
    CHECK_ALWAYS(b.broken == !check_whole());
    CHECK_ALWAYS(!b.over);
    CHECK_INT(b.len, 1000);
    check_invariant(&b);
    arena_release(&a);
}

static void reserved_room_is_filled_by_hand(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 200);
    buf_text(&b, "by ");
    if (buf_reserve(&b, 150)) {
        memset(b.ptr + b.len, 'h', 150);
        b.len += 150;
        b.ptr[b.len] = '\0';
    }
    CHECK_INT(b.len, 153);
    buf_text(&b, "and");
    CHECK_INT(b.len, 156);
    check_invariant(&b);
    arena_release(&a);
}

static void clearing_keeps_the_memory(void)
{
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 10000);
    for (int round = 0; round < 100; round++) {
        buf_clear(&b);
        for (int i = 0; i < 100; i++)
            buf_byte(&b, 'x');
    }
    CHECK_INT(b.len, 100);
    CHECK_INT(check_allocations(), 1);
    arena_release(&a);
}

/* ------------------------------------------------------------- property --- */

enum { MODEL = 3000 };

/* A buffer and a plain array do the same; then they hold the same. */
static void compare_with_model(struct random r, size_t steps)
{
    static char model[MODEL + 1];
    size_t len = 0, limit = random_below(r, MODEL);
    bool broken = false;
    struct buf b;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&b, &a, limit);
    for (size_t i = 0; i < steps; i++) {
        char bytes[100];
        struct slice s = { bytes, random_below(r, sizeof bytes + 1) };
        random_fill(r, bytes, s.len);
        if (random_below(r, 40) == 0) {
            buf_clear(&b);
            len = 0;
            broken = false;
        }
        buf_add(&b, s);
        if (!broken && len + s.len <= limit) {
            memcpy(model + len, bytes, s.len);
            len += s.len;
        } else {
            broken = true;
        }
        check_invariant(&b);
        CHECK(b.broken == broken && b.over == broken);
        CHECK(slice_eq(buf_slice(&b), (struct slice){ model, len }));
    }
    arena_release(&a);
}

static void equals_a_model(void)
{
    struct random r = check_random();
    for (int i = 0; i < 300; i++)
        compare_with_model(r, 150);
}

static void equals_a_model_without_memory(void)
{
    compare_with_model(check_random(), 100);
}

TESTS = {
    TEST(begins_empty),
    TEST(adds_all_kinds),
    TEST(keeps_nul_bytes),
    TEST(adds_itself),
    TEST(writes_numbers),
    TEST(holds_exactly_its_limit),
    TEST(a_limit_of_nothing_holds_nothing),
    TEST(what_is_broken_stays_as_it_was),
    TEST(formats_break_at_the_limit),
    TEST(what_cannot_be_printed_breaks_it),
    TEST(room_that_cannot_be_is_refused),
    TEST(lack_of_memory_is_not_over),
    TEST(reserved_room_is_filled_by_hand),
    TEST(clearing_keeps_the_memory),
    TEST_ONCE(equals_a_model),
    TEST(equals_a_model_without_memory),
    TESTS_END
};
