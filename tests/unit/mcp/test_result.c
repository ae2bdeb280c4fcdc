/* test_result.c - the result of a tool, as a chat uses it */
#include "mcp/result.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/parse.h"
#include "json/write.h"

static const allm_json *parse(struct arena *a, const char *text)
{
    const allm_error *error;
    return text ? json_parse_loose(a, slice_of(text), &error) : NULL;
}

#define SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

static void reads_results(void)
{
    static const struct {
        const char *why, *result, *schema;
        const char *value, *images;
        bool failed;
    } rows[] = {
        { "texts are joined", "{\"content\":[" TEXT("a") "," TEXT("b") "]}",
          NULL, "\"a\\nb\"", NULL, false },
        { "nothing", "{}", NULL, "\"\"", NULL, false },
        { "not a list", "{\"content\":\"x\"}", NULL, "\"\"", NULL, false },
        { "an error", "{\"content\":[" TEXT("no") "],\"isError\":true}",
          SCHEMA, "\"no\"", NULL, true },
        { "a structured value",
          "{\"content\":[" TEXT("{n:1}") "],\"structuredContent\":{\"n\":1}}",
          SCHEMA, "{\"n\":1}", NULL, false },
        { "without a schema", "{\"structuredContent\":[1]}", NULL, "[1]", NULL,
          false },
        { "that does not fit", "{\"structuredContent\":{\"n\":\"x\"}}", SCHEMA,
          "{\"result\":{\"n\":\"x\"},\"schema_errors\":[{\"path\":\"/n\","
          "\"keyword\":\"type\",\"schema_path\":\"/properties/n/type\","
          "\"message\":\"expected integer, got string \\\"x\\\"\"}]}", NULL,
          false },
        { "that is missing", "{\"content\":[" TEXT("x") "]}", SCHEMA,
          "{\"result\":\"x\",\"schema_errors\":[{\"path\":\"\",\"message\":"
          "\"the tool has an outputSchema, but its result has no "
          "structuredContent\"}]}", NULL, false },
        { "an image",
          "{\"content\":[" TEXT("a") ",{\"type\":\"image\",\"data\":\"AAAA\","
          "\"mimeType\":\"image/png\"}]}", NULL,
          "\"a\\n[image, image/png, 3 bytes]\"",
          "[{\"data\":\"AAAA\",\"mimeType\":\"image/png\"}]", false },
        { "audio",
          "{\"content\":[{\"type\":\"audio\",\"data\":\"AAAAAAAA\","
          "\"mimeType\":\"audio/wav\"}]}", NULL,
          "\"[audio, audio/wav, 6 bytes]\"", NULL, false },
        { "a resource with text",
          "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
          "\"text\":\"t\"}}]}", NULL, "\"t\"", NULL, false },
        { "a resource that is an image",
          "{\"content\":[{\"type\":\"resource\",\"resource\":{\"blob\":"
          "\"AAAA\",\"mimeType\":\"image/gif\"}}]}", NULL,
          "\"[image, image/gif, 3 bytes]\"",
          "[{\"data\":\"AAAA\",\"mimeType\":\"image/gif\"}]", false },
        { "a resource that is something else",
          "{\"content\":[{\"type\":\"resource\",\"resource\":{\"blob\":"
          "\"AAAA\"}}]}", NULL, "\"[resource, 3 bytes]\"", NULL, false },
        { "a link",
          "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:b\","
          "\"name\":\"n\"}]}", NULL, "\"[link to a:b, n]\"", NULL, false },
        { "what nobody knows", "{\"content\":[{\"type\":\"smell\"},7]}", NULL,
          "\"[content of an unknown type, smell, 0 bytes]\\n"
          "[content of an unknown type, 0 bytes]\"", NULL, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf value, images;
        struct mcp_result r;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&value, &a, 4096);
        buf_init(&images, &a, 4096);
        allm_json_schema *schema =
            rows[i].schema ? allm_json_schema_new(parse(&a, rows[i].schema))
                           : NULL;
        if (CHECK(schema || !rows[i].schema) && check_whole() &&
            CHECK(mcp_result_make(&a, parse(&a, rows[i].result), schema, &r))) {
            json_write(&value, r.value, 0);
            CHECK_TEXT(value.ptr, rows[i].value);
            if (r.images)
                json_write(&images, r.images, 0);
            CHECK_TEXT(images.ptr, rows[i].images);
            CHECK(r.failed == rows[i].failed);
        }
        allm_json_schema_free(schema);
        arena_release(&a);
    }
    check_row(NULL);
}

TESTS = {
    TEST(reads_results),
    TESTS_END,
};
