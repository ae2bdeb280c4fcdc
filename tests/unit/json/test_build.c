/* test_build.c - build values from the outermost container inwards */
#include "json/build.h"

#include "harness/check.h"
#include "unit/json/random_value.h"
#include "json/json.h"

/* The text of a root that is freed; NULL if it has none. */
static void check_text(allm_json *v, const char *want)
{
    allm_text *t = allm_json_write(v, 0);
    CHECK_TEXT(allm_text_bytes(t, NULL), want);
    allm_text_free(t);
    allm_json_free(v);
}

static void builds_what_the_reader_reads(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json *member = allm_json_parse("{\"x\":[1,\"y\"]}", ALLM_NUL_ENDED,
                                        NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "city");
    allm_json_build_text(b, "Ulm", 3);
    allm_json_build_key(b, "list");
    allm_json_build_array(b);
    allm_json_build_int(b, -1);
    allm_json_build_uint(b, UINT64_MAX);
    allm_json_build_number(b, 0.5);
    allm_json_build_bool(b, true);
    allm_json_build_bool(b, false);
    allm_json_build_null(b);
    allm_json_build_object(b);
    allm_json_build_end(b);
    allm_json_build_value(b, member);
    allm_json_build_end(b);
    allm_json_build_key(b, "");
    allm_json_build_text(b, "", ALLM_NUL_ENDED);
    allm_json_build_end(b);
    allm_json_free(member);
    allm_json *v = allm_json_build_done(b);
    CHECK(!allm_json_error(v));
    CHECK_INT(allm_json_count(v), 3);
    CHECK_INT(allm_json_count(allm_json_get(v, "list")), 8);
    check_text(v, "{\"city\":\"Ulm\",\"list\":[-1,18446744073709551615,0.5,"
                  "true,false,null,{},{\"x\":[1,\"y\"]}],\"\":\"\"}");
}

static void a_scalar_is_a_value(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_text(b, "a\0b", 3);
    allm_json *v = allm_json_build_done(b);
    size_t len;
    const char *text = allm_json_text(v, &len);
    CHECK_SLICE(((struct slice){ text, len }), ((struct slice){ "a\0b", 3 }));
    check_text(v, "\"a\\u0000b\"");
}

static void texts_are_made_well_formed(void)
{
    static const struct {
        const char *why;
        struct slice text;
        const char *want;
    } rows[] = {
        { "well", { "\xC3\xA9", 2 }, "\xC3\xA9" },
        { "a byte that is never UTF-8", { "a\xFF" "b", 3 },
          "a\xEF\xBF\xBD" "b" },
        { "cut at the end", { "a\xE6\xBC", 3 },
          "a\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "only bad ones", { "\x80\x80", 2 }, "\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "a surrogate", { "\xED\xA0\x80", 3 },
          "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json_build *b = allm_json_build_new(NULL);
        allm_json_build_object(b);
        allm_json_build_key(b, rows[i].text.ptr);
        allm_json_build_text(b, rows[i].text.ptr, rows[i].text.len);
        allm_json_build_end(b);
        allm_json *v = allm_json_build_done(b);
        const allm_json *key = allm_json_next(v, NULL);
        CHECK_TEXT(allm_json_text(key, NULL), rows[i].want);
        CHECK_TEXT(allm_json_text(allm_json_value(key), NULL), rows[i].want);
        allm_json_free(v);
    }
}

static void numbers_that_are_none_become_null(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    allm_json_build_number(b, HUGE_VAL);
    allm_json_build_number(b, -HUGE_VAL);
    allm_json_build_number(b, (double)NAN);
    allm_json_build_number(b, -0.0);
    allm_json_build_text(b, NULL, ALLM_NUL_ENDED);
    allm_json_build_end(b);
    check_text(allm_json_build_done(b), "[null,null,null,-0.0,null]");
}

/* --------------------------------------------------------------- misuse --- */

/*
 * A row is a program: { [ begin, ] end, k key, K key NULL, 1 number, u uint,
 * r real, t text, b bool, n null, v value, f failed value.
 */
static void run(allm_json_build *b, const char *program, const allm_json *value,
                const allm_json *failed)
{
    for (; *program; program++) {
        switch (*program) {
        case '{': allm_json_build_object(b); break;
        case '[': allm_json_build_array(b); break;
        case ']': allm_json_build_end(b); break;
        case 'k': allm_json_build_key(b, "key"); break;
        case 'K': allm_json_build_key(b, NULL); break;
        case '1': allm_json_build_int(b, 1); break;
        case 'u': allm_json_build_uint(b, 1); break;
        case 'r': allm_json_build_number(b, 0.5); break;
        case 't': allm_json_build_text(b, "text", 4); break;
        case 'b': allm_json_build_bool(b, true); break;
        case 'n': allm_json_build_null(b); break;
        case 'v': allm_json_build_value(b, value); break;
        case 'f': allm_json_build_value(b, failed); break;
        default: break;
        }
    }
}

static void misuse_is_reported_at_the_end(void)
{
    static const struct {
        const char *why, *program, *says;
    } rows[] = {
        { "nothing", "", "no value was added" },
        { "not ended", "[", "not ended" },
        { "not ended inside", "[[]", "not ended" },
        { "ended twice", "[]]", "no open container" },
        { "end without begin", "]", "no open container" },
        { "a key alone", "{k]", "after a key" },
        { "a key in an array", "[k1]", "outside of an object" },
        { "a key at the top", "k1", "outside of an object" },
        { "two keys", "{kk1]", "outside of an object, or after a key" },
        { "no key", "{1]", "a number was added where" },
        { "no key, uint", "{u]", "a number was added where" },
        { "no key, real", "{r]", "a number was added where" },
        { "no key, text", "{t]", "a string was added where" },
        { "no key, bool", "{b]", "true or false was added where" },
        { "no key, null", "{n]", "null was added where" },
        { "no key, value", "{v]", "a value was added where" },
        { "no key, object", "{{]]", "an object was begun" },
        { "no key, array", "{[]]", "an array was begun" },
        { "two roots", "11", "a number was added where" },
        { "two roots, containers", "[][]", "an array was begun" },
        { "a key that is NULL", "{K1]", "NULL" },
        { "a value that failed", "[f]", "failed to be read" },
        { "the first misuse counts", "[kf]", "outside of an object" },
        { "a key twice", "{k1k1]", "\"key\" occurs twice" },
        { "a key twice inside", "[{k1k1]]", "\"key\" occurs twice" },
    };
    allm_json *value = allm_json_parse("[1]", ALLM_NUL_ENDED, NULL);
    allm_json *failed = allm_json_parse("[1", ALLM_NUL_ENDED, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json_build *b = allm_json_build_new(NULL);
        run(b, rows[i].program, value, failed);
        allm_json *v = allm_json_build_done(b);
        const allm_error *e = allm_json_error(v);
        CHECK_INT(allm_json_type_of(v), ALLM_JSON_NONE);
        CHECK_INT(e ? e->kind : 0, ALLM_ERR_MISUSE);
        CHECK_WHY(e && strstr(e->message, rows[i].says), e ? e->message : "");
        allm_json_free(v);
    }
    allm_json_free(value);
    allm_json_free(failed);
}

static void null_is_accepted(void)
{
    run(NULL, "{[]kK1urtbnvf", NULL, NULL);
    CHECK(!allm_json_build_done(NULL));
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_value(b, NULL);     /* something ran out of memory */
    CHECK_ALWAYS(!allm_json_build_done(b));
}

/* ------------------------------------------------------------- internal --- */

static void shares_or_copies(void)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    char shared[] = "shared", copied[] = "copied";
    build_init(&b, &a);
    build_array(&b);
    build_text(&b, slice_of(shared));
    build_text_copy(&b, slice_of(copied));
    build_end(&b);
    const allm_json *inner = build_done(&b);
    struct build outer;
    build_init(&outer, &a);
    build_object(&outer);
    build_key(&outer, SLICE("s"));
    build_value(&outer, inner);
    build_key_copy(&outer, slice_of(copied));
    build_value_copy(&outer, inner);
    build_key_copy(&outer, (struct slice){ NULL, 0 });
    build_text(&outer, (struct slice){ NULL, 0 });
    build_end(&outer);
    shared[0] = 'X';
    copied[0] = 'X';
    const allm_json *v = build_done(&outer);
    const allm_json *s = allm_json_get(v, "s");
    const allm_json *c = allm_json_get(v, "copied");
    CHECK_TEXT(allm_json_text(allm_json_at(s, 0), NULL), "Xhared");
    CHECK_TEXT(allm_json_text(allm_json_at(s, 1), NULL), "copied");
    CHECK_TEXT(allm_json_text(allm_json_at(c, 0), NULL), "shared");
    CHECK_TEXT(allm_json_text(allm_json_at(c, 1), NULL), "copied");
    CHECK_TEXT(allm_json_text(allm_json_get(v, ""), NULL), "");
    arena_release(&a);
}

static void a_broken_builder_stays_broken(void)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    build_end(&b);
    CHECK(b.broken && b.misused);
    build_null(&b);
    CHECK(!build_done(&b));
    build_init(&b, &a);
    build_value(&b, NULL);
    CHECK_ALWAYS(b.broken && !b.misused);
    build_end(&b);
    CHECK_ALWAYS(!b.misused);
    CHECK_ALWAYS(!build_done(&b));
    arena_release(&a);
}

static void many_members(void)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    build_array(&b);
    for (int i = 0; i < 5000; i++) {
        build_object(&b);
        build_key(&b, SLICE("n"));
        build_int(&b, i);
        build_end(&b);
    }
    build_end(&b);
    const allm_json *v = build_done(&b);
    CHECK_INT(allm_json_count(v), 5000);
    CHECK_INT(allm_json_number(allm_json_get(allm_json_at(v, 4999), "n")),
              4999);
    arena_release(&a);
}

/* Random values survive the writer and the reader. */
static void what_was_built_reads_back(void)
{
    struct random r = check_random();
    for (int i = 0; i < 300; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        const allm_json *v = random_value(&a, r, 1 + random_below(r, 80));
        allm_text *t = allm_json_write(v, i & 1 ? ALLM_JSON_PRETTY : 0);
        size_t len;
        const char *text = allm_text_bytes(t, &len);
        allm_json *again = allm_json_parse(text, len, NULL);
        CHECK(!allm_json_error(again));
        CHECK(allm_json_equal(v, again) && allm_json_equal(again, v));
        allm_text *same = allm_json_write(again, i & 1 ? ALLM_JSON_PRETTY : 0);
        CHECK_TEXT(allm_text_bytes(same, NULL), text);
        allm_text_free(same);
        allm_json_free(again);
        allm_text_free(t);
        arena_release(&a);
    }
}

TESTS = {
    TEST(builds_what_the_reader_reads),
    TEST(a_scalar_is_a_value),
    TEST(texts_are_made_well_formed),
    TEST(numbers_that_are_none_become_null),
    TEST(misuse_is_reported_at_the_end),
    TEST(null_is_accepted),
    TEST(shares_or_copies),
    TEST(a_broken_builder_stays_broken),
    TEST(many_members),
    TEST_ONCE(what_was_built_reads_back),
    TESTS_END
};
