/* test_head.c - the head of a response, line by line */
#include "net/head.h"

#include "harness/check.h"

/* The lines end with NULL.  False: they were refused. */
static bool add_all(struct head *h, struct arena *a, const char *const *lines)
{
    *h = (struct head){ .view.size = sizeof h->view };
    for (; *lines; lines++)
        if (!head_add(h, a, slice_of(*lines)))
            return false;
    return true;
}

static void reads_heads(void)
{
    static const struct {
        const char *why, *lines[6];
        int status, count;
        bool http1, done;
    } rows[] = {
        { "no line", { NULL }, 0, 0, false, false },
        { "a final one",
          { "HTTP/1.1 200 OK\r\n", "A: 1\r\n", "B:2\r\n", "\r\n" },
          200, 2, true, true },
        { "without its end",
          { "HTTP/1.1 200 OK\r\n", "A: 1\r\n" }, 200, 1, true, false },
        { "a later version", { "HTTP/2 404\r\n", "\r\n" }, 404, 0, false,
          true },
        { "a provisional one",
          { "HTTP/1.1 100 Continue\r\n", "A: 1\r\n", "\r\n" },
          100, 1, true, false },
        { "the final one behind it",
          { "HTTP/1.1 103 Early Hints\r\n", "A: 1\r\n", "\r\n",
            "HTTP/1.1 200 OK\r\n", "\r\n" }, 200, 0, true, true },
        { "a trailer",
          { "HTTP/1.1 200 OK\r\n", "\r\n", "A: 1\r\n" }, 200, 0, true, true },
        { "lines that are no header",
          { "HTTP/1.1 200 OK\r\n", ": 1\r\n", " folded: 2\r\n", "none\r\n",
            "\r\n" }, 200, 0, true, true },
        { "no status", { "HTTP/1.1 x\r\n", "\r\n" }, 0, 0, true, false },
        { "letters for it", { "HTTP/1.1 2x0 OK\r\n" }, 0, 0, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct head h;
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        CHECK(add_all(&h, &a, rows[i].lines));
        CHECK_INT(h.view.status, rows[i].status);
        CHECK_INT(h.view.header_count, rows[i].count);
        CHECK(h.http1 == rows[i].http1);
        CHECK(h.done == rows[i].done);
        arena_release(&a);
    }
}

static void keeps_names_and_values(void)
{
    enum { MANY = 40 };
    static const char *const first[] = { "HTTP/1.1 200 OK\r\n", NULL };
    struct head h;
    struct arena a;
    arena_init(&a, mem_default());
    CHECK(add_all(&h, &a, first));
    for (int i = 0; i < MANY; i++)
        CHECK(head_add(&h, &a, SLICE("Name :  a value \r\n")));
    CHECK_INT(h.view.header_count, MANY);
    for (size_t i = 0; i < h.view.header_count; i++) {
        CHECK_TEXT(h.view.header[2 * i], "Name");
        CHECK_TEXT(h.view.header[2 * i + 1], "a value");
    }
    arena_release(&a);
}

static void has_a_limit(void)
{
    static char line[HEAD_LIMIT];
    struct head h = { .view.size = sizeof h.view };
    struct arena a;
    arena_init(&a, mem_default());
    memset(line, 'x', sizeof line);
    CHECK(head_add(&h, &a, (struct slice){ line, sizeof line }));
    CHECK(!h.over);
    CHECK(!head_add(&h, &a, SLICE("\n")));
    CHECK(h.over);
    arena_release(&a);
}

TESTS = { TEST(reads_heads), TEST(keeps_names_and_values), TEST(has_a_limit),
          TESTS_END };
