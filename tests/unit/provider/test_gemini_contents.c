/*
 * test_gemini_contents.c - any conversation is legal, here and elsewhere
 *
 * Conversations are made at random, with all that goes wrong between
 * providers: ids in a foreign alphabet or used again, calls that nobody
 * answered, results that nobody asked for, states of other models.
 */
#include "provider/gemini_contents.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "provider/anthropic.h"
#include "provider/gemini.h"
#include "provider/http.h"
#include "provider/openai_chat.h"
#include "provider/sink.h"
#include "json/json.h"
#include "json/parse.h"

/* ------------------------------------------------------------ conversations --- */

static const char *const ids[] = {
    "toolu_1", "call_0", "call_0", "call:1/x", "",
    "call_abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij12345",
};

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

static const allm_json *encode_for(const char *model,
                                   const allm_adapter *adapter,
                                   const allm_request *r, struct arena *a,
                                   struct slice *bytes)
{
    struct allm_sink sink;
    struct allm_http http;
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_call call = { .size = sizeof call,
                       .request = r,
                       .provider = "gemini",
                       .model = model,
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
    const allm_json *contents = allm_json_get(v, "contents");
    return contents ? contents : allm_json_get(v, "messages");
}

static const allm_json *encode(const allm_adapter *adapter,
                               const allm_request *r, struct arena *a,
                               struct slice *bytes)
{
    return encode_for("gemini-3-pro", adapter, r, a, bytes);
}

/* ----------------------------------------------------------------- legality --- */

/* Text, by a name that stands for where it is. */
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
        const allm_json *sent = encode(&gemini_adapter, request, &a, &bytes);
        check_legal(sent, bytes);
        sent = encode(&gemini_adapter, request, &a, &bytes);
        check_legal(sent, bytes);       /* the same from memory */
        sent = encode_for("gemini-3-flash", &gemini_adapter, request, &a,
                          &bytes);
        check_legal(sent, bytes);       /* which is not another model's */
        CHECK(!strstr(bytes.ptr, "\"own\""));
        CHECK(!strstr(bytes.ptr, "\"id\""));
        sent = encode(&anthropic_adapter, request, &a, &bytes);
        check_legal_messages(sent, bytes);
        sent = encode(&openai_chat_adapter, request, &a, &bytes);
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
        encode(&gemini_adapter, &part, &a, &bytes);
        CHECK(slice_starts(bytes, (struct slice){ last, len }));
        if (bytes.len < 4 || bytes.len > sizeof last)
            break;
        len = bytes.len - 4;    /* "]}]}" */
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
