/* test_error_body.c - the reasons of errors; fixtures test the rest */
#include "provider/error_body.h"

#include "harness/check.h"
#include "harness/noun.h"

#include <stdio.h>

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
        { "{'error': 'prompt too long; exceeded max context length by 9 "
          "tokens'}",
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
        allm_error e = error_body_read(&a, v, rows[i].status);
        if (v)
            CHECK_TEXT(e.reason, rows[i].reason);
        CHECK(e.message && *e.message);
        allm_json_free(v);
        arena_release(&a);
    }
}

/* The reason of an error whose one member is this. */
static void check_reason(const char *member, const char *value, int32_t status,
                         const char *reason, bool billing)
{
    struct arena a;
    char text[256];
    snprintf(text, sizeof text, "{'error': {'%s': '%s'}}", member, value);
    arena_init(&a, mem_default());
    allm_json *v = noun_json(text);
    check_row(value);
    allm_error e = error_body_read(&a, v, status);
    if (v)
        CHECK_TEXT(e.reason, reason);
    if (check_whole())
        CHECK(allm_json_true(allm_json_get(e.metadata, "billing")) == billing);
    allm_json_free(v);
    arena_release(&a);
}

/* As a part of a longer one, and in whatever case. */
static void every_word_is_known(void)
{
    static const struct {
        const char *word, *reason;
    } rows[] = {
        { "my_Context_Length", "context_length_exceeded" },
        { "context_window_x", "context_length_exceeded" },
        { "exceed_context_size_error", "context_length_exceeded" },
        { "content_filter", "content_filter" },
        { "content_policy_violation", "content_filter" },
        { "ResponsibleAIPolicyViolation", "content_filter" },
        { "moderation_blocked", "content_filter" },
        { "rate_limit_exceeded", "rate_limited" },
        { "too_many_requests", "rate_limited" },
        { "authentication_error", "authentication_failed" },
        { "invalid_api_key", "authentication_failed" },
        { "unauthorized", "authentication_failed" },
        { "permission_denied", "authentication_failed" },
        { "request_timeout", "timeout" },
        { "overloaded", "provider_unavailable" },
        { "service_unavailable", "provider_unavailable" },
        { "no_capacity", "provider_unavailable" },
        { "server_error", "provider_unavailable" },
        { "internal", "provider_unavailable" },
        { "api_error", "provider_unavailable" },
        { "model_not_found", "invalid_request" },
        { "invalid_value", "invalid_request" },
        { "bad_request", "invalid_request" },
        { "BadRequestError", "invalid_request" },
        { "unsupported_value", "invalid_request" },
        { "tool_use_failed", "invalid_request" },
        { "image_parse_error", "invalid_request" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_reason("code", rows[i].word, 0, rows[i].reason, false);
        check_reason("type", rows[i].word, 0, rows[i].reason, false);
    }
}

static void exhausted_credit_has_its_own_reason(void)
{
    static const char *const words[] = {
        "insufficient_quota", "credit_balance_exhausted",
        "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded", "billing_hard_limit_reached",
        "billing_not_active", "insufficient_balance", "insufficient_credits",
        "account_deactivated",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        check_reason("code", words[i], 429, "rate_limited", true);
        check_reason("type", words[i], 400, "rate_limited", true);
    }
    check_reason("code", "x", 402, "rate_limited", true);
    check_reason("code", "x", 429, "rate_limited", false);
}

static void every_sentence_about_length_is_known(void)
{
    static const char *const sentences[] = {
        "the maximum context length is 9", "Context length exceeded",
        "context_length_exceeded", "it exceeds the context window",
        "it exceeds the available context size", "would exceed context window",
        "exceeded max context length by 9", "exceeds maximum context length",
        "exceeds the context length", "Prompt is too long",
        "input is too long for it", "please reduce the length of the messages",
    };
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        check_reason("message", sentences[i], 400, "context_length_exceeded",
                     false);
}

/* An error about the content counts if the request was rejected for it. */
static void the_status_says_whether_words_count(void)
{
    static const struct {
        int32_t status;
        const char *reason;
    } rows[] = {
        { 0, "content_filter" },        { 400, "content_filter" },
        { 403, "content_filter" },      { 413, "content_filter" },
        { 422, "content_filter" },      { 451, "content_filter" },
        { 401, "authentication_failed" }, { 404, "invalid_request" },
        { 429, "rate_limited" },        { 500, "provider_unavailable" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_reason("code", "content_filter", rows[i].status, rows[i].reason,
                     false);
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
            CHECK(error_body_is(v) == rows[i].is);
        allm_json_free(v);
    }
}

TESTS = {
    TEST(reasons_follow_from_words_and_numbers),
    TEST(every_word_is_known),
    TEST(exhausted_credit_has_its_own_reason),
    TEST(every_sentence_about_length_is_known),
    TEST(the_status_says_whether_words_count),
    TEST(knows_an_error),
    TESTS_END,
};
