/* test_retry.c - whether to retry, and when */
#include "engine/retry.h"

#include "harness/noun.h"

/* Randomness that always gives the least: no jitter. */
static bool fill_with_zeros(void *ud, void *bytes, size_t len)
{
    (void)ud;
    memset(bytes, 0, len);
    return true;
}

static struct random least(void)
{
    return (struct random){ fill_with_zeros, NULL };
}

static const allm_error failure = { .size = sizeof failure,
                                    .kind = ALLM_ERR_ADAPTER,
                                    .reason = "rate_limited",
                                    .message = "slow down",
                                    .http_status = ALLM_NUM(429) };

/* ------------------------------------------------------------- policies --- */

static void the_default_is_as_decided(void)
{
    struct retry_policy p = retry_default();
    CHECK_INT(p.max_attempts, 3);
    CHECK_INT(p.base_delay_ms, 500);
    CHECK_INT(p.max_delay_ms, 30000);
    CHECK_INT(p.jitter_ms, 250);
    CHECK(p.respect_retry_after);
    CHECK(!p.retry_on);
}

static void policies_are_read(void)
{
    static const struct {
        const char *why, *json;
        int64_t attempts, base, max, jitter;
        bool respect;
        const char *retry_on;
    } rows[] = {
        { "the word", "'default'", 3, 500, 30000, 250, true, NULL },
        { "nothing", "null", 3, 500, 30000, 250, true, NULL },
        { "an empty list", "[]", 3, 500, 30000, 250, true, NULL },
        { "an empty object", "{}", 3, 500, 30000, 250, true, NULL },
        { "false: no retry", "false", 0, 500, 30000, 250, true, NULL },
        { "pairs", "[['max_attempts', 5]]", 5, 500, 30000, 250, true, NULL },
        { "an object", "{'max_attempts': 5, 'base_delay_ms': 100}", 5, 100,
          30000, 250, true, NULL },
        { "no attempts: no retry", "{'max_attempts': 0}", 0, 500, 30000, 250,
          true, NULL },
        { "one attempt", "{'max_attempts': 1}", 1, 500, 30000, 250, true,
          NULL },
        { "all six",
          "[['max_attempts', 9], ['base_delay_ms', 1], ['max_delay_ms', 2],"
          " ['jitter_ms', 0], ['respect_retry_after', false],"
          " ['retry_on', [429, 'timeout']]]",
          9, 1, 2, 0, false, "[429,'timeout']" },
        { "nothing to retry on", "{'retry_on': []}", 3, 500, 30000, 250, true,
          "[]" },
        { "very large", "{'max_delay_ms': 9223372036854775807}", 3, 500,
          INT64_MAX, 250, true, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct retry_policy p;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        allm_json *json = noun_json(rows[i].json);
        CHECK_WELL(retry_policy_read(&p, json, &a));
        CHECK_INT(p.max_attempts, rows[i].attempts);
        CHECK_INT(p.base_delay_ms, rows[i].base);
        CHECK_INT(p.max_delay_ms, rows[i].max);
        CHECK_INT(p.jitter_ms, rows[i].jitter);
        CHECK_INT(p.respect_retry_after, rows[i].respect);
        CHECK_VALUE(p.retry_on, rows[i].retry_on);
        allm_json_free(json);
        arena_release(&a);
    }
}

static void bad_policies_are_refused(void)
{
    static const struct {
        const char *why, *json, *words;
    } rows[] = {
        { "true", "true", "\"default\", false" },
        { "a number", "3", "\"default\", false" },
        { "another word", "'never'", "\"default\", false" },
        { "a list of words", "['max_attempts']", "[key, value]" },
        { "a pair of three", "[['max_attempts', 1, 2]]", "[key, value]" },
        { "a key that is no text", "[[1, 2]]", "[key, value]" },
        { "a misspelt key", "{'max_atempts': 3}",
          "no key \"max_atempts\"; it has max_attempts, base_delay_ms, "
          "max_delay_ms, retry_on, jitter_ms and respect_retry_after" },
        { "a misspelt key in pairs", "[['delay', 3]]", "no key \"delay\"" },
        { "attempts below 0", "{'max_attempts': -1}", "0 or more" },
        { "half an attempt", "{'max_attempts': 1.5}", "max_attempts" },
        { "a text for a number", "{'max_attempts': '3'}", "max_attempts" },
        { "null for a number", "{'max_attempts': null}", "max_attempts" },
        { "beyond int64_t", "{'max_attempts': 9223372036854775808}",
          "max_attempts" },
        { "a delay below 0", "{'base_delay_ms': -5}", "milliseconds" },
        { "a delay that is no number", "{'max_delay_ms': true}",
          "milliseconds" },
        { "jitter below 0", "{'jitter_ms': -1}", "milliseconds" },
        { "1 for true", "{'respect_retry_after': 1}", "true or false" },
        { "one status", "{'retry_on': 429}", "a list of HTTP statuses" },
        { "no status", "{'retry_on': [99]}", "a list of HTTP statuses" },
        { "...nor this", "{'retry_on': [600]}", "a list of HTTP statuses" },
        { "half a status", "{'retry_on': [429.5]}", "HTTP statuses" },
        { "an empty word", "{'retry_on': ['']}", "HTTP statuses" },
        { "a list in the list", "{'retry_on': [[429]]}", "HTTP statuses" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct retry_policy p;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        allm_json *json = noun_json(rows[i].json);
        if (json)
            CHECK_MISUSE(retry_policy_read(&p, json, &a), "invalid_retry",
                         rows[i].words);
        allm_json_free(json);
        arena_release(&a);
    }
}

static void no_policy_is_the_default(void)
{
    struct arena a;
    struct retry_policy p;
    arena_init(&a, mem_default());
    CHECK_WELL(retry_policy_read(&p, NULL, &a));
    CHECK_INT(p.max_attempts, 3);
    arena_release(&a);
}

/* ------------------------------------------------------------- matching --- */

static void the_default_matches_what_passes(void)
{
    static const struct {
        const char *why;
        int64_t status;         /* 0: no answer arrived */
        const char *reason;
        bool matches;
    } rows[] = {
        { "request timeout", 408, "timeout", true },
        { "conflict", 409, "invalid_request", true },
        { "too many", 429, "rate_limited", true },
        { "server error", 500, "provider_unavailable", true },
        { "bad gateway", 502, "provider_unavailable", true },
        { "unavailable", 503, "provider_unavailable", true },
        { "gateway timeout", 504, "provider_unavailable", true },
        { "overloaded", 529, "provider_unavailable", true },
        { "our deadline", 0, "timeout", true },
        { "no connection", 0, "network_error", true },
        { "bad request", 400, "invalid_request", false },
        { "bad key", 401, "authentication_failed", false },
        { "not allowed", 403, "authentication_failed", false },
        { "not found", 404, "invalid_request", false },
        { "not implemented", 501, "provider_unavailable", false },
        { "too long", 400, "context_length_exceeded", false },
        { "not JSON", 200, "malformed_response", false },
        { "who knows", 0, "unknown", false },
        { "the word alone is not the status", 0, "rate_limited", false },
        { "too long stays too long", 500, "context_length_exceeded", false },
    };
    struct retry_policy p = retry_default();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_error e = failure;
        int64_t delay = -1;
        check_row(rows[i].why);
        e.reason = rows[i].reason;
        e.http_status = (allm_int){ rows[i].status, rows[i].status != 0 };
        CHECK_INT(retry_matches(&p, &e), rows[i].matches);
        CHECK_INT(retry_decide(&p, 1, &e, least(), &delay), rows[i].matches);
        CHECK_INT(delay, rows[i].matches ? 500 : -1);
    }
}

static void a_list_replaces_the_default(void)
{
    static const struct {
        const char *list;
        int64_t status;
        const char *reason;
        bool matches;
    } rows[] = {
        { "[429, 500, 'timeout']", 429, "rate_limited", true },
        { "[429, 500, 'timeout']", 400, "invalid_request", false },
        { "[429, 500, 'timeout']", 0, "timeout", true },
        { "[429, 500, 'timeout']", 503, "provider_unavailable", false },
        { "[404]", 404, "invalid_request", true },
        { "[404]", 0, "timeout", false },
        { "['rate_limited']", 429, "rate_limited", true },
        { "['rate_limited']", 0, "rate_limited", true },
        { "['429']", 429, "rate_limited", false },
        { "['a word of a later version']", 0, "a word of a later version",
          true },
        { "[]", 429, "rate_limited", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_policy p = retry_default();
        allm_error e = failure;
        check_row(rows[i].list);
        allm_json *list = noun_json(rows[i].list);
        p.retry_on = list;
        e.reason = rows[i].reason;
        e.http_status = (allm_int){ rows[i].status, rows[i].status != 0 };
        if (list)
            CHECK_INT(retry_matches(&p, &e), rows[i].matches);
        allm_json_free(list);
    }
}

/* ------------------------------------------------------------- deciding --- */

static void some_errors_are_final(void)
{
    static const struct {
        const char *why;
        allm_status kind;
        int64_t status;
        const char *metadata;
        bool again;
    } rows[] = {
        { "a provider's", ALLM_ERR_ADAPTER, 429, "{}", true },
        { "an image provider's", ALLM_ERR_IMAGE, 429, "{}", true },
        { "money is missing", ALLM_ERR_ADAPTER, 429, "{'billing': true}",
          false },
        { "money is not missing", ALLM_ERR_ADAPTER, 429, "{'billing': false}",
          true },
        { "payment required", ALLM_ERR_ADAPTER, 402, "{}", false },
        { "scripted", ALLM_ERR_ADAPTER, 429, "{'final': true}", false },
        { "a stream's", ALLM_ERR_STREAM, 429, "{}", false },
        { "an engine's", ALLM_ERR_ENGINE, 429, "{}", false },
        { "a validator's", ALLM_ERR_VALIDATION, 429, "{}", false },
        { "a tool's", ALLM_ERR_TOOL, 429, "{}", false },
        { "a session's", ALLM_ERR_SESSION, 429, "{}", false },
        { "the caller's", ALLM_ERR_MISUSE, 429, "{}", false },
        { "no memory", ALLM_ERR_NOMEM, 429, "{}", false },
    };
    allm_json *list = noun_json("[402, 429]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_policy p = retry_default();
        allm_error e = failure;
        int64_t delay;
        check_row(rows[i].why);
        allm_json *metadata = noun_json(rows[i].metadata);
        p.retry_on = list;
        e.kind = rows[i].kind;
        e.http_status.value = rows[i].status;
        e.metadata = metadata;
        if (list && metadata)
            CHECK_INT(retry_decide(&p, 1, &e, least(), &delay), rows[i].again);
        allm_json_free(metadata);
    }
    allm_json_free(list);
}

static void attempts_are_counted(void)
{
    static const struct {
        int64_t max, attempt;
        bool again;
    } rows[] = {
        { 3, 1, true },  { 3, 2, true },  { 3, 3, false }, { 3, 4, false },
        { 1, 1, false }, { 0, 1, false }, { 2, 1, true },  { 2, 2, false },
        { INT64_MAX, 1000000, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_policy p = retry_default();
        int64_t delay = -1;
        p.max_attempts = rows[i].max;
        CHECK_INT(retry_decide(&p, rows[i].attempt, &failure, least(), &delay),
                  rows[i].again);
    }
    struct retry_policy p = retry_default();
    int64_t delay = -1;
    CHECK(!retry_decide(&p, 1, NULL, least(), &delay));
    CHECK_INT(delay, -1);
}

static void delays_double_up_to_their_limit(void)
{
    static const struct {
        const char *why;
        int64_t base, max, attempt, delay;
    } rows[] = {
        { "the first", 500, 30000, 1, 500 },
        { "the second", 500, 30000, 2, 1000 },
        { "the sixth", 500, 30000, 6, 16000 },
        { "the limit", 500, 30000, 7, 30000 },
        { "for ever", 500, 30000, 1000000, 30000 },
        { "a limit below the base", 500, 100, 1, 100 },
        { "no delay", 0, 30000, 5, 0 },
        { "no limit above 0", 500, 0, 5, 0 },
        { "never longer than a year", 1, INT64_MAX, 1000, RETRY_LONGEST_MS },
        { "from the first", INT64_MAX, INT64_MAX, 2, RETRY_LONGEST_MS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_policy p = { .max_attempts = INT64_MAX,
                                  .base_delay_ms = rows[i].base,
                                  .max_delay_ms = rows[i].max };
        int64_t delay = -1;
        check_row(rows[i].why);
        CHECK(retry_decide(&p, rows[i].attempt, &failure, least(), &delay));
        CHECK_INT(delay, rows[i].delay);
    }
}

static void the_provider_may_say_when(void)
{
    static const struct {
        const char *why;
        bool respect, set;
        int64_t after, delay;   /* -1: not again */
    } rows[] = {
        { "he did not", true, false, 0, 500 },
        { "sooner than we would", true, true, 20, 20 },
        { "later than we would", true, true, 45000, 45000 },
        { "as late as we wait", true, true, 60000, 60000 },
        { "later: the caller may wait", true, true, 60001, -1 },
        { "much later", true, true, INT64_MAX, -1 },
        { "at once says nothing", true, true, 0, 500 },
        { "nonsense", true, true, -5, 500 },
        { "we do not listen", false, true, 45000, 500 },
        { "not to anything", false, true, INT64_MAX, 500 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_policy p = retry_default();
        allm_error e = failure;
        int64_t delay = -1;
        check_row(rows[i].why);
        p.respect_retry_after = rows[i].respect;
        e.retry_after_ms = (allm_int){ rows[i].after, rows[i].set };
        bool again = retry_decide(&p, 1, &e, least(), &delay);
        CHECK_INT(again, rows[i].delay >= 0);
        CHECK_INT(delay, rows[i].delay);
    }
}

/* Over random policies: in [backoff, backoff + jitter], or the same of what
 * the provider said. */
static void delays_keep_within_their_bounds(void)
{
    struct random r = check_random();
    for (int i = 0; i < 20000; i++) {
        struct retry_policy p = {
            .max_attempts = 1 + (int64_t)random_below(r, 20),
            .base_delay_ms = (int64_t)random_below(r, 2000),
            .max_delay_ms = (int64_t)random_below(r, 60000),
            .jitter_ms = (int64_t)random_below(r, 1000),
            .respect_retry_after = random_below(r, 2) == 0,
        };
        allm_error e = failure;
        int64_t attempt = 1 + (int64_t)random_below(r, 20), delay = -1;
        e.retry_after_ms = (allm_int){ (int64_t)random_below(r, 70000),
                                       random_below(r, 2) == 0 };
        bool told = p.respect_retry_after && e.retry_after_ms.set &&
                    e.retry_after_ms.value > 0;
        int64_t from = told ? e.retry_after_ms.value : p.base_delay_ms;
        for (int64_t k = 1; !told && k < attempt && from < 100000; k++)
            from *= 2;
        if (!told && from > p.max_delay_ms)
            from = p.max_delay_ms;
        bool again = retry_decide(&p, attempt, &e, r, &delay);
        CHECK_INT(again, attempt < p.max_attempts && !(told && from > 60000));
        if (again)
            CHECK(delay >= from && delay <= from + p.jitter_ms);
    }
}

/* Every value of the jitter comes, both ends included. */
static void jitter_is_whole(void)
{
    struct retry_policy p = retry_default();
    struct random r = check_random();
    int seen[4] = { 0 };
    p.base_delay_ms = 0;
    p.jitter_ms = 3;
    for (int i = 0; i < 400; i++) {
        int64_t delay = -1;
        retry_decide(&p, 1, &failure, r, &delay);
        CHECK(delay >= 0 && delay <= 3);
        if (delay >= 0 && delay <= 3)
            seen[delay]++;
    }
    CHECK(seen[0] && seen[1] && seen[2] && seen[3]);
    p.jitter_ms = INT64_MAX;
    for (int i = 0; i < 100; i++) {
        int64_t delay = -1;
        retry_decide(&p, 1, &failure, r, &delay);
        CHECK(delay >= 0 && delay <= RETRY_LONGEST_MS);
    }
}

TESTS = {
    TEST(the_default_is_as_decided),
    TEST(policies_are_read),
    TEST(bad_policies_are_refused),
    TEST(no_policy_is_the_default),
    TEST(the_default_matches_what_passes),
    TEST(a_list_replaces_the_default),
    TEST(some_errors_are_final),
    TEST(attempts_are_counted),
    TEST(delays_double_up_to_their_limit),
    TEST(the_provider_may_say_when),
    TEST_ONCE(delays_keep_within_their_bounds),
    TEST_ONCE(jitter_is_whole),
    TESTS_END
};
