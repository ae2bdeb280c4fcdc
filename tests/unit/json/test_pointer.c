/* test_pointer.c - "/a/0/b" refers to what RFC 6901 says */
#include "json/pointer.h"

#include "harness/check.h"

static void leads_to_a_value(void)
{
    /* the example of RFC 6901, section 5, and more */
    static const char document[] =
        "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
        "\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8,"
        "\"~1\":9,\"deep\":[[{\"x\":{\"\":10}}],{},[]],\"0\":11,"
        "\"nul\\u0000\":12}";
    static const struct {
        const char *pointer, *want;
    } rows[] = {
        { "/foo", "[\"bar\",\"baz\"]" },
        { "/foo/0", "\"bar\"" },
        { "/foo/1", "\"baz\"" },
        { "/", "0" },
        { "/a~1b", "1" },
        { "/c%d", "2" },
        { "/e^f", "3" },
        { "/g|h", "4" },
        { "/i\\j", "5" },
        { "/k\"l", "6" },
        { "/ ", "7" },
        { "/m~0n", "8" },
        { "/~01", "9" },
        { "/deep/0/0/x/", "10" },
        { "/deep/1", "{}" },
        { "/0", "11" },
        { "foo", NULL },
        { "/missing", NULL },
        { "/foo/2", NULL },
        { "/foo/-", NULL },
        { "/foo/-1", NULL },
        { "/foo/00", NULL },
        { "/foo/01", NULL },
        { "/foo/+1", NULL },
        { "/foo/1e0", NULL },
        { "/foo/", NULL },
        { "/foo/ 1", NULL },
        { "/foo/99999999999999999999999999", NULL },
        { "/foo/18446744073709551616", NULL },
        { "/foo/0/0", NULL },
        { "/a~b", NULL },
        { "/m~", NULL },
        { "/m~2n", NULL },
        { "/a/b", NULL },
        { "//", NULL },
        { "/fo", NULL },
        { "/fooo", NULL },
        { "/nul", NULL },
        { "#/foo", NULL },
    };
    allm_json *v = allm_json_parse(document, ALLM_NUL_ENDED, NULL);
    CHECK(allm_json_pointer(v, "") == v);
    CHECK(!allm_json_pointer(v, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].pointer);
        allm_text *t = allm_json_write(allm_json_pointer(v, rows[i].pointer),
                                       0);
        CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].want);
        allm_text_free(t);
    }
    CHECK_INT(allm_json_number(pointer_find(v, (struct slice){ "/nul\0", 5 })),
              12);
    allm_json_free(v);
}

static void steps_are_escaped(void)
{
    static const struct {
        const char *key, *want;
    } rows[] = {
        { "", "/" },          { "a", "/a" },       { "a/b", "/a~1b" },
        { "m~n", "/m~0n" },   { "~1", "/~01" },    { "~/~", "/~0~1~0" },
        { "plain key", "/plain key" },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out;
        buf_init(&out, &a, 100);
        pointer_add_key(&out, slice_of(rows[i].key));
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].want));
    }
    struct buf out;
    buf_init(&out, &a, 100);
    pointer_add_key(&out, SLICE("list"));
    pointer_add_index(&out, 0);
    pointer_add_index(&out, 1234567);
    CHECK_SLICE(buf_slice(&out), SLICE("/list/0/1234567"));
    arena_release(&a);
}

TESTS = {
    TEST(leads_to_a_value),
    TEST(steps_are_escaped),
    TESTS_END
};
