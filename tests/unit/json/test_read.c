/* test_read.c - the number of values in a document */
#include "json/read.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/parse.h"

static void counts_values_and_keys(void)
{
    enum { MOST = 30 };
    static const struct {
        const char *why, *before, *piece;
        int n;
        const char *after, *detail;
    } rows[] = {
        { "a list as long as can be", "[0", ",0", 28, "]", NULL },
        { "one more", "[0", ",0", 29, "]", "values" },
        { "lists in lists", "[[]", ",[]", 28, "]", NULL },
        { "one more", "[[]", ",[]", 29, "]", "values" },
        { "keys count", "{\"\":0", ",\"a\":0", 13, "}", NULL },
        { "...all of them", "[{\"a\":0", ",\"a\":0", 14, "}]", "values" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf text;
        struct reading r;
        struct fault fault;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&text, &a, 4096);
        buf_text(&text, rows[i].before);
        for (int k = 0; k < rows[i].n; k++)
            buf_text(&text, rows[i].piece);
        buf_text(&text, rows[i].after);
        read_init(&r, &a, buf_slice(&text), &fault);
        r.max_depth = 8;
        r.max_values = MOST;
        r.duplicates = true;
        r.loose = r.partial = false;
        CHECK(read_document(&r) == !rows[i].detail);
        if (fault.word)
            CHECK_TEXT(fault.detail, rows[i].detail);
        arena_release(&a);
    }
}

/* The same piece of at most 8 bytes, again and again. */
static void add_pieces(struct buf *text, const char *piece, size_t count)
{
    enum { MANY = 1000 };
    char many[8 * MANY];
    size_t len = strlen(piece);
    for (size_t i = 0; i < MANY; i++)
        memcpy(many + i * len, piece, len);
    for (; count >= MANY; count -= MANY)
        buf_add(text, (struct slice){ many, len * MANY });
    buf_add(text, (struct slice){ many, len * count });
}

/* Counted exactly, without reading the text. */
static void too_much_is_reported_beforehand(void)
{
    static const struct {
        const char *why, *before, *piece, *after;
        size_t around, each;        /* values */
    } rows[] = {
        { "numbers", "[0", ",0", "]", 2, 1 },
        { "lists", "[[]", ",[]", "]", 2, 1 },
        { "members", "[{\"\":0}", ",{\"\":0}", "]", 4, 3 },
        { "brackets in texts", "[\"[{:,\\\"\"", ",\"[{:,\"", "]", 2, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        for (int more = 0; more < 2; more++) {
            struct arena a;
            struct buf text;
            arena_init(&a, mem_default());
            buf_init(&text, &a, SIZE_MAX / 2);
            buf_text(&text, rows[i].before);
            size_t n = (READ_MOST_VALUES - rows[i].around) / rows[i].each;
            add_pieces(&text, rows[i].piece, n + (size_t)more);
            buf_text(&text, rows[i].after);
            CHECK(!json_too_much(buf_slice(&text)) == !more);
            arena_release(&a);
        }
    }
    CHECK(!json_too_much(SLICE("[]")) && !json_too_much(SLICE("")));
}

TESTS = {
    TEST_ONCE(too_much_is_reported_beforehand),
    TEST(counts_values_and_keys),
    TESTS_END
};
