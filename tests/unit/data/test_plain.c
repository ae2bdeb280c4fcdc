/* test_plain.c - free-form JSON without the type tags of structs inside */
#include "data/plain.h"

#include "documents.h"

#include <stdlib.h>

static void check_plain(const allm_json *v, const char *want)
{
    struct arena a;
    struct buf out;
    struct emit e;
    arena_init(&a, mem_default());
    buf_init(&out, &a, SIZE_MAX / 2);
    emit_init(&e, &out);
    plain_write(&e, v);
    CHECK(!out.broken);
    CHECK_SLICE(buf_slice(&out), slice_of(want));
    arena_release(&a);
}

static void takes_envelopes_off(void)
{
    static const struct {
        const char *why, *text, *plain;
    } rows[] = {
        { "no container", "42", "42" },
        { "null", "null", "null" },
        { "a text", "\"__type__\"", "\"__type__\"" },
        { "nothing to do", "{\"a\":[1,{\"b\":null}],\"c\":{}}",
          "{\"a\":[1,{\"b\":null}],\"c\":{}}" },
        { "two members do not make an envelope", "{\"a\":1,\"b\":2}",
          "{\"a\":1,\"b\":2}" },
        { "nor do they inside",
          "[{\"a\":1,\"b\":[]},{\"x\":{\"y\":1,\"z\":2}}]",
          "[{\"a\":1,\"b\":[]},{\"x\":{\"y\":1,\"z\":2}}]" },
        { "nor does half of one", "{\"data\":{\"a\":1},\"b\":2}",
          "{\"data\":{\"a\":1},\"b\":2}" },
        { "an envelope", TAGGED("Usage", "{\"input_tokens\":1}"),
          "{\"input_tokens\":1}" },
        { "an empty one", TAGGED("Usage", "{}"), "{}" },
        { "data first", "{\"data\":{\"a\":1},\"__type__\":\"ALLM.Usage\"}",
          "{\"a\":1}" },
        { "in an array", "[" TAGGED("Usage", "{}") ",1]", "[{},1]" },
        { "in an object", "{\"u\":" TAGGED("Usage", "{\"a\":[]}") ",\"v\":1}",
          "{\"u\":{\"a\":[]},\"v\":1}" },
        { "one in another",
          TAGGED("Thread", "{\"messages\":[" TAGGED(
                               "Message", "{\"role\":\"user\"}") "]}"),
          "{\"messages\":[{\"role\":\"user\"}]}" },
        { "a type of a later version", TAGGED("Later", "{\"a\":1}"),
          "{\"a\":1}" },
        { "a type of somebody else",
          "{\"__type__\":\"Other.Thing\",\"data\":{\"a\":1}}",
          "{\"__type__\":\"Other.Thing\",\"data\":{\"a\":1}}" },
        { "a type that is no text", "{\"__type__\":1,\"data\":{}}",
          "{\"__type__\":1,\"data\":{}}" },
        { "data that is no object", TAGGED("Usage", "[1]"),
          TAGGED("Usage", "[1]") },
        { "a third member", "{\"__type__\":\"ALLM.Usage\",\"data\":{},\"x\":1}",
          "{\"__type__\":\"ALLM.Usage\",\"data\":{},\"x\":1}" },
        { "keys and texts keep their escapes",
          "{\"a\\\"\\u0000\":\"\\\\\\n\",\"\":{}}",
          "{\"a\\\"\\u0000\":\"\\\\\\n\",\"\":{}}" },
        { "numbers stay as they are", "[18446744073709551616,-0.0,1e400]",
          "[18446744073709551616,-0.0,1e400]" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, NULL);
        check_plain(v, rows[i].plain);
        allm_json_free(v);
    }
}

static void tells_the_kind_of_an_error(void)
{
    static const struct {
        const char *text, *plain;
    } rows[] = {
        { TAGGED("Error.EngineError", "{\"a\":1}"),
          "{\"kind\":\"engine\",\"a\":1}" },
        { TAGGED("Error.AdapterError", "{}"), "{\"kind\":\"adapter\"}" },
        { TAGGED("Error.StreamError", "{}"), "{\"kind\":\"stream\"}" },
        { TAGGED("Error.ValidationError", "{}"),
          "{\"kind\":\"validation\"}" },
        { TAGGED("Error.ToolError", "{}"), "{\"kind\":\"tool\"}" },
        { TAGGED("Error.SessionError", "{}"), "{\"kind\":\"session\"}" },
        { TAGGED("Error.ImageAdapterError", "{}"), "{\"kind\":\"image\"}" },
        { TAGGED("Error.StoreError", "{}"), "{\"kind\":\"store\"}" },
        { TAGGED("Error.MisuseError", "{}"), "{\"kind\":\"misuse\"}" },
        { TAGGED("Error.MemoryError", "{}"), "{\"kind\":\"nomem\"}" },
        { TAGGED("Error.NewError", "{}"), "{}" },
        { "{\"error\":" TAGGED("Error.ToolError", "{\"cause\":" TAGGED(
                                   "Error.StreamError", "{}") "}") "}",
          "{\"error\":{\"kind\":\"tool\",\"cause\":{\"kind\":\"stream\"}}}" },
        { TAGGED("Error.ToolError", "{\"kind\":\"mine\"}"),
          "{\"kind\":\"mine\"}" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].plain);
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, NULL);
        check_plain(v, rows[i].plain);
        allm_json_free(v);
    }
}

/* As deep as a caller's limit allows; the stack of C is not used. */
static void walks_deep_values(void)
{
    enum { DEPTH = 50000 };
    char *text = malloc(2 * DEPTH + 1);
    CHECK_ALWAYS(text != NULL);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    text[2 * DEPTH] = '\0';
    allm_json *v = allm_json_parse(text, 2 * DEPTH,
                                   ALLM(json_opts, .max_depth = DEPTH));
    check_plain(v, text);
    allm_json_free(v);
    free(text);
}

TESTS = {
    TEST(takes_envelopes_off),
    TEST(tells_the_kind_of_an_error),
    TEST_ONCE(walks_deep_values),
    TESTS_END,
};
