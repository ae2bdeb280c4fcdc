/* test_output.c - output is kept up to a limit: its beginning and its end */
#include "proc/output.h"

#include "harness/check.h"

static void keeps_the_beginning_and_the_end(void)
{
    static const struct {
        const char *why, *in, *want;
    } rows[] = {
        { "nothing", "", "" },
        { "less than the head", "abc", "abc" },
        { "exactly the head", "abcd", "abcd" },
        { "a part of the tail", "abcdef", "abcdef" },
        { "exactly both", "abcdefg", "abcdefg" },
        { "one too many", "abcdefgh", "abcd\n[1 bytes left out]\nfgh" },
        { "many", "abcdefghijklm", "abcd\n[6 bytes left out]\nklm" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 1; step < 9; step++) {
            struct output o;
            struct slice in = slice_of(rows[i].in);
            check_row(rows[i].why);
            output_init(&o, mem_default(), 4, 3);
            while (in.len) {
                size_t n = in.len < step ? in.len : step;
                output_add(&o, (struct slice){ in.ptr, n });
                in = slice_skip(in, n);
            }
            CHECK_SLICE(output_text(&o), slice_of(rows[i].want));
            CHECK_ALWAYS(o.total == strlen(rows[i].in));
            output_release(&o);
        }
}

static void may_keep_the_end_only(void)
{
    struct output o;
    output_init(&o, mem_default(), 0, 4);
    output_add(&o, SLICE("the last"));
    CHECK_SLICE(output_text(&o), SLICE("\n[4 bytes left out]\nlast"));
    output_release(&o);
    output_init(&o, mem_default(), 0, 0);
    output_add(&o, SLICE("nothing is kept"));
    CHECK_SLICE(output_text(&o), SLICE("\n[15 bytes left out]\n"));
    output_release(&o);
}

TESTS = { TEST(keeps_the_beginning_and_the_end), TEST(may_keep_the_end_only),
          TESTS_END };
