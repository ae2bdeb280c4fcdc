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
    CHECK_SLICE(output_text(&o), SLICE("last"));
    output_release(&o);
    output_init(&o, mem_default(), 0, 0);
    output_add(&o, SLICE("nothing is kept"));
    CHECK_SLICE(output_text(&o), SLICE(""));
    output_release(&o);
}

static void cuts_between_characters(void)
{
    /* The head ends in the first byte of one, the tail begins with the last two
     * bytes of another. */
    static const struct slice in = SLICE_INIT("abc\xc3\xa4xyz\xe2\x82\xac"
                                              "d");
    struct output o;
    output_init(&o, mem_default(), 4, 3);
    output_add(&o, in);
    CHECK_SLICE(output_text(&o), SLICE("abc\n[8 bytes left out]\nd"));
    output_release(&o);
}

static void hashes_everything(void)
{
    static const char *const texts[] = { "", "abc", "abcd", "abcdefghijkl" };
    for (size_t i = 0; i < 4; i++) {
        struct output o;
        char got[SHA256_HEX + 1] = "", want[SHA256_HEX + 1];
        struct slice in = slice_of(texts[i]);
        output_init(&o, mem_default(), 4, 3);
        for (; in.len; in = slice_skip(in, 1))
            output_add(&o, (struct slice){ in.ptr, 1 });
        if (!o.broken)
            output_sum(&o, got);
        sha256_hex(slice_of(texts[i]), want);
        CHECK_TEXT(got, want);
        output_release(&o);
    }
}

TESTS = { TEST(keeps_the_beginning_and_the_end), TEST(may_keep_the_end_only),
          TEST(cuts_between_characters), TEST(hashes_everything),
          TESTS_END };
