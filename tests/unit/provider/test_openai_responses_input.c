/*
 * test_openai_responses_input.c - any conversation is legal, here and elsewhere
 *
 * Conversations are made at random, with all that goes wrong between
 * providers: ids in a foreign alphabet or used again, calls that nobody
 * answered, results that nobody asked for, states of other models.
 */
#include "provider/openai_responses_input.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "provider/anthropic.h"
#include "provider/http.h"
#include "provider/openai_chat.h"
#include "provider/openai_responses.h"
#include "provider/sink.h"
#include "json/json.h"
#include "json/parse.h"

/* ------------------------------------------------------------ conversations --- */

static const char *const ids[] = {
    "call_1", "toolu_0", "toolu_0", "call:1/x", "",
    "call_abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij12345",
};

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
                               const allm_request *r, const char *list,
                               struct arena *a, struct slice *bytes)
{
    struct allm_sink sink;
    struct allm_http http;
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_call call = { .size = sizeof call,
                       .request = r,
                       .provider = "openai",
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
    return allm_json_get(v, list);
}

/* ----------------------------------------------------------------- legality --- */

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

/* Reasoning stands in front of something that the model said. */
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
static void check_elsewhere(const allm_request *r, struct arena *a)
{
    struct slice bytes;
    encode(&openai_chat_adapter, r, "messages", a, &bytes);
    CHECK(!strstr(bytes.ptr, "\"own\"") && !strstr(bytes.ptr, "foreign"));
    encode(&anthropic_adapter, r, "messages", a, &bytes);
    CHECK(!strstr(bytes.ptr, "\"own\"") && !strstr(bytes.ptr, "foreign"));
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
        const allm_json *sent = encode(&openai_responses_adapter, request,
                                       "input", &a, &bytes);
        check_legal(sent, bytes);
        check_elsewhere(request, &a);
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
        encode(&openai_responses_adapter, &part, "input", &a, &bytes);
        CHECK(slice_starts(bytes, (struct slice){ last, len }));
        if (bytes.len < 2 || bytes.len > sizeof last)
            break;
        len = bytes.len - 2;    /* "]}" */
        memcpy(last, bytes.ptr, len);
    }
    arena_release(&a);
}

static void run_rounds(struct random r, size_t n)
{
    struct arena a;
    struct buf json;
    arena_init(&a, mem_default());
    buf_init(&json, &a, 1 << 20);
    buf_text(&json, "{\"messages\":[");
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
