/* test_rope.c - a text in pieces is read as if it were in one */
#include "base/rope.h"

#include "harness/check.h"

struct made {
    struct arena arena;
    struct buf text;
    struct rope_loans loans;
};

static void made_init(struct made *m, size_t limit)
{
    *m = (struct made){ .loans = { .count = 0 } };
    arena_init(&m->arena, mem_default());
    buf_init(&m->text, &m->arena, limit);
}

/* "ab" and "XYZ" and "c" and "Q" and "W", without the loans "abc". */
static void made_fill(struct made *m)
{
    buf_text(&m->text, "ab");
    rope_borrow(&m->loans, &m->text, SLICE("XYZ"));
    buf_text(&m->text, "c");
    rope_borrow(&m->loans, &m->text, SLICE("Q"));
    rope_borrow(&m->loans, &m->text, SLICE(""));
    rope_borrow(&m->loans, &m->text, SLICE("W"));
}

static void reads_in_order_at_every_cut(void)
{
    struct made m;
    made_init(&m, 100);
    made_fill(&m);
    for (size_t n = 1; check_whole() && n <= 9; n++) {
        char all[16] = "";
        size_t len = 0, got;
        struct rope_reader r = { .rope = rope_of(&m.loans, &m.text) };
        CHECK_INT(rope_left(&r), 8);
        while ((got = rope_read(&r, all + len, n)))
            len += got;
        CHECK_TEXT(all, "abXYZcQW");
        CHECK_INT(rope_left(&r), 0);
    }
    arena_release(&m.arena);
}

static void seeks_everywhere(void)
{
    static const char all[] = "abXYZcQW";
    struct made m;
    made_init(&m, 100);
    made_fill(&m);
    struct rope_reader r = { .rope = rope_of(&m.loans, &m.text) };
    for (size_t at = 8; check_whole() && at <= 8; at--) {
        char rest[16] = "";
        CHECK(rope_seek(&r, at));
        CHECK_INT(rope_left(&r), 8 - at);
        CHECK_INT(rope_read(&r, rest, sizeof rest), 8 - at);
        CHECK_TEXT(rest, all + at);
    }
    if (check_whole())
        CHECK(!rope_seek(&r, 9) && rope_left(&r) == 0);
    arena_release(&m.arena);
}

static void a_slice_is_a_rope(void)
{
    char all[8] = "";
    struct rope_reader r = { .rope = rope_of_slice(SLICE("abc")) };
    CHECK_INT(rope_read(&r, all, sizeof all), 3);
    CHECK_TEXT(all, "abc");
    r = (struct rope_reader){ .rope =
                                  rope_of_slice((struct slice){ NULL, 0 }) };
    CHECK_INT(rope_read(&r, all, sizeof all), 0);
    CHECK(rope_seek(&r, 0));
}

static void many_loans_keep_their_order(void)
{
    enum { MANY = 1000 };
    struct made m;
    made_init(&m, 100000);
    for (int i = 0; i < MANY; i++) {
        rope_borrow(&m.loans, &m.text, SLICE("0123456789"));
        buf_byte(&m.text, ',');
    }
    char all[11 * MANY];
    struct rope_reader r = { .rope = rope_of(&m.loans, &m.text) };
    if (check_whole()) {
        CHECK_INT(rope_read(&r, all, sizeof all), sizeof all);
        for (int i = 0; i < MANY; i++)
            CHECK(!memcmp(all + (ptrdiff_t)11 * i, "0123456789,", 11));
    }
    arena_release(&m.arena);
}

static void borrowed_bytes_count_for_the_limit(void)
{
    for (size_t limit = 6; limit <= 7; limit++) {
        struct made m;
        made_init(&m, limit);
        buf_text(&m.text, "abc");
        rope_borrow(&m.loans, &m.text, SLICE("XYZ"));
        if (check_whole())
            CHECK(!m.text.broken);
        buf_byte(&m.text, 'd');
        if (check_whole())
            CHECK(m.text.over == (limit == 6));
        rope_borrow(&m.loans, &m.text, SLICE("!"));
        CHECK(m.text.broken);
        arena_release(&m.arena);
    }
}

TESTS = {
    TEST(reads_in_order_at_every_cut),
    TEST(seeks_everywhere),
    TEST(a_slice_is_a_rope),
    TEST(many_loans_keep_their_order),
    TEST(borrowed_bytes_count_for_the_limit),
    TESTS_END,
};
