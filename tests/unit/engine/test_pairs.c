/* test_pairs.c - options as an object, or as a list of pairs */
#include "engine/pairs.h"

#include "harness/noun.h"

static void lists_become_objects(void)
{
    static const char *const rows[][2] = {
        { "{}", "{}" },
        { "{'a':1}", "{'a':1}" },
        { "[]", "{}" },
        { "[['a',1]]", "{'a':1}" },
        { "[['a',1],['b',null]]", "{'a':1,'b':null}" },
        { "[['a',1],['b',2],['a',3]]", "{'a':1,'b':2}" },   /* the first */
        { "[['a',['b',2]]]", "{'a':['b',2]}" },
        { "[['',1]]", "{'':1}" },
        { "[['a\\u0000b',1],['a',2]]", "{'a\\u0000b':1,'a':2}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i][0]);
        allm_json *v = noun_json(rows[i][0]);
        arena_init(&a, mem_default());
        const allm_json *object = pairs_object(&a, v);
        CHECK_VALUE(object, rows[i][1]);
        arena_release(&a);
        allm_json_free(v);
    }
}

static void what_is_neither_is_refused(void)
{
    static const char *const rows[] = {
        "null",      "3",           "'x'",         "true",
        "['a', 1]",  "[['a']]",     "[['a',1,2]]", "[[1,'a']]",
        "[[]]",      "[null]",      "[{}]",        "[{'a':'k','b':1}]",
        "[['a',1],3]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i]);
        allm_json *v = noun_json(rows[i]);
        arena_init(&a, mem_default());
        CHECK_ALWAYS(!pairs_object(&a, v));
        CHECK(!a.broken);       /* so it was not for want of memory */
        arena_release(&a);
        allm_json_free(v);
    }
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_ALWAYS(!pairs_object(&a, NULL));
    arena_release(&a);
}

TESTS = {
    TEST(lists_become_objects),
    TEST(what_is_neither_is_refused),
    TESTS_END,
};
