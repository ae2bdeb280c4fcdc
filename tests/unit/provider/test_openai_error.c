/* test_openai_error.c - what errors are taken for; the rest is in fixtures */
#include "provider/openai_error.h"

#include "harness/check.h"
#include "harness/noun.h"

static void reasons_follow_from_words_and_numbers(void)
{
    static const struct {
        const char *document;
        int32_t status;
        const char *reason;
    } rows[] = {
        { "{'error': {'code': 502}}", 0, "provider_unavailable" },
        { "{'error': {'code': '429'}}", 0, "rate_limited" },
        { "{'error': {'code': 7, 'type': 'rate_limit_error'}}", 0,
          "rate_limited" },
        { "{'error': {'type': 'authentication_error'}}", 0,
          "authentication_failed" },
        { "{'error': {'type': 'overloaded_error'}}", 0,
          "provider_unavailable" },
        { "{'error': {'type': 'invalid_request_error'}}", 0,
          "invalid_request" },
        { "{'error': {'type': 'invalid_request_error',"
          " 'code': 'context_length_exceeded'}}",
          0, "context_length_exceeded" },
        { "{'error': {'message': 'prompt is too long: 9 tokens'}}", 400,
          "context_length_exceeded" },
        { "{'error': 'prompt too long; exceeded max context length by 9 tokens'}",
          400, "context_length_exceeded" },
        { "{'error': 'input length exceeds maximum context length'}", 400,
          "context_length_exceeded" },
        { "{'error': {'message': 'max_tokens is too large: 9'}}", 400,
          "invalid_request" },
        { "{'error': {'code': 'context_length_exceeded'}}", 500,
          "provider_unavailable" },
        { "{'error': {'code': 'failed_to_download_image'}}", 0,
          "invalid_request" },
        { "{'error': {'code': 'image_content_policy_violation'}}", 0,
          "content_filter" },
        { "{'error': 'boom'}", 0, "provider_unavailable" },
        { "{'error': {'code': 'insufficient_quota'}}", 0, "rate_limited" },
        { "{}", 418, "invalid_request" },
        { "{}", 307, "unknown" },
        { "[{'error': {'code': 403}}]", 0, "authentication_failed" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        allm_json *v = noun_json(rows[i].document);
        check_row(rows[i].document);
        allm_error e = openai_error_read(&a, v, rows[i].status);
        if (v)
            CHECK_TEXT(e.reason, rows[i].reason);
        CHECK(e.message && *e.message);
        allm_json_free(v);
        arena_release(&a);
    }
}

static void knows_an_error(void)
{
    static const struct {
        const char *document;
        bool is;
    } rows[] = {
        { "{'error': {'message': 'x'}}", true },
        { "{'error': 'x'}", true },
        { "{'error': null, 'choices': []}", false },
        { "{'error': {}}", false },
        { "{'error': false}", false },
        { "{'error': ''}", false },
        { "{'object': 'error'}", true },
        { "{'type': 'error'}", true },
        { "[{'error': 'x'}]", true },
        { "{'choices': []}", false },
        { "7", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *v = noun_json(rows[i].document);
        check_row(rows[i].document);
        if (v)
            CHECK(openai_error_is(v) == rows[i].is);
        allm_json_free(v);
    }
}

TESTS = {
    TEST(reasons_follow_from_words_and_numbers),
    TEST(knows_an_error),
    TESTS_END,
};
