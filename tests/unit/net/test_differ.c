/* test_differ.c - the differences between two JSON values */
#include "net/differ.h"

#include "harness/check.h"
#include "harness/play.h"

static void tells_count_and_first_place(void)
{
    static const struct {
        const char *want, *got;
        size_t count;
        const char *path;
    } rows[] = {
        { "{}", "{}", 0, "" },
        { "{}", "{'a': 1}", 0, "" },
        { "{'a': 1}", "{}", 1, "/a" },
        { "{'a': {'b': 1}}", "{'a': {'b': 1, 'c': 2}}", 1, "/a/c" },
        { "{'a': {'b': 1, 'c': 2}}", "{'a': {'c': 2, 'b': 1}}", 0, "" },
        { "{'a': [1, 2, 3]}", "{'a': [1, 4]}", 2, "/a/1" },
        { "{'a': [1]}", "{'a': [1, 2]}", 1, "/a/1" },
        { "{'a': [[], {}]}", "{'a': [{}, []]}", 2, "/a/0" },
        { "{'a/b': 'x', 'c': 1}", "{'a/b': 'y', 'c': 1}", 1, "/a~1b" },
        { "{'a': null}", "{}", 1, "/a" },
        { "{'b': [{'c': 1}], 'z': 1}", "{'b': [{'c': 1}], 'z': 2}", 1, "/z" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct differ d;
        allm_json *want = play_json(rows[i].want);
        allm_json *got = play_json(rows[i].got);
        check_row(rows[i].want);
        arena_init(&a, mem_default());
        if (differ_find(&d, &a, want, got)) {
            CHECK_INT(d.count, rows[i].count);
            CHECK_SLICE(buf_slice(&d.path), slice_of(rows[i].path));
        }
        arena_release(&a);
        allm_json_free(want);
        allm_json_free(got);
    }
}

TESTS = { TEST(tells_count_and_first_place), TESTS_END };
