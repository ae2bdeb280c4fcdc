/* test_quirks.c - differences between servers of the same dialect */
#include "provider/quirks.h"

#include "harness/check.h"
#include "harness/play.h"

static const struct quirks_name names[] = {
    { "short", 1 << 0 },
    { "long", 1 << 1 },
    { "both", 1 << 0 | 1 << 1 },
    { NULL, 0 },
};

static void names_are_added_to_the_row(void)
{
    static const struct {
        const char *opts;
        uint64_t row, want;
        const char *unknown;
    } rows[] = {
        { "null", 4, 4, NULL },
        { "{}", 4, 4, NULL },
        { "{'quirks': []}", 4, 4, NULL },
        { "{'quirks': ['long']}", 4, 6, NULL },
        { "{'quirks': ['short', 'long']}", 0, 3, NULL },
        { "{'quirks': ['both']}", 0, 3, NULL },
        { "{'quirks': ['long', 'longer']}", 0, 2, "longer" },
        { "{'quirks': ['longer', 'long']}", 0, 2, "longer" },
        { "{'quirks': ['']}", 0, 0, "" },
        { "{'quirks': [3]}", 1, 1, "(not a string)" },
        { "{'quirks': 'long'}", 1, 1, "(not a list)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *unknown = "?";
        uint64_t got = 77;
        check_row(rows[i].opts);
        allm_json *opts = play_json(rows[i].opts);
        if (!opts)
            return;
        allm_call call = { .size = sizeof call, .quirks = rows[i].row,
                           .adapter_opts = opts };
        CHECK_INT(quirks_read(names, &call, &got, &unknown), !rows[i].unknown);
        CHECK_INT(got, rows[i].want);
        CHECK_TEXT(unknown, rows[i].unknown);
        allm_json_free(opts);
    }
}

static void says_what_would_be_known(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_error *e = quirks_refuse(&a, "longer", "long");
    CHECK_INT(e->kind, ALLM_ERR_MISUSE);
    CHECK_TEXT(e->message, "quirks: \"longer\" is unknown; quirks must be a "
                           "list of names such as \"long\"");
    arena_release(&a);
}

TESTS = {
    TEST(names_are_added_to_the_row),
    TEST(says_what_would_be_known),
    TESTS_END,
};
