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
        struct arena a;
        arena_init(&a, mem_default());
        check_row(rows[i].opts);
        allm_json *opts = play_json(rows[i].opts);
        if (!opts)
            return;
        allm_call call = { .size = sizeof call, .quirks = rows[i].row,
                           .adapter_opts = opts };
        const allm_error *error = quirks_check(names, &call, &a);
        CHECK_INT(quirks_read(names, &call), rows[i].want);
        CHECK_INT(error != NULL, rows[i].unknown != NULL);
        if (error && error->kind == ALLM_ERR_MISUSE && rows[i].unknown)
            CHECK(strstr(error->message, rows[i].unknown));
        arena_release(&a);
        allm_json_free(opts);
    }
}

static void says_what_would_be_known(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    allm_json *opts = play_json("{'quirks': ['longer']}");
    allm_call call = { .size = sizeof call, .adapter_opts = opts };
    const allm_error *e = quirks_check(names, &call, &a);
    if (opts && e && e->kind != ALLM_ERR_NOMEM) {
        CHECK_INT(e->kind, ALLM_ERR_MISUSE);
        CHECK_TEXT(e->message, "quirks: \"longer\" is unknown; quirks must be "
                               "a list of names such as \"short\"");
    }
    CHECK(!opts || e);
    arena_release(&a);
    allm_json_free(opts);
}

TESTS = {
    TEST(names_are_added_to_the_row),
    TEST(says_what_would_be_known),
    TESTS_END,
};
