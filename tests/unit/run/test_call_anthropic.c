/* test_call_anthropic.c - calls through the dialect of /v1/messages */
#include "harness/canned.h"
#include "harness/check.h"

#define CALL(model, words, ...)                                      \
    const struct canned_reply replies[] = { __VA_ARGS__ };           \
    struct canned s = { .reply = replies,                            \
                        .count = sizeof replies / sizeof *replies }; \
    struct clock_manual clock = { .now_ns = 0 };                     \
    CHECK_TEXT(canned_call(&s, model, &clock), words)

#define TEXT(t) \
    "event: content_block_delta\n" \
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" \
    "{\"type\":\"text_delta\",\"text\":\"" t "\"}}\n\n"
#define REASON \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":" \
    "\"end_turn\"}}\n\n"
#define PING "event: ping\ndata: {\"type\":\"ping\"}\n\n"
#define STOP "data: {\"type\":\"message_stop\"}\n\n"
#define FAULT(type, message) \
    "{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"" \
    message "\"}}"

static void asks_and_reads(void)
{
    CALL("anthropic:demo", "started text:a text:b text=ab completed:ab/stop ok",
         { .status = 200, .body = PING TEXT("a") TEXT("b") REASON STOP });
    CHECK_TEXT(s.asked,
               "POST https://api.anthropic.com/v1/messages|"
               "x-api-key: sk-secret-42|"
               "{\"model\":\"demo\",\"max_tokens\":1024,\"stream\":true,"
               "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
               "\"text\",\"text\":\"hi\"}]}]}");
}

static void a_row_may_have_another_header(void)
{
    CALL("openrouter_anthropic:m", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") REASON STOP });
    CHECK(!strncmp(s.asked,
                   "POST https://openrouter.ai/api/v1/messages|"
                   "authorization: Bearer sk-secret-42|",
                   78));
}

/* Nothing waits for a socket that stays open behind the end. */
static void the_end_is_the_end(void)
{
    CALL("anthropic:m", "started text:a text=a completed:a/stop ok",
         { .status = 200,
           .body = TEXT("a") REASON STOP,
           .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns == 0);
}

/* A proxy that loses message_stop and goes on with pings. */
static void a_stop_reason_settles_it(void)
{
    CALL("anthropic:m", "started text:a text=a completed:a/stop ok",
         { .status = 200,
           .body = TEXT("a") REASON PING PING,
           .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns > 0 && clock.now_ns < 5000000000);
}

static void silence_behind_pings_is_too_long(void)
{
    CALL("anthropic:m", "started text:a error:adapter/timeout ok",
         { .status = 200,
           .body = TEXT("a") PING PING,
           .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns > 0);
}

static void a_break_after_the_stop_reason_is_well(void)
{
    CALL("anthropic:m", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") REASON, .ending = SERVER_BREAKS });
}

static void a_break_before_it_keeps_what_came(void)
{
    CALL("anthropic:m", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a"), .ending = SERVER_BREAKS });
}

static void tries_again_when_overloaded(void)
{
    CALL("anthropic:m", "started text:a text=a completed:a/stop ok",
         { .status = 529, .body = FAULT("overloaded_error", "Overloaded") },
         { .status = 429,
           .body = FAULT("rate_limit_error", "slow down"),
           .header = { "retry-after", "3" } },
         { .status = 200, .body = TEXT("a") REASON STOP });
    CHECK_INT(s.opened, 3);
    CHECK(clock.now_ns >= 3000000000);
}

static void money_is_not_waited_for(void)
{
    CALL("anthropic:m", "adapter rate_limited",
         { .status = 402, .body = FAULT("billing_error", "pay first") },
         { .status = 200, .body = TEXT("a") REASON STOP });
    CHECK_INT(s.opened, 1);
}

static void an_error_names_the_exchange(void)
{
    CALL("anthropic:m", "adapter authentication_failed",
         { .status = 401,
           .body = FAULT("authentication_error", "bad key"),
           .header = { "request-id", "req_7" } });
    CHECK_TEXT(s.error_id, "req_7");
}

static void an_answer_names_its_exchange_too(void)
{
    CALL("anthropic:m", "started text:a text=a completed:a/stop ok",
         { .status = 200,
           .body = TEXT("a") REASON STOP,
           .header = { "Request-Id", "req_8 sk-secret-42" } });
    CHECK_TEXT(s.metadata, "{\"anthropic_request_id\":\"req_8 [REDACTED]\"}");
}

static void documents_are_read_too(void)
{
    CALL("anthropic:m", "started text:a text=a completed:a/length ok",
         { .status = 200,
           .body = "\n \n{\"type\":\"message\",\"content\":[{\"type\":\"text\","
                   "\"text\":\"a\"}],\"stop_reason\":\"max_tokens\"}" });
}

TESTS = {
    TEST(asks_and_reads),
    TEST(a_row_may_have_another_header),
    TEST(the_end_is_the_end),
    TEST(a_stop_reason_settles_it),
    TEST(silence_behind_pings_is_too_long),
    TEST(a_break_after_the_stop_reason_is_well),
    TEST(a_break_before_it_keeps_what_came),
    TEST(tries_again_when_overloaded),
    TEST(money_is_not_waited_for),
    TEST(an_error_names_the_exchange),
    TEST(an_answer_names_its_exchange_too),
    TEST(documents_are_read_too),
    TESTS_END,
};
