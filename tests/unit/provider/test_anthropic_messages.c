/*
 * test_anthropic_messages.c - any conversation is legal, here and elsewhere
 *
 * Conversations are made at random, with all that goes wrong between
 * providers: ids in a foreign alphabet or used again, calls that nobody
 * answered, results that nobody asked for, states of other models.
 */
#include "provider/anthropic_messages.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "provider/anthropic.h"
#include "provider/http.h"
#include "provider/ollama.h"
#include "provider/openai_chat.h"
#include "provider/sink.h"
#include "json/json.h"
#include "json/parse.h"

/* ------------------------------------------------------------ conversations --- */

static const char *const ids[] = {
    "toolu_1", "call_0", "call_0", "call:1/x", "",
    "call_abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij12345",
};

static const char *const states[] = {
    "null",
    "{\"provider\":\"anthropic\",\"model\":\"m\",\"content\":[{\"type\":"
    "\"thinking\",\"thinking\":\"t\",\"signature\":\"own\"},{\"type\":"
    "\"text\",\"bytes\":2}]}",
    "{\"provider\":\"anthropic\",\"model\":\"n\",\"content\":[{\"type\":"
    "\"thinking\",\"thinking\":\"t\",\"signature\":\"foreign\"}]}",
    "{\"provider\":\"deepseek\",\"model\":\"m\",\"reasoning_content\":"
    "\"foreign\",\"reasoning_details\":[{\"foreign\":1}]}",
};

static const char *const texts[] = { "", " ", "hi", "a\\n b", "\\u00e9" };

#define ANY(list) (list)[random_below(r, sizeof(list) / sizeof *(list))]

static void add_calls(struct buf *out, struct random r)
{
    size_t n = (size_t)random_below(r, 4);
    for (size_t i = 0; i < n; i++)
        buf_format(out,
                   "%s{\"id\":\"%s\",\"name\":\"f\",\"arguments\":{},"
                   "\"provider_state\":%s}",
                   i ? "," : "", ANY(ids), ANY(states));
}

static void add_message(struct buf *out, struct random r)
{
    static const char *const roles[] = { "user", "user", "system" };
    switch (random_below(r, 4)) {
    case 0:
        buf_format(out, "{\"role\":\"%s\",\"content\":\"%s\"}", ANY(roles),
                   ANY(texts));
        break;
    case 1:
        buf_format(out,
                   "{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":"
                   "\"%s\"}",
                   ANY(ids), ANY(texts));
        break;
    default:
        buf_format(out,
                   "{\"role\":\"assistant\",\"content\":\"%s\","
                   "\"provider_state\":%s,\"metadata\":{\"tool_calls\":[",
                   ANY(texts), ANY(states));
        add_calls(out, r);
        buf_text(out, "]}}");
    }
}

static void make_conversation(struct buf *out, struct random r, size_t n)
{
    buf_text(out, "{\"messages\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        add_message(out, r);
    }
    buf_text(out, "]}");
}

/* ----------------------------------------------------------------- encoding --- */

static const allm_json *encode(const allm_adapter *adapter,
                               const allm_request *r, struct arena *a,
                               struct slice *bytes)
{
    struct allm_sink sink;
    struct allm_http http;
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_call call = { .size = sizeof call,
                       .request = r,
                       .provider = "anthropic",
                       .model = "m",
                       .base_url = "http://x",
                       .options = json_empty_object(),
                       .adapter_opts = json_empty_object() };
    sink_init(&sink, a, NULL);
    http_init(&http, a, &sink);
    CHECK(adapter->encode(&call, &http) == ALLM_OK);
    CHECK(!http.broken && !http.body.broken);
    *bytes = buf_slice(&http.body);
    json_limits_from(&limits, NULL);
    const allm_json *v = json_parse(a, *bytes, limits, &error);
    CHECK(v != NULL);
    return allm_json_get(v, "messages");
}

/* ----------------------------------------------------------------- legality --- */

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

/* Text, by a name that stands for where it is. */
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

/* As /chat/completions and /api/chat want it: the results right behind their calls. */
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

static void run_conversation(struct random r, size_t n)
{
    struct arena a;
    struct buf json;
    struct slice bytes;
    arena_init(&a, mem_default());
    buf_init(&json, &a, 1 << 20);
    make_conversation(&json, r, n);
    allm_codec *codec = allm_codec_decode(json.ptr, json.len, "Request", NULL);
    const allm_request *request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    check_row(json.ptr);
    if (CHECK(request != NULL) && request) {
        const allm_json *sent = encode(&anthropic_adapter, request, &a, &bytes);
        check_legal(sent, bytes);
        sent = encode(&openai_chat_adapter, request, &a, &bytes);
        check_legal_chat(sent, bytes);
        sent = encode(&ollama_adapter, request, &a, &bytes);
        check_legal_chat(sent, bytes);
    }
    allm_codec_free(codec);
    arena_release(&a);
}

static void every_conversation_is_legal(void)
{
    struct random r = check_random();
    for (size_t i = 0; i < 2000; i++)
        run_conversation(r, 1 + (size_t)random_below(r, 12));
}

static void one_conversation_is_legal(void)
{
    struct random_seeded seed;
    run_conversation(random_of_seed(&seed, 7), 12);
}

/* ------------------------------------------------------------------- prefix --- */

/* A round: a question, perhaps some calls with their results, an answer. */
static void add_round(struct buf *out, struct random r)
{
    size_t n = (size_t)random_below(r, 3);
    buf_text(out, "{\"role\":\"user\",\"content\":\"ask\"},");
    for (size_t i = 0; i < n; i++) {
        const char *id = ANY(ids);
        buf_format(out,
                   "{\"role\":\"assistant\",\"content\":\"%s\","
                   "\"provider_state\":%s,\"metadata\":{\"tool_calls\":["
                   "{\"id\":\"%s\",\"name\":\"f\",\"arguments\":{}}]}},"
                   "{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":"
                   "\"%s\"},",
                   ANY(texts), ANY(states), id, id, ANY(texts));
    }
    buf_format(out,
               "{\"role\":\"assistant\",\"content\":\"so\","
               "\"provider_state\":%s},",
               ANY(states));
}

/* Nobody is waiting for a result at this place. */
static bool is_rest(const allm_request *r, size_t n)
{
    return !r->messages[n - 1]->tool_call_count;
}

/* What was sent of the shorter conversation, up to its closing brackets. */
static void check_prefixes(const allm_request *r)
{
    struct arena a;
    char last[64 * 1024];
    size_t len = 0;
    arena_init(&a, mem_default());
    for (size_t n = 1; n <= r->message_count; n++) {
        struct slice bytes;
        allm_request part = *r;
        part.message_count = n;
        if (!is_rest(r, n))
            continue;
        encode(&anthropic_adapter, &part, &a, &bytes);
        CHECK(slice_starts(bytes, (struct slice){ last, len }));
        if (bytes.len < 4 || bytes.len > sizeof last)
            break;
        len = bytes.len - 4;    /* "]}]}" */
        memcpy(last, bytes.ptr, len);
    }
    arena_release(&a);
}

/* With a tool, so that no tool has to be declared for the calls that come. */
static void run_rounds(struct random r, size_t n)
{
    struct arena a;
    struct buf json;
    arena_init(&a, mem_default());
    buf_init(&json, &a, 1 << 20);
    buf_text(&json, "{\"tools\":[{\"name\":\"f\",\"description\":\"d\","
                    "\"schema\":{}}],\"messages\":[");
    for (size_t i = 0; i < n; i++)
        add_round(&json, r);
    buf_text(&json, "{\"role\":\"user\",\"content\":\"bye\"}]}");
    allm_codec *codec = allm_codec_decode(json.ptr, json.len, "Request", NULL);
    const allm_request *request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    check_row(json.ptr);
    if (CHECK(request != NULL) && request)
        check_prefixes(request);
    allm_codec_free(codec);
    arena_release(&a);
}

static void longer_ones_begin_like_shorter_ones(void)
{
    struct random r = check_random();
    for (size_t i = 0; i < 300; i++)
        run_rounds(r, 1 + (size_t)random_below(r, 5));
}

static void one_begins_like_a_shorter_one(void)
{
    struct random_seeded seed;
    run_rounds(random_of_seed(&seed, 3), 2);
}

TESTS = {
    TEST_ONCE(every_conversation_is_legal),
    TEST_ONCE(longer_ones_begin_like_shorter_ones),
    TEST(one_conversation_is_legal),
    TEST(one_begins_like_a_shorter_one),
    TESTS_END,
};
