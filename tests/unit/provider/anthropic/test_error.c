/* test_error.c - the reasons of errors; fixtures test the rest */
#include "provider/anthropic/error.h"

#include "harness/noun.h"

static void check_error(const char *document, int32_t status,
                        const char *reason, bool billing)
{
    struct arena a;
    arena_init(&a, mem_default());
    allm_json *v = noun_json(document);
    check_row(document);
    allm_error e = anthropic_error_read(&a, v, status);
    if (v)
        CHECK_TEXT(e.reason, reason);
    if (check_whole())
        CHECK(allm_json_true(allm_json_get(e.metadata, "billing")) == billing);
    allm_json_free(v);
    arena_release(&a);
}

/* In the middle of an answer the word is all there is. */
static void every_word_is_known(void)
{
    static const struct {
        const char *document, *reason;
        bool billing;
    } rows[] = {
        { "{'error': {'type': 'invalid_request_error'}}", "invalid_request",
          false },
        { "{'error': {'type': 'authentication_error'}}",
          "authentication_failed", false },
        { "{'error': {'type': 'permission_error'}}", "authentication_failed",
          false },
        { "{'error': {'type': 'billing_error'}}", "rate_limited", true },
        { "{'error': {'type': 'not_found_error'}}", "invalid_request", false },
        { "{'error': {'type': 'conflict_error'}}", "invalid_request", false },
        { "{'error': {'type': 'request_too_large'}}", "invalid_request",
          false },
        { "{'error': {'type': 'rate_limit_error'}}", "rate_limited", false },
        { "{'error': {'type': 'api_error'}}", "provider_unavailable", false },
        { "{'error': {'type': 'timeout_error'}}", "timeout", false },
        { "{'error': {'type': 'overloaded_error'}}", "provider_unavailable",
          false },
        { "{'error': {'type': 'new_error'}}", "provider_unavailable", false },
        { "{'error': {}}", "provider_unavailable", false },
        { "{'type': 'rate_limit_error'}", "rate_limited", false },
        { "{'error': {'code': 404}}", "invalid_request", false },
        { "{'error': {'code': 399, 'type': 'timeout_error'}}", "timeout",
          false },
        { "{'error': {'code': 600, 'type': 'timeout_error'}}", "timeout",
          false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error(rows[i].document, 0, rows[i].reason, rows[i].billing);
}

static void the_status_counts_before_the_word(void)
{
    static const struct {
        int32_t status;
        const char *reason;
    } rows[] = {
        { 400, "invalid_request" },       { 401, "authentication_failed" },
        { 429, "rate_limited" },          { 500, "provider_unavailable" },
        { 504, "timeout" },               { 529, "provider_unavailable" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error("{'error': {'type': 'permission_error', 'code': 404}}",
                    rows[i].status, rows[i].reason, false);
}

static void sentences_tell_of_length_and_money(void)
{
    static const struct {
        const char *document;
        int32_t status;
        const char *reason;
        bool billing;
    } rows[] = {
        { "{'error': {'message': 'Prompt is too long: 9 tokens'}}", 400,
          "context_length_exceeded", false },
        { "{'error': {'message': 'beyond the context window'}}", 400,
          "context_length_exceeded", false },
        { "{'error': {'message': 'beyond the context length'}}", 413,
          "context_length_exceeded", false },
        { "{'error': {'message': 'exceed context limit: 9'}}", 400,
          "context_length_exceeded", false },
        { "{'error': {'message': 'the context window is busy'}}", 500,
          "provider_unavailable", false },
        { "{'error': {'message': 'Your credit balance is too low'}}", 400,
          "invalid_request", true },
        { "{'error': {'message': 'over your spend limit'}}", 429,
          "rate_limited", true },
        { "{'error': {'code': 'enforced_spend_limit_reached'}}", 429,
          "rate_limited", true },
        { "{'error': {'details': {'error_code':"
          " 'enforced_spend_limit_reached'}}}",
          429, "rate_limited", true },
        { "{}", 402, "rate_limited", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error(rows[i].document, rows[i].status, rows[i].reason,
                    rows[i].billing);
}

TESTS = {
    TEST(every_word_is_known),
    TEST(the_status_counts_before_the_word),
    TEST(sentences_tell_of_length_and_money),
    TESTS_END,
};
