/* test_lines.c - where lines lie, and what is kept of them; the rules for
 * their ends are tested with sse.h and ndjson.h, who use them */
#include "wire/lines.h"

#include "harness/check.h"

static void a_line_lies_in_the_input(void)
{
    static const char text[] = "one\ntwo\r\nthree";
    struct arena a;
    struct lines l;
    struct slice in = { text, sizeof text - 1 }, line;
    arena_init(&a, mem_default());
    lines_init(&l, &a, LINES_ANY, 0);
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(line.ptr == text && line.len == 3);
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(line.ptr == text + 4 && line.len == 3);
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_MORE);
    CHECK_ALWAYS(in.ptr == text + 9 && in.len == 5);
    CHECK_ALWAYS(lines_empty(&l));
    CHECK_ALWAYS(arena_held(&a) == 0);
    arena_release(&a);
}

/* A line that was cut stays readable until the next one is kept. */
static void a_cut_line_stays_until_the_next_cut(void)
{
    struct arena a;
    struct lines l;
    struct slice in = SLICE("on"), first, second;
    arena_init(&a, mem_default());
    lines_init(&l, &a, LINES_ANY, 0);
    CHECK(lines_next(&l, &in, &first) == WIRE_MORE);
    CHECK(lines_keep(&l, &in) == WIRE_MORE);
    CHECK(in.len == 0 && !lines_empty(&l));
    in = SLICE("e\ntwo\nthr");
    if (lines_next(&l, &in, &first) == WIRE_FRAME) {
        CHECK(lines_next(&l, &in, &second) == WIRE_FRAME);
        CHECK(lines_next(&l, &in, &second) == WIRE_MORE);
        CHECK_SLICE(first, SLICE("one"));
        CHECK(lines_empty(&l));
    }
    CHECK(lines_keep(&l, &in) == WIRE_MORE);
    in = SLICE("ee\n");
    if (lines_next(&l, &in, &first) == WIRE_FRAME)
        CHECK_SLICE(first, SLICE("three"));
    arena_release(&a);
}

static void forgetting_keeps_the_place(void)
{
    struct arena a;
    struct lines l;
    struct slice in = SLICE("\xEF\xBB\xBFx\r"), line;
    arena_init(&a, mem_default());
    lines_init(&l, &a, LINES_ANY, 7);
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(slice_is(line, "x"));
    arena_reset(&a);
    lines_forget(&l);
    CHECK_ALWAYS(lines_empty(&l));
    in = SLICE("\n\xEF\xBB\xBFy\n");
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(slice_is(line, "\xEF\xBB\xBFy"));
    in = SLICE("12345678\n");
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_TOO_LONG);
    arena_release(&a);
}

/* The position of one line end does not hide the other. */
static void finds_ends_at_any_distance(void)
{
    static char text[1600];
    for (size_t n = 0; n < 1540; n++) {
        for (int end = 0; end < 3; end++) {
            struct arena a;
            struct lines l;
            memset(text, 'x', sizeof text);
            text[n] = "\n\r\r"[end];
            text[n + 1] = "x\nx"[end];
            text[1590] = '\n';
            struct slice in = { text, sizeof text }, line = { NULL, 0 };
            arena_init(&a, mem_default());
            lines_init(&l, &a, LINES_ANY, 0);
            CHECK(lines_next(&l, &in, &line) == WIRE_FRAME);
            CHECK_INT(line.len, n);
            CHECK(lines_next(&l, &in, &line) == WIRE_FRAME);
            CHECK(line.ptr + line.len == text + 1590);
            arena_release(&a);
        }
    }
}

/* Two rests of the same length are not mixed up. */
static void a_new_input_is_searched_anew(void)
{
    struct arena a;
    struct lines l;
    struct slice in = SLICE("ab\rcd"), line;
    arena_init(&a, mem_default());
    lines_init(&l, &a, LINES_ANY, 0);
    CHECK(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK(lines_next(&l, &in, &line) == WIRE_MORE);
    CHECK(lines_keep(&l, &in) == WIRE_MORE);
    in = SLICE("\ne");           /* as long as the kept piece */
    if (lines_next(&l, &in, &line) == WIRE_FRAME)
        CHECK_SLICE(line, SLICE("cd"));
    arena_release(&a);
}

static void a_blank_line_has_a_short_way(void)
{
    struct arena a;
    struct lines l;
    struct slice in = SLICE("a\n\nb\n\rc\r\nd\n"), line;
    arena_init(&a, mem_default());
    lines_init(&l, &a, LINES_ANY, 0);
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(lines_blank(&l, &in) && !lines_blank(&l, &in));
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(slice_is(line, "b") && !lines_blank(&l, &in));
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME && !line.len);
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(slice_is(line, "c") && !lines_blank(&l, &in));
    CHECK_ALWAYS(lines_next(&l, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(slice_is(line, "d") && in.len == 0);
    CHECK_ALWAYS(!lines_blank(&l, &in));
    arena_release(&a);
}

TESTS = {
    TEST(a_blank_line_has_a_short_way),
    TEST(a_new_input_is_searched_anew),
    TEST(a_line_lies_in_the_input),
    TEST(a_cut_line_stays_until_the_next_cut),
    TEST(forgetting_keeps_the_place),
    TEST_ONCE(finds_ends_at_any_distance),
    TESTS_END
};
