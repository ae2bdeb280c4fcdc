/* test_skeleton.c - a skeleton reads documents as the plain reader does */
#include "json/skeleton.h"

#include "base/buf.h"
#include "harness/check.h"
#include "unit/json/random_value.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdio.h>

/* Written, it is the same: values, order and spelling. */
static bool is_same(struct arena *a, const allm_json *v, const allm_json *w)
{
    struct buf x, y;
    buf_init(&x, a, SIZE_MAX / 2);
    buf_init(&y, a, SIZE_MAX / 2);
    return json_write(&x, v, 0) && json_write(&y, w, 0) &&
           slice_eq(buf_slice(&x), buf_slice(&y)) && allm_json_equal(v, w);
}

static void check_view(struct skeleton *m, const allm_json *v)
{
    struct json_view plain, view;
    json_view_init(&plain, v);
    skeleton_view(m, v, &view);
    CHECK(view.object == v && !memcmp(view.at, plain.at, sizeof view.at));
}

/* The views of a document and of its members are the plain ones, and so are
 * those of a value that is not in the document. */
static void check_views(struct skeleton *m, const allm_json *v,
                        const allm_json *stranger)
{
    bool object = json_is_type(v, ALLM_JSON_OBJECT);
    check_view(m, v);
    for (const allm_json *k = NULL; (k = allm_json_next(v, k));)
        check_view(m, object ? allm_json_value(k) : k);
    check_view(m, stranger);
    check_view(m, NULL);
}

/* Read by a skeleton and in the plain way: the same.  True: it fitted. */
static bool agrees(struct skeleton *m, struct slice text)
{
    struct arena a;
    const allm_error *error = NULL, *plain = NULL;
    arena_init(&a, mem_default());
    const allm_json *v = skeleton_parse(m, &a, text, &error);
    bool fitted = v && m->misses == 0 && m->patience == 1;
    const allm_json *w = json_parse_loose(&a, text, &plain);
    CHECK(!v == !w);
    CHECK(!v || !w || is_same(&a, v, w));
    check_views(m, v, w);
    CHECK(v || !w || (error && plain && error->kind == plain->kind));
    arena_release(&a);
    return fitted;
}

/* A skeleton is made of the second document in a row. */
static void make_eager(struct skeleton *m)
{
    skeleton_init(m);
    m->patience = 1;
}

static void learns(struct skeleton *m, struct slice text)
{
    make_eager(m);
    agrees(m, text);
    agrees(m, text);
    CHECK(m->form);
}

static void sees_what_differs(void)
{
    static const struct {
        const char *why, *first, *other;
        bool fits;
    } rows[] = {
        { "the same", "{\"a\":\"x\"}", "{\"a\":\"x\"}", true },
        { "a text", "{\"a\":\"x\"}", "{\"a\":\"yes\"}", true },
        { "an empty text", "{\"a\":\"x\"}", "{\"a\":\"\"}", true },
        { "...and back", "{\"a\":\"\"}", "{\"a\":\"x\"}", true },
        { "a longer text", "{\"a\":\"x\"}", "{\"a\":\"x and more\"}", true },
        { "a text with escapes", "{\"a\":\"x\"}",
          "{\"a\":\"\\\"\\\\\\n\\u00e9\\\"\"}", true },
        { "...and back", "{\"a\":\"\\\"\\\\\\n\\\"\",\"b\":\"\\n\"}",
          "{\"a\":\"x\",\"b\":\"\\n\"}", true },
        { "two texts", "{\"a\":\"x\",\"b\":[\"y\"]}",
          "{\"a\":\"v\",\"b\":[\"w\"]}", true },
        { "a number", "{\"a\":1,\"b\":2}", "{\"a\":12,\"b\":-2.5e3}", true },
        { "a number at the end", "[1,2]", "[1,23]", true },
        { "a number that was longer", "[123,2]", "[1,2]", true },
        { "a lone number", "1", "12", true },
        { "a lone text", "\"a\"", "\"b\"", true },
        { "a number of many digits", "[1]", "[123456789012345678901234567890]",
          true },
        { "...and back", "[123456789012345678901234567890,\"x\"]",
          "[123456789012345678901234567890,\"y\"]", true },
        { "a text where its quote is first", "[\"x\",1]", "[\"\\\"\",1]",
          true },
        { "white space", "{ \"a\" : \"x\" }\n", "{ \"a\" : \"y\" }\n", true },
        { "other white space", "{\"a\":\"x\"}", "{\"a\": \"x\"}", false },
        { "white space behind", "[1]", "[1] ", false },
        { "a key", "{\"a\":\"x\"}", "{\"b\":\"x\"}", false },
        { "a longer key", "{\"a\":\"x\"}", "{\"ab\":\"x\"}", false },
        { "a key with space behind", "{\"a\" : 1}", "{\"b\" : 1}", false },
        { "a literal", "[true]", "[null]", false },
        { "a text for null", "{\"a\":null}", "{\"a\":\"x\"}", false },
        { "null for a text", "{\"a\":\"x\"}", "{\"a\":null}", false },
        { "a number for a text", "[\"1\"]", "[1]", false },
        { "a text for a number", "[1]", "[\"1\"]", false },
        { "one member more", "[1]", "[1,2]", false },
        { "one member less", "[1,2]", "[1]", false },
        { "no member", "[]", "[1]", false },
        { "a bracket", "[]", "{}", false },
        { "a bracket deep within", "{\"a\":[]}", "{\"a\":{}}", false },
        { "nothing", "[1]", "", false },
        { "half of it", "{\"a\":\"x\"}", "{\"a\":\"x", false },
        { "more behind it", "[1]", "[1]]", false },
        { "a wrong number", "[1,2]", "[1,02]", false },
        { "a wrong escape", "[\"a\"]", "[\"\\x\"]", false },
        { "a quote too many", "[\"a\"]", "[\"a\"\"]", false },
        { "a quote too few", "[\"a\"]", "[\"a]", false },
        { "a backslash at the end", "[\"a\"]", "[\"a\\", false },
        { "equal keys, of which one is kept", "{\"a\":\"x\",\"a\":\"y\"}",
          "{\"a\":\"x\",\"a\":\"z\"}", false },
        { "...and it is the other", "{\"a\":\"x\",\"a\":\"y\"}",
          "{\"a\":\"z\",\"a\":\"y\"}", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct skeleton m;
        check_row(rows[i].why);
        learns(&m, slice_of(rows[i].first));
        CHECK(agrees(&m, slice_of(rows[i].other)) == rows[i].fits);
        agrees(&m, slice_of(rows[i].first));
        skeleton_forget(&m);
    }
}

static void reads_what_is_no_json_with_its_reason(void)
{
    struct skeleton m;
    make_eager(&m);
    for (int i = 0; i < 5; i++)
        CHECK(!agrees(&m, SLICE("{\"a\":")));
    skeleton_forget(&m);
}

/* More than there is room for differ: the plain way. */
static void has_so_many_holes(void)
{
    struct skeleton m;
    learns(&m, SLICE("[0,0,0,0,0,0,0,0,0]"));
    CHECK(agrees(&m, SLICE("[1,2,3,4,5,6,7,8,0]")));
    CHECK(agrees(&m, SLICE("[8,7,6,5,4,3,2,1,0]")));
    CHECK(!agrees(&m, SLICE("[1,2,3,4,5,6,7,8,9]")));
    CHECK(agrees(&m, SLICE("[9,9,9,9,9,9,9,9,0]")));
    skeleton_forget(&m);
}

/* A stranger between those that fit does not make them strangers. */
static void keeps_the_skeleton_for_one_stranger(void)
{
    struct skeleton m;
    learns(&m, SLICE("{\"a\":\"x\"}"));
    CHECK(!agrees(&m, SLICE("{\"type\":\"ping\"}")));
    CHECK(agrees(&m, SLICE("{\"a\":\"y\"}")));
    CHECK(!agrees(&m, SLICE("{\"b\":1}")));
    CHECK(!agrees(&m, SLICE("{\"b\":2}")));     /* of which one is made */
    CHECK(agrees(&m, SLICE("{\"b\":3}")));
    CHECK(!agrees(&m, SLICE("{\"a\":\"y\"}")));
    skeleton_forget(&m);
}

/* Where no document is like another, ever fewer skeletons are made. */
static void loses_patience_slowly(void)
{
    struct skeleton m;
    int made = 0;
    make_eager(&m);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        size_t len = (size_t)snprintf(text, sizeof text, "{\"k%d\":1}", i);
        CHECK(!agrees(&m, (struct slice){ text, len }));
        made += m.misses == 0;
    }
    CHECK(made > 0 && made < 25);
    skeleton_forget(&m);
}

/* Two documents are not worth a skeleton. */
static void waits_for_the_third(void)
{
    struct skeleton m;
    skeleton_init(&m);
    for (int i = 0; i < 2; i++) {
        CHECK(!agrees(&m, SLICE("{\"a\":\"x\"}")));
        CHECK(!m.form);
    }
    CHECK(!agrees(&m, SLICE("{\"a\":\"x\"}")));
    CHECK(agrees(&m, SLICE("{\"a\":\"y\"}")));
    skeleton_forget(&m);
}

static void owns_nothing_when_it_forgets(void)
{
    struct skeleton m;
    size_t before = check_live_blocks();
    learns(&m, SLICE("{\"a\":\"x\"}"));
    CHECK(check_live_blocks() > before);
    skeleton_forget(&m);
    CHECK_ALWAYS(check_live_blocks() == before);
    CHECK(!agrees(&m, SLICE("{\"a\":\"x\"}")));
    skeleton_forget(&m);
}

/* A long document is not worth a skeleton. */
static void leaves_long_documents_alone(void)
{
    struct arena a;
    struct buf text;
    struct skeleton m;
    make_eager(&m);
    arena_init(&a, mem_default());
    buf_init(&text, &a, 8192);
    buf_byte(&text, '"');
    for (int i = 0; i < 4096; i++)
        buf_byte(&text, 'x');
    buf_byte(&text, '"');
    for (int i = 0; i < 4; i++)
        CHECK(!agrees(&m, buf_slice(&text)));
    CHECK(!m.form);
    arena_release(&a);
    skeleton_forget(&m);
}

/* ------------------------------------------------------------- watching --- */

/* Read a document, and watch "t"; "n" and "i" do not matter. */
static bool watches(struct skeleton *m, struct arena *a, const char *text)
{
    const allm_error *error;
    const allm_json *v = skeleton_parse(m, a, slice_of(text), &error);
    const allm_json *const others[] = { json_at(v, "n"), json_at(v, "i") };
    return skeleton_watch(m, json_at(v, "t"), others, 2);
}

static void finds_the_watched_text(void)
{
    static const struct {
        const char *why, *text, *found;
    } rows[] = {
        { "the same", "{\"i\":\"a\",\"n\":2,\"t\":\"y\",\"z\":1}", "y" },
        { "another text", "{\"i\":\"a\",\"n\":2,\"t\":\"\",\"z\":1}", "" },
        { "an escape", "{\"i\":\"a\",\"n\":2,\"t\":\"\\u00e9\",\"z\":1}",
          "\xc3\xa9" },
        { "others differ", "{\"i\":\"bcd\",\"n\":345,\"t\":\"z\",\"z\":1}",
          "z" },
        { "a longer number", "{\"i\":\"a\",\"n\":0,\"t\":\"z\",\"z\":1}",
          "z" },
        { "another value differs",
          "{\"i\":\"a\",\"n\":2,\"t\":\"y\",\"z\":2}", NULL },
        { "an escape elsewhere",
          "{\"i\":\"\\n\",\"n\":2,\"t\":\"y\",\"z\":1}", NULL },
        { "no number", "{\"i\":\"a\",\"n\":02,\"t\":\"y\",\"z\":1}", NULL },
        { "a fraction", "{\"i\":\"a\",\"n\":2.5,\"t\":\"y\",\"z\":1}",
          NULL },
        { "another type", "{\"i\":\"a\",\"n\":2,\"t\":null,\"z\":1}", NULL },
        { "a wrong escape", "{\"i\":\"a\",\"n\":2,\"t\":\"\\x\",\"z\":1}",
          NULL },
        { "half of it", "{\"i\":\"a\",\"n\":2,\"t\":\"y\",", NULL },
        { "more behind it",
          "{\"i\":\"a\",\"n\":2,\"t\":\"y\",\"z\":1}}", NULL },
        { "nothing", "", NULL },
    };
    static const char *const before[] = {
        "{\"i\":\"\",\"n\":1,\"t\":\"x\",\"z\":1}",
        "{\"i\":\"\",\"n\":1,\"t\":\"x\",\"z\":1}",
        "{\"i\":\"a\",\"n\":2,\"t\":\"y\",\"z\":1}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct skeleton m;
        struct slice found = { NULL, 0 };
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        make_eager(&m);
        CHECK(!watches(&m, &a, before[0]));
        CHECK(!watches(&m, &a, before[1]));     /* it is made of this one */
        CHECK(watches(&m, &a, before[2]));
        CHECK(skeleton_watched(&m, &a, slice_of(rows[i].text), &found) ==
              (rows[i].found != NULL));
        CHECK(!rows[i].found || slice_is(found, rows[i].found));
        skeleton_forget(&m);
        arena_release(&a);
    }
}

/* A text that has been the same so far is found, too. */
static void finds_a_text_that_did_not_differ(void)
{
    static const char text[] = "{\"t\":\"x\",\"z\":1}";
    struct arena a;
    struct skeleton m;
    struct slice found = { NULL, 0 };
    arena_init(&a, mem_default());
    make_eager(&m);
    CHECK(!watches(&m, &a, text));
    CHECK(!watches(&m, &a, text));
    CHECK(watches(&m, &a, text));
    CHECK(skeleton_watched(&m, &a, slice_of(text), &found));
    CHECK(slice_is(found, "x"));
    skeleton_forget(&m);
    arena_release(&a);
}

/* Another document, a hole elsewhere or a value of another type: no watch. */
static void watches_only_what_it_may(void)
{
    struct arena a;
    struct skeleton m;
    struct slice found;
    arena_init(&a, mem_default());
    make_eager(&m);
    watches(&m, &a, "{\"t\":\"x\",\"z\":1}");
    watches(&m, &a, "{\"t\":\"x\",\"z\":1}");
    CHECK(watches(&m, &a, "{\"t\":\"y\",\"z\":1}"));
    CHECK(!watches(&m, &a, "{\"t\":\"y\",\"z\":2}"));
    CHECK(!skeleton_watched(&m, &a, SLICE("{\"t\":\"y\",\"z\":2}"), &found));
    CHECK(!watches(&m, &a, "[]"));
    CHECK(!skeleton_watch(&m, json_empty_object(), NULL, 0));
    skeleton_forget(&m);
    CHECK_ALWAYS(!skeleton_watched(&m, &a, SLICE("{}"), &found));
    watches(&m, &a, "{\"t\":1}");
    watches(&m, &a, "{\"t\":1}");
    CHECK(!watches(&m, &a, "{\"t\":2}"));
    skeleton_forget(&m);
    arena_release(&a);
}

/* ------------------------------------------------------------- property --- */

/* Change, insert or remove some bytes: most results are not JSON. */
static struct slice spoil(struct arena *a, struct random r, struct slice text)
{
    static const char bytes[] = "\"\\,:[]{}0123456789-+.eEtrufalsn xyz\n\x80";
    struct buf out;
    buf_init(&out, a, SIZE_MAX / 2);
    size_t often = 1 + text.len / (1 + random_below(r, 3));
    for (size_t i = 0; i < text.len; i++) {
        uint64_t what = random_below(r, often) ? 3 : random_below(r, 3);
        if (what == 0 || what == 1)
            buf_byte(&out, bytes[random_below(r, sizeof bytes - 1)]);
        if (what == 1 || what == 3)
            buf_byte(&out, text.ptr[i]);
    }
    return buf_slice(&out);
}

static void is_the_plain_way_but_quicker(void)
{
    enum { ROUNDS = 2000, OTHERS = 10 };
    struct random r = check_random();
    for (int i = 0; i < ROUNDS; i++) {
        struct arena a;
        struct buf text;
        struct skeleton m;
        arena_init(&a, mem_default());
        buf_init(&text, &a, SIZE_MAX / 2);
        json_write(&text, random_value(&a, r, 1 + random_below(r, 30)), 0);
        make_eager(&m);
        agrees(&m, buf_slice(&text));
        for (int k = 0; k < OTHERS; k++) {
            agrees(&m, buf_slice(&text));
            agrees(&m, spoil(&a, r, buf_slice(&text)));
        }
        skeleton_forget(&m);
        arena_release(&a);
    }
}

TESTS = {
    TEST(sees_what_differs),
    TEST(reads_what_is_no_json_with_its_reason),
    TEST(has_so_many_holes),
    TEST(keeps_the_skeleton_for_one_stranger),
    TEST_ONCE(loses_patience_slowly),
    TEST(waits_for_the_third),
    TEST(owns_nothing_when_it_forgets),
    TEST(leaves_long_documents_alone),
    TEST(finds_the_watched_text),
    TEST(finds_a_text_that_did_not_differ),
    TEST(watches_only_what_it_may),
    TEST_ONCE(is_the_plain_way_but_quicker),
    TESTS_END
};
