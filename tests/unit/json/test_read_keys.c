/* test_read_keys.c - keys that are not UTF-8 */
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include "harness/check.h"

#define R "\xEF\xBF\xBD"        /* U+FFFD */

static const allm_json *read_loose(struct arena *a, struct slice text,
                                   bool partial)
{
    const struct json_limits limits = { .max_bytes = SIZE_MAX / 2,
                                        .max_depth = 128, .loose = true };
    const allm_error *error = NULL;
    bool complete;
    return partial ? json_partial(a, text, limits, &complete, &error)
                   : json_parse(a, text, limits, &error);
}

/* The value can be written, read strictly, and is the same. */
static struct slice trip(struct arena *a, const allm_json *v)
{
    struct json_limits strict;
    struct buf text;
    const allm_error *error = NULL;
    json_limits_from(&strict, NULL);
    buf_init(&text, a, SIZE_MAX / 2);
    json_write(&text, v, 0);
    const allm_json *again = json_parse(a, buf_slice(&text), strict, &error);
    CHECK(again && allm_json_equal(v, again));
    return buf_slice(&text);
}

static void become_utf8_and_differ(void)
{
    static const struct {
        const char *why, *text, *want;
    } rows[] = {
        { "one", "{\"\xFF\":1}", "{\"" R "\":1}" },
        { "one for each byte", "{\"a\xE2\x82z\":1}", "{\"a" R R "z\":1}" },
        { "half of a pair", "{\"\\ud800\":1}", "{\"" R R R "\":1}" },
        { "two", "{\"\xFF\":1,\"\xFE\":2}", "{\"" R "\":1,\"" R "_2\":2}" },
        { "three", "{\"\xFF\":1,\"\xFE\":2,\"\xFD\":3}",
          "{\"" R "\":1,\"" R "_2\":2,\"" R "_3\":3}" },
        { "the name is taken before", "{\"" R "_2\":0,\"\xFF\":1,\"\xFE\":2}",
          "{\"" R "_2\":0,\"" R "\":1,\"" R "_3\":2}" },
        { "the name is taken behind", "{\"\xFF\":1,\"\xFE\":2,\"" R "_2\":0}",
          "{\"" R "\":1,\"" R "_3\":2,\"" R "_2\":0}" },
        { "one that was well comes first", "{\"" R "\":1,\"\xFF\":2}",
          "{\"" R "\":1,\"" R "_2\":2}" },
        { "...or last", "{\"\xFF\":1,\"" R "\":2}",
          "{\"" R "\":1,\"" R "_2\":2}" },
        { "the same bytes", "{\"\xFF\":1,\"\xFF\":2}",
          "{\"" R "\":1,\"" R "_2\":2}" },
        { "those that are well: the last wins", "{\"a\":1,\"a\":2,\"\xFF\":3}",
          "{\"a\":2,\"" R "\":3}" },
        { "each object by itself", "{\"\xFF\":{\"\xFF\":1},\"b\":{\"\xFE\":2}}",
          "{\"" R "\":{\"" R "\":1},\"b\":{\"" R "\":2}}" },
        { "inside and around",
          "[{\"\xFF\":{\"\xFE\":1,\"\xFD\":[]},\"\xFC\":{}}]",
          "[{\"" R "\":{\"" R "\":1,\"" R "_2\":[]},\"" R "_2\":{}}]" },
        { "texts stay", "{\"a\":\"" R "\",\"b\\n\":1}",
          "{\"a\":\"" R "\",\"b\\n\":1}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].why);
        for (int partial = 0; partial < 2; partial++) {
            arena_init(&a, mem_default());
            const allm_json *v = read_loose(&a, slice_of(rows[i].text),
                                            partial);
            if (v)
                CHECK_SLICE(trip(&a, v), slice_of(rows[i].want));
            else
                CHECK(false);
            arena_release(&a);
        }
    }
}

static void beginnings_have_keys_that_differ(void)
{
    static const char text[] = "{\"\xFF\":1,\"\xFE\":{\"\xFF\":0,\"\xFD\":2},"
                               "\"" R "_2\":3,\"\xF0\x9F\":4,\"\xE2\x82\":5 }";
    for (size_t n = 1; n < sizeof text; n++) {
        struct arena a;
        arena_init(&a, mem_default());
        const allm_json *v = read_loose(&a, (struct slice){ text, n }, true);
        if (v)
            trip(&a, v);
        CHECK(v != NULL);
        arena_release(&a);
    }
}

/* However many there are: it takes no longer than to sort them. */
static void many_of_them_differ(void)
{
    enum { KEYS = 100000 };
    struct arena a;
    struct buf text;
    arena_init(&a, mem_default());
    buf_init(&text, &a, SIZE_MAX / 2);
    for (int i = 0; i < KEYS; i++)
        buf_format(&text, "%s\"\xEF\xBF\xBD_%d\":0,\"%c\":%d", i ? "," : "{", i,
                   0x80 + i % 64, i);
    buf_byte(&text, '}');
    const allm_json *v = read_loose(&a, buf_slice(&text), false);
    CHECK_INT(allm_json_count(v), 2 * KEYS);
    if (v)
        trip(&a, v);
    arena_release(&a);
}

TESTS = {
    TEST(become_utf8_and_differ),
    TEST(beginnings_have_keys_that_differ),
    TEST_ONCE(many_of_them_differ),
    TESTS_END,
};
