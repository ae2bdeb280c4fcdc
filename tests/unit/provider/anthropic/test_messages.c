/*
 * test_messages.c - the provider accepts every conversation
 */
#include "provider/anthropic/messages.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/talks.h"
#include "provider/dialects.h"
#include "json/json.h"

/* -------------------------------------------------------- conversations --- */

static const char *const states[] = {
    "null",
    "{\"provider\":\"anthropic\",\"model\":\"m\",\"content\":[{\"type\":"
    "\"thinking\",\"thinking\":\"t\",\"signature\":\"own\"},{\"type\":"
    "\"text\",\"bytes\":2}]}",
    "{\"provider\":\"anthropic\",\"model\":\"n\",\"content\":[{\"type\":"
    "\"thinking\",\"thinking\":\"t\",\"signature\":\"foreign\"}]}",
    "{\"provider\":\"deepseek\",\"model\":\"m\",\"reasoning_content\":"
    "\"foreign\",\"reasoning_details\":[{\"foreign\":1}]}",
    NULL,
};

/* ------------------------------------------------------------- legality --- */

static bool is_blank(struct slice s)
{
    while (s.len && strchr(" \n", *s.ptr))
        s = slice_skip(s, 1);
    return !s.len;
}

static bool is_id(const char *id)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                          "YZ0123456789_-");
    return n && !id[n];
}

/* Text that names its position. */
static const char *text_at(const allm_json *v, const char *key)
{
    const char *text = allm_json_text(allm_json_get(v, key), NULL);
    return text ? text : "";
}

static const allm_json *content_of(const allm_json *messages, size_t i)
{
    return allm_json_get(allm_json_at(messages, i), "content");
}

/* How often a call has this id, in the whole conversation. */
static size_t uses(const allm_json *messages, const char *id)
{
    size_t n = 0;
    for (size_t i = 0; i < allm_json_count(messages); i++) {
        const allm_json *content = content_of(messages, i);
        for (const allm_json *b = NULL; (b = allm_json_next(content, b));)
            n += json_is(allm_json_get(b, "type"), "tool_use") &&
                 !strcmp(text_at(b, "id"), id);
    }
    return n;
}

/* The results at the beginning of a message answer the calls before it. */
static void check_calls(const allm_json *messages, size_t i)
{
    size_t k = 0;
    const allm_json *asked = content_of(messages, i);
    const allm_json *answer = content_of(messages, i + 1);
    for (const allm_json *b = NULL; (b = allm_json_next(asked, b));) {
        if (!json_is(allm_json_get(b, "type"), "tool_use"))
            continue;
        const allm_json *result = allm_json_at(answer, k++);
        CHECK(is_id(text_at(b, "id")));
        CHECK(uses(messages, text_at(b, "id")) == 1);
        CHECK(json_is(allm_json_get(result, "type"), "tool_result"));
        CHECK_TEXT(text_at(result, "tool_use_id"), text_at(b, "id"));
    }
    for (; k < allm_json_count(answer); k++)
        CHECK(!json_is(allm_json_get(allm_json_at(answer, k), "type"),
                       "tool_result"));
}

static void check_legal(const allm_json *messages, struct slice bytes)
{
    size_t n = allm_json_count(messages);
    CHECK(!strstr(bytes.ptr, "foreign"));
    for (size_t i = 0; i < n; i++) {
        const allm_json *role = allm_json_get(allm_json_at(messages, i),
                                              "role");
        const allm_json *content = content_of(messages, i);
        CHECK(json_is(role, i % 2 ? "assistant" : "user"));
        CHECK(allm_json_count(content) > 0);
        for (const allm_json *b = NULL; (b = allm_json_next(content, b));)
            CHECK(!json_is(allm_json_get(b, "type"), "text") ||
                  !is_blank(json_slice(allm_json_get(b, "text"))));
        if (i % 2)
            check_calls(messages, i);
    }
}

/* As /chat/completions and /api/chat require: the results right after their
 * calls. */
static void check_legal_chat(const allm_json *messages, struct slice bytes)
{
    size_t i = 0;
    CHECK(!strstr(bytes.ptr, "\"own\""));
    CHECK(!strstr(bytes.ptr, "foreign"));
    while (i < allm_json_count(messages)) {
        const allm_json *m = allm_json_at(messages, i++);
        const allm_json *calls = allm_json_get(m, "tool_calls");
        CHECK(!json_is(allm_json_get(m, "role"), "tool"));
        for (const allm_json *c = NULL; (c = allm_json_next(calls, c));) {
            const allm_json *result = allm_json_at(messages, i++);
            CHECK_TEXT(text_at(result, "tool_call_id"), text_at(c, "id"));
        }
    }
}

/* The messages for one of our own models, or for others. */
static void check_talk(const struct talks *t, const allm_request *r,
                       struct arena *a)
{
    struct slice bytes;
    const allm_json *sent;
    sent = talks_encode(t, t->model, t->adapter, "messages", r, a, &bytes);
    check_legal(sent, bytes);
    sent = talks_encode(t, t->model, &openai_chat_adapter, "messages", r, a,
                        &bytes);
    check_legal_chat(sent, bytes);
    sent = talks_encode(t, t->model, &ollama_adapter, "messages", r, a, &bytes);
    check_legal_chat(sent, bytes);
}

static const struct talks talks = {
    .provider = "anthropic",
    .model = "m",
    .states = states,
    .adapter = &anthropic_adapter,
    .tail = sizeof "]}]}" - 1,
    .check = check_talk,
};

static void every_conversation_is_legal(void)
{
    talks_check_many(&talks);
}
static void one_conversation_is_legal(void)
{
    talks_check_one(&talks);
}
static void longer_ones_begin_like_shorter_ones(void)
{
    talks_prefix_many(&talks);
}
static void one_begins_like_a_shorter_one(void)
{
    talks_prefix_one(&talks);
}

TESTS = {
    TEST_ONCE(every_conversation_is_legal),
    TEST_ONCE(longer_ones_begin_like_shorter_ones),
    TEST(one_conversation_is_legal),
    TEST(one_begins_like_a_shorter_one),
    TESTS_END,
};
