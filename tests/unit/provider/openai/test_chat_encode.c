/*
 * test_chat_encode.c - the provider accepts every conversation
 */
#include "provider/openai/chat_encode.h"

#include "harness/check.h"
#include "harness/talks.h"
#include "provider/dialects.h"
#include "provider/quirks.h"
#include "json/json.h"

/* -------------------------------------------------------- conversations --- */

static const char *const states[] = {
    "null",
    "{\"provider\":\"p\",\"model\":\"m\",\"reasoning_content\":\"own\"}",
    "{\"provider\":\"p\",\"model\":\"n\",\"reasoning_content\":\"foreign\","
    "\"reasoning_details\":[{\"foreign\":1}]}",
    "{\"provider\":\"openai\",\"model\":\"m\",\"output\":[{\"type\":"
    "\"reasoning\",\"encrypted_content\":\"foreign\"}]}",
    NULL,
};

/* ------------------------------------------------------------- legality --- */

static const char *text_at(const allm_json *v, const char *key)
{
    const char *text = allm_json_text(allm_json_get(v, key), NULL);
    return text ? text : "";
}

static bool is_id(const struct talks *t, const char *id)
{
    size_t n = strlen(id);
    if (t->quirks & CHAT_SHORT_IDS)
        return n == 9 && strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM"
                                    "NOPQRSTUVWXYZ0123456789") == n;
    return n > 0 && (!(t->quirks & CHAT_LIMITED_IDS) || n <= 40);
}

static size_t calls_with(const allm_json *messages, const char *id)
{
    size_t n = 0;
    for (const allm_json *m = NULL; (m = allm_json_next(messages, m));) {
        const allm_json *calls = allm_json_get(m, "tool_calls");
        for (const allm_json *c = NULL; (c = allm_json_next(calls, c));)
            n += !strcmp(text_at(c, "id"), id);
    }
    return n;
}

/* The results follow the calls directly, each with its own id. */
static const allm_json *check_results(const struct talks *t,
                                      const allm_json *messages,
                                      const allm_json *m)
{
    const allm_json *calls = allm_json_get(m, "tool_calls");
    for (const allm_json *c = NULL; (c = allm_json_next(calls, c));) {
        const char *id = text_at(c, "id");
        m = allm_json_next(messages, m);
        CHECK(is_id(t, id));
        CHECK(calls_with(messages, id) == 1);
        CHECK(json_is(allm_json_get(m, "role"), "tool"));
        CHECK_TEXT(text_at(m, "tool_call_id"), id);
    }
    return m;
}

static void check_talk(const struct talks *t, const allm_request *r,
                       struct arena *a)
{
    struct slice bytes;
    const allm_json *sent = talks_encode(t, t->model, t->adapter, "messages", r,
                                         a, &bytes);
    CHECK(!strstr(bytes.ptr, "foreign"));
    for (const allm_json *m = NULL; (m = allm_json_next(sent, m));) {
        CHECK(!json_is(allm_json_get(m, "role"), "tool"));
        m = check_results(t, sent, m);
        if (!m)
            return;
    }
}

/* ---------------------------------------------------------------- tests --- */

#define MESSAGES_TAIL \
    "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"," \
    "\"description\":\"d\",\"parameters\":{\"type\":\"object\"," \
    "\"properties\":{}}}}],\"stream\":true,\"stream_options\":" \
    "{\"include_usage\":true}}"

#define TALKS(bits) \
    { .provider = "p", \
      .model = "m", \
      .states = states, \
      .adapter = &openai_chat_adapter, \
      .quirks = (bits), \
      .tail = sizeof MESSAGES_TAIL - 1, \
      .check = check_talk }

static const struct talks servers[] = {
    TALKS(0),
    TALKS(CHAT_SHORT_IDS),
    TALKS(CHAT_LIMITED_IDS),
};

enum { SERVERS = sizeof servers / sizeof *servers };

static void every_conversation_is_legal(void)
{
    for (size_t i = 0; i < SERVERS; i++)
        talks_check_many(&servers[i]);
}

static void one_conversation_is_legal(void)
{
    for (size_t i = 0; i < SERVERS; i++)
        talks_check_one(&servers[i]);
}

static void longer_ones_begin_like_shorter_ones(void)
{
    for (size_t i = 0; i < SERVERS; i++)
        talks_prefix_many(&servers[i]);
}

static void one_begins_like_a_shorter_one(void)
{
    for (size_t i = 0; i < SERVERS; i++)
        talks_prefix_one(&servers[i]);
}

TESTS = {
    TEST_ONCE(every_conversation_is_legal),
    TEST_ONCE(longer_ones_begin_like_shorter_ones),
    TEST(one_conversation_is_legal),
    TEST(one_begins_like_a_shorter_one),
    TESTS_END,
};
