/*
 * test_responses_input.c - the provider accepts every conversation
 */
#include "provider/openai/responses_input.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/talks.h"
#include "provider/dialects.h"
#include "json/json.h"

/* -------------------------------------------------------- conversations --- */

#define SEALED(word) \
    "{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"" word \
    "\"}"

static const char *const states[] = {
    "null",
    "{\"provider\":\"openai\",\"model\":\"m\",\"output\":[" SEALED("own")
    ",{\"type\":\"message\",\"bytes\":2}]}",
    "{\"provider\":\"openai\",\"model\":\"m\",\"output\":[" SEALED("own") ","
    "{\"type\":\"function_call\"},{\"type\":\"shell_call\",\"call_id\":"
    "\"unanswered\"}," SEALED("own") "]}",
    "{\"provider\":\"openai\",\"model\":\"n\",\"output\":["
    SEALED("foreign") ",{\"type\":\"message\",\"bytes\":2}]}",
    "{\"provider\":\"anthropic\",\"model\":\"m\",\"content\":[{\"type\":"
    "\"thinking\",\"thinking\":\"t\",\"signature\":\"foreign\"}]}",
    "{\"provider\":\"deepseek\",\"model\":\"m\",\"reasoning_content\":"
    "\"foreign\",\"reasoning_details\":[{\"foreign\":1}]}",
    NULL,
};

/* ------------------------------------------------------------- legality --- */

static bool is_id(const char *id)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                          "YZ0123456789_-");
    return n && n <= 64 && !id[n];
}

static const char *text_at(const allm_json *v, const char *key)
{
    const char *text = allm_json_text(allm_json_get(v, key), NULL);
    return text ? text : "";
}

static bool is_kind(const allm_json *item, const char *type)
{
    return json_is(allm_json_get(item, "type"), type);
}

/* How many items of this kind have the id. */
static size_t uses(const allm_json *items, const char *type, const char *id)
{
    size_t n = 0;
    for (const allm_json *i = NULL; (i = allm_json_next(items, i));)
        n += is_kind(i, type) && !strcmp(text_at(i, "call_id"), id);
    return n;
}

/* Reasoning precedes something that the model said. */
static void check_followed(const allm_json *items, const allm_json *item)
{
    while (is_kind(item, "reasoning"))
        item = allm_json_next(items, item);
    CHECK(item && (is_kind(item, "function_call") ||
                   json_is(allm_json_get(item, "role"), "assistant")));
}

static void check_legal(const allm_json *items, struct slice bytes)
{
    CHECK(!strstr(bytes.ptr, "foreign"));
    CHECK(!strstr(bytes.ptr, "unanswered"));
    for (const allm_json *i = NULL; (i = allm_json_next(items, i));) {
        const char *id = text_at(i, "call_id");
        if (is_kind(i, "reasoning"))
            check_followed(items, i);
        if (!*id)
            continue;
        CHECK(is_id(id));
        CHECK(uses(items, "function_call", id) == 1);
        CHECK(uses(items, "function_call_output", id) == 1);
    }
}

/* To others nothing goes that only this model can read. */
static void check_talk(const struct talks *t, const allm_request *r,
                       struct arena *a)
{
    static const allm_adapter *const others[] = { &openai_chat_adapter,
                                                  &anthropic_adapter };
    struct slice bytes;
    const allm_json *sent = talks_encode(t, t->model, t->adapter, "input", r, a,
                                         &bytes);
    check_legal(sent, bytes);
    for (size_t i = 0; i < 2; i++) {
        talks_encode(t, t->model, others[i], "messages", r, a, &bytes);
        CHECK(!strstr(bytes.ptr, "\"own\"") && !strstr(bytes.ptr, "foreign"));
    }
}

static const struct talks talks = {
    .provider = "openai",
    .model = "m",
    .states = states,
    .adapter = &openai_responses_adapter,
    .tail = sizeof "]}" - 1,
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
