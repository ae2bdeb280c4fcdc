/* test_call_openai_responses.c - calls through the dialect of /responses */
#include "harness/canned.h"
#include "harness/check.h"

#define CALL_OPTS(model, words, opts, ...)                           \
    const struct canned_reply replies[] = { __VA_ARGS__ };           \
    struct canned s = { .reply = replies,                            \
                        .count = sizeof replies / sizeof *replies,   \
                        .adapter_opts = (opts) };                    \
    struct clock_manual clock = { .now_ns = 0 };                     \
    CHECK_TEXT(canned_call(&s, model, &clock), words)

#define CALL(model, words, ...) CALL_OPTS(model, words, NULL, __VA_ARGS__)

#define TEXT(t) \
    "event: response.output_text.delta\n" \
    "data: {\"type\":\"response.output_text.delta\",\"output_index\":0," \
    "\"content_index\":0,\"delta\":\"" t "\"}\n\n"
#define KEEPALIVE "data: {\"type\":\"keepalive\"}\n\n"
#define END \
    "data: {\"type\":\"response.completed\",\"response\":{\"status\":" \
    "\"completed\"}}\n\n"
#define CHAT \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}," \
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
#define SAID "started text:a text=a completed:a/stop ok"

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static void asks_and_reads(void)
{
    CALL("openai:gpt-5", "started text:a text:b text=ab completed:ab/stop ok",
         { .status = 200, .body = KEEPALIVE TEXT("a") TEXT("b") END });
    CHECK_TEXT(s.asked,
               "POST https://api.openai.com/v1/responses|"
               "authorization: Bearer sk-secret-42|"
               "{\"model\":\"gpt-5\",\"store\":false,\"include\":"
               "[\"reasoning.encrypted_content\"],\"stream\":true,\"input\":"
               "[{\"role\":\"user\",\"content\":\"hi\"}]}");
}

static void other_models_use_the_chat_endpoint(void)
{
    CALL("openai:gpt-4.1", SAID, { .status = 200, .body = CHAT });
    CHECK(begins(s.asked, "POST https://api.openai.com/v1/chat/completions|"
                          "authorization: Bearer sk-secret-42|"));
}

static void the_caller_may_choose_chat(void)
{
    CALL_OPTS("openai:gpt-5", SAID, "{\"api\":\"chat\"}",
              { .status = 200, .body = CHAT });
    CHECK(begins(s.asked, "POST https://api.openai.com/v1/chat/completions|"));
    CHECK(!strstr(s.asked, "\"api\""));
}

static void the_caller_may_choose_responses(void)
{
    CALL_OPTS("xai:grok-4", SAID, "{\"api\":\"responses\"}",
              { .status = 200, .body = TEXT("a") END });
    CHECK(begins(s.asked, "POST https://api.x.ai/v1/responses|"
                          "authorization: Bearer sk-secret-42|"));
    CHECK(!strstr(s.asked, "\"api\""));
}

static void another_word_is_refused(void)
{
    CALL_OPTS("openai:gpt-5", "misuse invalid_option", "{\"api\":\"soap\"}",
              { .status = 200, .body = CHAT });
    CHECK_INT(s.opened, 0);
}

static void azure_has_its_own_header(void)
{
    CALL_OPTS("azure:mine", SAID,
              "{\"api\":\"responses\",\"base_url\":\"https://r.azure.com\"}",
              { .status = 200, .body = TEXT("a") END });
    CHECK(begins(s.asked, "POST https://r.azure.com/openai/v1/responses|"
                          "api-key: sk-secret-42|"));
}

/* Nothing waits for a socket that stays open behind the end. */
static void the_end_is_the_end(void)
{
    CALL("openai:o3", SAID,
         { .status = 200, .body = TEXT("a") END, .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns == 0);
}

static void silence_behind_keepalives_is_too_long(void)
{
    CALL("openai:o3", "started text:a error:adapter/timeout ok",
         { .status = 200,
           .body = TEXT("a") KEEPALIVE KEEPALIVE,
           .ending = SERVER_STAYS_OPEN });
    CHECK(clock.now_ns > 0);
}

static void a_break_keeps_what_came(void)
{
    CALL("openai:o3", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a"), .ending = SERVER_BREAKS });
}

static void retries_when_requested(void)
{
    CALL("openai:o3", SAID,
         { .status = 429,
           .body = "{\"error\":{\"message\":\"slow\",\"code\":"
                   "\"rate_limit_exceeded\"}}",
           .header = { "retry-after", "3" } },
         { .status = 200, .body = TEXT("a") END });
    CHECK_INT(s.opened, 2);
    CHECK(clock.now_ns >= 3000000000);
}

static void documents_are_read_too(void)
{
    CALL("openai:o3", "started text:a text=a completed:a/length ok",
         { .status = 200,
           .body = "\n \n{\"status\":\"incomplete\",\"incomplete_details\":"
                   "{\"reason\":\"max_output_tokens\"},\"output\":[{\"type\":"
                   "\"message\",\"content\":[{\"type\":\"output_text\","
                   "\"text\":\"a\"}]}]}" });
}

TESTS = {
    TEST(asks_and_reads),
    TEST(other_models_use_the_chat_endpoint),
    TEST(the_caller_may_choose_chat),
    TEST(the_caller_may_choose_responses),
    TEST(another_word_is_refused),
    TEST(azure_has_its_own_header),
    TEST(the_end_is_the_end),
    TEST(silence_behind_keepalives_is_too_long),
    TEST(a_break_keeps_what_came),
    TEST(retries_when_requested),
    TEST(documents_are_read_too),
    TESTS_END,
};
