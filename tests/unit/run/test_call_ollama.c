/* test_call_ollama.c - calls through the dialect of /api/chat */
#include "harness/canned.h"
#include "harness/check.h"
#include "harness/play.h"

#define CALL(model, words, ...)                                      \
    const struct canned_reply replies[] = { __VA_ARGS__ };           \
    struct canned s = { .reply = replies,                            \
                        .count = sizeof replies / sizeof *replies }; \
    struct clock_manual clock = { .now_ns = 0 };                     \
    CHECK_TEXT(canned_call(&s, model, &clock), words)

#define TEXT(t) "{\"message\":{\"content\":\"" t "\"},\"done\":false}\n"
#define DONE \
    "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"
#define FINE "started text:a text=a completed:a/stop ok"

static void asks_and_reads(void)
{
    CALL("ollama:llama3:8b",
         "started text:a text:b text=ab completed:ab/stop ok",
         { .status = 200, .body = TEXT("a") TEXT("") "\r\n" TEXT("b") DONE });
    CHECK_TEXT(s.asked, "POST http://localhost:11434/api/chat|"
                        "authorization: Bearer sk-secret-42|"
                        "{\"model\":\"llama3:8b\",\"messages\":[{\"role\":"
                        "\"user\",\"content\":\"hi\"}],\"stream\":true}");
}

static const char *variable(void *ud, const char *name)
{
    return !strcmp(name, "OLLAMA_HOST") ? ud : NULL;
}

static void needs_no_key_and_knows_its_variable(void)
{
    static char host[] = "0.0.0.0:8080";
    const struct canned_reply reply = { .status = 200,
                                        .body = TEXT("a") DONE };
    struct clock_manual clock = { .now_ns = 0 };
    allm_keys *keys =
        allm_keys_new(ALLM(keys_opts, .env = variable, .env_ud = host));
    struct canned s = { .reply = &reply,
                        .count = 1,
                        .keys = keys,
                        .no_key = true };
    CHECK_TEXT(canned_call(&s, "ollama:m", &clock), FINE);
    CHECK(!strncmp(s.asked, "POST http://127.0.0.1:8080/api/chat|: |", 39));
    allm_keys_free(keys);
}

/* Nothing waits for a socket that stays open behind the end, or breaks. */
static void the_end_is_the_end(void)
{
    CALL(
        "ollama:m", FINE,
        { .status = 200, .body = TEXT("a") DONE, .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns == 0);
}

static void a_break_after_the_end_is_well(void)
{
    CALL("ollama:m", FINE,
         { .status = 200, .body = TEXT("a") DONE, .ending = SERVER_BREAKS });
}

static void a_break_before_it_keeps_what_came(void)
{
    CALL("ollama:m", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a"), .ending = SERVER_BREAKS });
}

static void an_end_without_done_is_a_break(void)
{
    CALL("ollama:m", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a") });
}

static void a_line_may_be_cut(void)
{
    CALL("ollama:m", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a") "{\"message\":{\"cont" });
}

static void an_error_comes_under_any_status(void)
{
    CALL("ollama:m", "started text:a error:adapter/provider_unavailable ok",
         { .status = 200, .body = TEXT("a") "{\"error\":\"out of memory\"}" });
}

static void tries_again_when_busy(void)
{
    CALL("ollama:m", FINE,
         { .status = 503, .body = "{\"error\":\"server busy\"}" },
         { .status = 500, .body = "{\"error\":\"runner stopped\"}" },
         { .status = 200, .body = TEXT("a") DONE });
    CHECK_INT(s.opened, 3);
}

static void a_model_that_is_not_there_is_not_waited_for(void)
{
    CALL("ollama:m", "adapter invalid_request",
         { .status = 404, .body = "{\"error\":\"model 'm' not found\"}" },
         { .status = 200, .body = TEXT("a") DONE });
    CHECK_INT(s.opened, 1);
}

/* A model may have to be loaded first; afterwards silence is silence. */
static void waits_long_for_the_first_word_only(void)
{
    CALL("ollama:m", "error:adapter/timeout ok",
         { .status = 200, .body = "\n", .ending = SERVER_STAYS_OPEN });
    CHECK_INT(clock.now_ns / 1000000000, 600);
}

static void waits_as_usual_for_the_next(void)
{
    CALL("ollama:m", "started text:a error:adapter/timeout ok",
         { .status = 200, .body = TEXT("a"), .ending = SERVER_STAYS_OPEN });
    CHECK_INT(clock.now_ns / 1000000000, 120);
}

TESTS = {
    TEST(asks_and_reads),
    TEST(needs_no_key_and_knows_its_variable),
    TEST(the_end_is_the_end),
    TEST(a_break_after_the_end_is_well),
    TEST(a_break_before_it_keeps_what_came),
    TEST(an_end_without_done_is_a_break),
    TEST(a_line_may_be_cut),
    TEST(an_error_comes_under_any_status),
    TEST(tries_again_when_busy),
    TEST(a_model_that_is_not_there_is_not_waited_for),
    TEST(waits_long_for_the_first_word_only),
    TEST(waits_as_usual_for_the_next),
    TESTS_END,
};
