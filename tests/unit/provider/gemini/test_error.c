/* test_error.c - the reasons of errors; fixtures test the rest */
#include "provider/gemini/error.h"

#include "harness/noun.h"

struct row {
    const char *document;
    int32_t status;
    const char *reason;
    int64_t wait_ms;            /* -1: unknown */
    bool billing, final;
};

static bool has(const allm_error *e, const char *mark)
{
    return allm_json_true(allm_json_get(e->metadata, mark));
}

static void check_error(const struct row *row)
{
    struct arena a;
    arena_init(&a, mem_default());
    allm_json *v = noun_json(row->document);
    check_row(row->document);
    allm_error e = gemini_error_read(&a, v, row->status);
    if (v) {
        CHECK_TEXT(e.reason, row->reason);
        CHECK_INT(e.retry_after_ms.set ? e.retry_after_ms.value : -1,
                  row->wait_ms);
    }
    if (check_whole()) {
        CHECK(has(&e, "billing") == row->billing);
        CHECK(has(&e, "final") == row->final);
    }
    allm_json_free(v);
    arena_release(&a);
}

static void reasons_follow_from_words_and_numbers(void)
{
    static const struct row rows[] = {
        { "{'error': {'status': 'INVALID_ARGUMENT'}}", 0, "invalid_request",
          -1, false, false },
        { "{'error': {'status': 'FAILED_PRECONDITION'}}", 0,
          "invalid_request", -1, false, false },
        { "{'error': {'status': 'OUT_OF_RANGE'}}", 0, "invalid_request", -1,
          false, false },
        { "{'error': {'status': 'NOT_FOUND'}}", 0, "invalid_request", -1,
          false, false },
        { "{'error': {'status': 'UNAUTHENTICATED'}}", 0,
          "authentication_failed", -1, false, false },
        { "{'error': {'status': 'PERMISSION_DENIED'}}", 0,
          "authentication_failed", -1, false, false },
        { "{'error': {'status': 'RESOURCE_EXHAUSTED'}}", 0, "rate_limited",
          -1, false, false },
        { "{'error': {'status': 'UNAVAILABLE'}}", 0, "provider_unavailable",
          -1, false, false },
        { "[{'error': {'code': 404}}]", 0, "invalid_request", -1, false,
          false },
        { "{'error': {'code': 600, 'status': 'NOT_FOUND'}}", 0,
          "invalid_request", -1, false, false },
        { "{'error': {'status': 'NOT_FOUND'}}", 503, "provider_unavailable",
          -1, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error(&rows[i]);
}

static void sentences_tell_more(void)
{
    static const struct row rows[] = {
        { "{'error': {'message': 'API key not valid. Pass one.'}}", 400,
          "authentication_failed", -1, false, false },
        { "{'error': {'message': 'api key expired'}}", 400,
          "authentication_failed", -1, false, false },
        { "{'error': {'details': [{'a': 1}, {'reason': 'API_KEY_INVALID'}]}}",
          400, "authentication_failed", -1, false, false },
        { "{'error': {'details': [{'reason': 'API_KEY_EXPIRED'}]}}", 400,
          "authentication_failed", -1, false, false },
        { "{'error': {'message': 'it exceeds the maximum number of tokens'}}",
          400, "context_length_exceeded", -1, false, false },
        { "{'error': {'message': 'The input token count (9) is above'}}", 400,
          "context_length_exceeded", -1, false, false },
        { "{'error': {'message': 'beyond the context window'}}", 400,
          "context_length_exceeded", -1, false, false },
        { "{'error': {'message': 'beyond the context window'}}", 429,
          "rate_limited", -1, false, false },
        { "{'error': {'message': 'Your prepayment credits are depleted.'}}",
          429, "rate_limited", -1, true, false },
        { "{'error': {'message': 'over its spending cap'}}", 429,
          "rate_limited", -1, true, false },
        { "{'error': {'message': 'over its spend cap'}}", 429, "rate_limited",
          -1, true, false },
        { "{'error': {'message': 'over the spending limit'}}", 429,
          "rate_limited", -1, true, false },
        { "{}", 402, "rate_limited", -1, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error(&rows[i]);
}

#define DAILY "{'violations': [{'quotaId': 'A'}, {'quotaId': 'XPerDayY'}]}"
#define DELAY(text) "{'error': {'details': [{'retryDelay': '" text "'}]}}"

static void a_wait_is_never_too_short(void)
{
    static const struct row rows[] = {
        { DELAY("7s"), 429, "rate_limited", 7000, false, false },
        { DELAY("0s"), 429, "rate_limited", 0, false, false },
        { DELAY("45.8s"), 429, "rate_limited", 45800, false, false },
        { DELAY("45.837s"), 429, "rate_limited", 45837, false, false },
        { DELAY("45.837000s"), 429, "rate_limited", 45837, false, false },
        { DELAY("45.837906927s"), 429, "rate_limited", 45838, false, false },
        { DELAY("45.837000001s"), 429, "rate_limited", 45838, false, false },
        { DELAY("0.0001s"), 429, "rate_limited", 1, false, false },
        { DELAY(".5s"), 429, "rate_limited", 500, false, false },
        { DELAY("s"), 429, "rate_limited", -1, false, false },
        { DELAY(".s"), 429, "rate_limited", -1, false, false },
        { DELAY("7"), 429, "rate_limited", -1, false, false },
        { DELAY("1.2.3s"), 429, "rate_limited", -1, false, false },
        { DELAY("-1s"), 429, "rate_limited", -1, false, false },
        { DELAY("99999999999999999999s"), 429, "rate_limited", -1, false,
          false },
        { "{'error': {'details': [" DAILY "]}}", 429, "rate_limited", -1,
          false, true },
        { "{'error': {'details': [" DAILY ", {'retryDelay': '9s'}]}}", 429,
          "rate_limited", 9000, false, false },
        { "{'error': {'details': 'x'}}", 429, "rate_limited", -1, false,
          false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error(&rows[i]);
}

TESTS = {
    TEST(reasons_follow_from_words_and_numbers),
    TEST(sentences_tell_more),
    TEST(a_wait_is_never_too_short),
    TESTS_END,
};
