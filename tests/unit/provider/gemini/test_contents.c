/*
 * test_contents.c - the provider accepts every conversation
 */
#include "provider/gemini/contents.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/talks.h"
#include "provider/dialects.h"
#include "json/json.h"

/* -------------------------------------------------------- conversations --- */

/* For a message, or for a call. */
static const char *const states[] = {
    "null",
    "{\"provider\":\"gemini\",\"model\":\"gemini-3-pro\",\"parts\":[{\"bytes\":"
    "2,\"thoughtSignature\":\"own\"}],\"thoughtSignature\":\"own\",\"id\":"
    "\"i\"}",
    "{\"provider\":\"gemini\",\"model\":\"gemini-2.5-pro\",\"parts\":[{"
    "\"part\":{\"foreign\":1}}],\"thoughtSignature\":\"foreign\"}",
    "{\"provider\":\"anthropic\",\"model\":\"gemini-3-pro\",\"content\":[{"
    "\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"foreign\"}]}",
    "{\"provider\":\"deepseek\",\"model\":\"m\",\"reasoning_content\":"
    "\"foreign\",\"reasoning_details\":[{\"foreign\":1}]}",
    NULL,
};

/* ------------------------------------------------------------- legality --- */

/* Text that names its position. */
static const char *text_at(const allm_json *v, const char *key)
{
    const char *text = allm_json_text(allm_json_get(v, key), NULL);
    return text ? text : "";
}

static const allm_json *parts_of(const allm_json *contents, size_t i)
{
    return allm_json_get(allm_json_at(contents, i), "parts");
}

static size_t count(const allm_json *parts, const char *kind)
{
    size_t n = 0;
    for (const allm_json *p = NULL; (p = allm_json_next(parts, p));)
        n += allm_json_get(p, kind) != NULL;
    return n;
}

/* The next content answers the calls of this one, and does nothing else. */
static void check_calls(const allm_json *contents, size_t i)
{
    size_t k = 0;
    const allm_json *asked = parts_of(contents, i);
    const allm_json *answer = parts_of(contents, i + 1);
    size_t calls = count(asked, "functionCall");
    for (const allm_json *p = NULL; (p = allm_json_next(asked, p));) {
        const allm_json *call = allm_json_get(p, "functionCall");
        if (!call)
            continue;
        CHECK(k || *text_at(p, "thoughtSignature"));
        const allm_json *result = allm_json_get(allm_json_at(answer, k++),
                                                "functionResponse");
        CHECK(*text_at(call, "name") != '\0');
        CHECK_TEXT(text_at(result, "name"), text_at(call, "name"));
        CHECK_TEXT(text_at(result, "id"), text_at(call, "id"));
        CHECK(allm_json_type_of(allm_json_get(result, "response")) ==
              ALLM_JSON_OBJECT);
    }
    CHECK_INT(count(answer, "functionResponse"), calls);
    CHECK(!calls || allm_json_count(answer) == calls);
}

static void check_legal(const allm_json *contents, struct slice bytes)
{
    bool model = true;          /* what stands before; the first is a user's */
    CHECK(!strstr(bytes.ptr, "foreign"));
    for (size_t i = 0; i < allm_json_count(contents); i++) {
        const allm_json *parts = parts_of(contents, i);
        bool now = !strcmp(text_at(allm_json_at(contents, i), "role"), "model");
        CHECK(!now || !model);
        model = now;
        CHECK(allm_json_count(parts) > 0);
        for (const allm_json *p = NULL; (p = allm_json_next(parts, p));)
            CHECK(!allm_json_get(p, "text") || *text_at(p, "text") ||
                  *text_at(p, "thoughtSignature"));
        if (now)
            check_calls(contents, i);
        else if (!i)
            CHECK(!count(parts, "functionResponse"));
    }
}

/* As /v1/messages wants it: the results at the beginning of the next. */
static void check_legal_messages(const allm_json *messages, struct slice bytes)
{
    CHECK(!strstr(bytes.ptr, "\"own\""));
    CHECK(!strstr(bytes.ptr, "foreign"));
    for (size_t i = 1; i < allm_json_count(messages); i += 2) {
        size_t k = 0;
        const allm_json *asked = allm_json_get(allm_json_at(messages, i),
                                               "content");
        const allm_json *answer = allm_json_get(allm_json_at(messages, i + 1),
                                                "content");
        for (const allm_json *b = NULL; (b = allm_json_next(asked, b));)
            if (json_is(allm_json_get(b, "type"), "tool_use"))
                CHECK_TEXT(text_at(allm_json_at(answer, k++), "tool_use_id"),
                           text_at(b, "id"));
    }
}

/* As /chat/completions wants it: the results right behind their calls. */
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

static void check_talk(const struct talks *t, const allm_request *r,
                       struct arena *a)
{
    struct slice bytes;
    const allm_json *sent;
    for (int i = 0; i < 2; i++) {       /* the second time from memory */
        sent = talks_encode(t, t->model, t->adapter, "contents", r, a, &bytes);
        check_legal(sent, bytes);
    }
    sent = talks_encode(t, "gemini-3-flash", t->adapter, "contents", r, a,
                        &bytes);
    check_legal(sent, bytes);           /* which is not another model's */
    CHECK(!strstr(bytes.ptr, "\"own\""));
    CHECK(!strstr(bytes.ptr, "\"id\""));
    sent = talks_encode(t, t->model, &anthropic_adapter, "messages", r, a,
                        &bytes);
    check_legal_messages(sent, bytes);
    sent = talks_encode(t, t->model, &openai_chat_adapter, "messages", r, a,
                        &bytes);
    check_legal_chat(sent, bytes);
}

static const struct talks talks = {
    .provider = "gemini", .model = "gemini-3-pro", .states = states,
    .adapter = &gemini_adapter, .tail = sizeof "]}]}" - 1, .check = check_talk,
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
