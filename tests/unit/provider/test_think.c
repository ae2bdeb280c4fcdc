/* test_think.c - tags and text are told apart, wherever they are split */
#include "provider/think.h"

#include "base/buf.h"
#include "harness/check.h"

/* "text" plain, "(thought)" in brackets; pieces joined. */
static void tell(struct buf *out, bool *was, const struct think_piece *p)
{
    if (p->text.len && p->thought != *was)
        buf_byte(out, p->thought ? '(' : ')');
    if (p->text.len)
        *was = p->thought;
    buf_add(out, p->text);
}

static void split(struct buf *out, const char *text, bool inside, size_t cut)
{
    struct think t = { .inside = inside };
    struct think_piece p;
    struct slice all = slice_of(text);
    bool was = false;
    struct slice part[2] = { { all.ptr, cut }, slice_skip(all, cut) };
    for (size_t i = 0; i < 2; i++)
        while (think_next(&t, &part[i], &p))
            tell(out, &was, &p);
    if (think_end(&t, &p))
        tell(out, &was, &p);
}

static void tells_them_apart_at_every_cut(void)
{
    static const struct {
        const char *why, *text;
        bool inside;
        const char *want;
    } rows[] = {
        { "none", "abc", false, "abc" },
        { "empty", "", false, "" },
        { "a thought", "<think>a</think>b", false, "(a)b" },
        { "two", "<think>a</think>b<think>c</think>d", false, "(a)b(c)d" },
        { "no end", "<think>a", false, "(a" },
        { "not a tag", "a <b> <thin> << <think", false,
          "a <b> <thin> << <think" },
        { "begun twice", "<<think>x</</think>y", false,
          "<(x</)y" },
        { "only the end", "a</think>b", true, "(a)b" },
        { "an end without a beginning is text", "a</think>b", false,
          "a</think>b" },
        { "a beginning inside is text", "<think>a<think>b</think>c", false,
          "(a<think>b)c" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t cut = 0; cut <= strlen(rows[i].text); cut++) {
            struct arena a;
            struct buf out;
            arena_init(&a, mem_default());
            buf_init(&out, &a, 1000);
            check_row(rows[i].why);
            split(&out, rows[i].text, rows[i].inside, cut);
            CHECK_SLICE(buf_slice(&out), slice_of(rows[i].want));
            arena_release(&a);
        }
    }
}

TESTS = { TEST(tells_them_apart_at_every_cut), TESTS_END };
