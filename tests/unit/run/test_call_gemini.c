/* test_call_gemini.c - calls through the dialect of streamGenerateContent */
#include "harness/canned.h"
#include "harness/check.h"

#define CALL(model, words, ...)                                      \
    const struct canned_reply replies[] = { __VA_ARGS__ };           \
    struct canned s = { .reply = replies,                            \
                        .count = sizeof replies / sizeof *replies }; \
    struct clock_manual clock = { .now_ns = 0 };                     \
    CHECK_TEXT(canned_call(&s, model, &clock), words)

#define FRAME(candidate) "{\"candidates\":[{" candidate "}]}"
#define PART(t) FRAME("\"content\":{\"parts\":[{\"text\":\"" t "\"}]}")
#define REASON FRAME("\"finishReason\":\"STOP\"")
#define DATA(frame) "data: " frame "\r\n\r\n"
#define TEXT(t) DATA(PART(t))
#define STOP DATA(REASON)
#define FAULT(code, status, details) \
    "{\"error\":{\"code\":" code ",\"status\":\"" status \
    "\",\"message\":\"no\",\"details\":[" details "]}}"
#define DELAY(t) \
    "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\"," \
    "\"retryDelay\":\"" t "\"}"
#define DAILY \
    "{\"violations\":[{\"quotaId\":\"GenerateRequestsPerDayPerProject\"}]}"

static void asks_and_reads(void)
{
    CALL("gemini:demo", "started text:a text:b text=ab completed:ab/stop ok",
         { .status = 200, .body = TEXT("a") TEXT("b") STOP });
    CHECK_TEXT(s.asked,
               "POST https://generativelanguage.googleapis.com/v1beta/models/"
               "demo:streamGenerateContent?alt=sse|"
               "x-goog-api-key: sk-secret-42|"
               "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]"
               "}]}");
}

static void it_has_two_names(void)
{
    CALL("google:demo", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") STOP });
    CHECK(strstr(s.asked, "x-goog-api-key: sk-secret-42|"));
}

/* The server closes the connection; where it does not, we do. */
static void a_finish_reason_settles_it(void)
{
    CALL(
        "gemini:m", "started text:a text=a completed:a/stop ok",
        { .status = 200, .body = TEXT("a") STOP, .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns > 0 && clock.now_ns < 5000000000);
}

static void a_finish_reason_before_any_text_does_not(void)
{
    CALL("gemini:m", "started error:adapter/timeout ok",
         { .status = 200, .body = STOP, .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns > 5000000000);
}

static void a_break_after_it_is_well(void)
{
    CALL("gemini:m", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") STOP, .ending = SERVER_BREAKS });
}

static void a_break_before_it_keeps_what_came(void)
{
    CALL("gemini:m", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a"), .ending = SERVER_BREAKS });
}

static void waits_as_long_as_the_body_says(void)
{
    CALL("gemini:m", "started text:a text=a completed:a/stop ok",
         { .status = 429,
           .body = FAULT("429", "RESOURCE_EXHAUSTED", DELAY("7.25s")) },
         { .status = 503, .body = "[" FAULT("503", "UNAVAILABLE", "") "]" },
         { .status = 200, .body = TEXT("a") STOP });
    CHECK_INT(s.opened, 3);
    CHECK(clock.now_ns >= 7250000000);
}

static void a_day_is_not_waited_for(void)
{
    CALL("gemini:m", "adapter rate_limited",
         { .status = 429, .body = FAULT("429", "RESOURCE_EXHAUSTED", DAILY) },
         { .status = 200, .body = TEXT("a") STOP });
    CHECK_INT(s.opened, 1);
}

static void but_half_a_minute_is(void)
{
    CALL("gemini:m", "started text:a text=a completed:a/stop ok",
         { .status = 429,
           .body = FAULT("429", "RESOURCE_EXHAUSTED", DAILY "," DELAY("36s")) },
         { .status = 200, .body = TEXT("a") STOP });
    CHECK_INT(s.opened, 2);
}

static void a_wrong_key_is_reported(void)
{
    CALL("gemini:m", "adapter authentication_failed",
         { .status = 400,
           .body = FAULT("400", "INVALID_ARGUMENT",
                         "{\"reason\":\"API_KEY_INVALID\"}") });
}

static void lists_are_read_too(void)
{
    CALL("gemini:m", "started text:a text:b text=ab completed:ab/stop ok",
         { .status = 200,
           .body = "[" PART("a") "\r\n,\r\n" PART("b") "," REASON "]" });
}

TESTS = {
    TEST(asks_and_reads),
    TEST(it_has_two_names),
    TEST(a_finish_reason_settles_it),
    TEST(a_finish_reason_before_any_text_does_not),
    TEST(a_break_after_it_is_well),
    TEST(a_break_before_it_keeps_what_came),
    TEST(waits_as_long_as_the_body_says),
    TEST(a_day_is_not_waited_for),
    TEST(but_half_a_minute_is),
    TEST(a_wrong_key_is_reported),
    TEST(lists_are_read_too),
    TESTS_END,
};
