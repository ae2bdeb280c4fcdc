/* talks.c - random conversations, for the tests of dialects */
#include "harness/talks.h"

#include "harness/check.h"
#include "provider/http.h"
#include "provider/sink.h"
#include "json/json.h"
#include "json/parse.h"

static const char *const ids[] = {
    "toolu_1", "call_0", "call_0", "call:1/x", "",
    "call_abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij12345",
};

static const char *const texts[] = { "", " ", "hi", "a\\n b", "\\u00e9" };

#define ANY(list) (list)[random_below(r, sizeof(list) / sizeof *(list))]

static const char *any_state(const struct talks *t, struct random r)
{
    size_t n = 0;
    while (t->states[n])
        n++;
    return t->states[random_below(r, n)];
}

static void add_calls(const struct talks *t, struct buf *out, struct random r)
{
    size_t n = (size_t)random_below(r, 4);
    for (size_t i = 0; i < n; i++)
        buf_format(out,
                   "%s{\"id\":\"%s\",\"name\":\"f\",\"arguments\":{},"
                   "\"provider_state\":%s}",
                   i ? "," : "", ANY(ids), any_state(t, r));
}

static void add_message(const struct talks *t, struct buf *out, struct random r)
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
                   ANY(texts), any_state(t, r));
        add_calls(t, out, r);
        buf_text(out, "]}}");
    }
}

static void make_any(const struct talks *t, struct buf *out, struct random r)
{
    size_t n = 1 + (size_t)random_below(r, 12);
    buf_text(out, "{\"messages\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        add_message(t, out, r);
    }
    buf_text(out, "]}");
}

/* A question, perhaps some calls with their results, an answer. */
static void add_round(const struct talks *t, struct buf *out, struct random r)
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
                   ANY(texts), any_state(t, r), id, id, ANY(texts));
    }
    buf_format(out,
               "{\"role\":\"assistant\",\"content\":\"so\","
               "\"provider_state\":%s},",
               any_state(t, r));
}

/* With a tool, so that calls need no further declaration. */
static void make_rounds(const struct talks *t, struct buf *out, struct random r)
{
    size_t n = 1 + (size_t)random_below(r, 5);
    buf_text(out, "{\"tools\":[{\"name\":\"f\",\"description\":\"d\","
                  "\"schema\":{}}],\"messages\":[");
    for (size_t i = 0; i < n; i++)
        add_round(t, out, r);
    buf_text(out, "{\"role\":\"user\",\"content\":\"bye\"}]}");
}

const allm_json *talks_encode(const struct talks *t, const char *model,
                              const allm_adapter *adapter, const char *list,
                              const allm_request *r, struct arena *a,
                              struct slice *bytes)
{
    struct allm_sink sink;
    struct allm_http http;
    allm_http_view view;
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_call call = { .size = sizeof call,
                       .request = r,
                       .provider = t->provider,
                       .model = model,
                       .quirks = adapter == t->adapter ? t->quirks : 0,
                       .base_url = "http://x",
                       .options = json_empty_object(),
                       .adapter_opts = json_empty_object() };
    sink_init(&sink, a, NULL);
    http_init(&http, a, &sink);
    CHECK(adapter->encode(&call, &http) == ALLM_OK);
    bool whole = http_view(&http, &view);
    CHECK(whole);
    *bytes = whole ? (struct slice){ view.body, view.body_len } : SLICE("");
    bytes->ptr = arena_copy(a, *bytes);     /* with a NUL, for strstr() */
    if (!bytes->ptr)
        *bytes = SLICE("");
    json_limits_from(&limits, NULL);
    const allm_json *v = json_parse(a, *bytes, limits, &error);
    CHECK(v != NULL);
    return allm_json_get(v, list);
}

typedef void make_fn(const struct talks *, struct buf *, struct random);
typedef void check_fn(const struct talks *, const allm_request *,
                      struct arena *);

static void run(const struct talks *t, make_fn *make, check_fn *check,
                struct random r)
{
    struct arena a;
    struct buf json;
    arena_init(&a, mem_default());
    buf_init(&json, &a, 1 << 20);
    make(t, &json, r);
    allm_codec *codec = allm_codec_decode(json.ptr, json.len, "Request", NULL);
    const allm_request *request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    check_row(json.ptr);
    if (CHECK(request != NULL) && request)
        check(t, request, &a);
    allm_codec_free(codec);
    arena_release(&a);
}

void talks_check_many(const struct talks *t)
{
    struct random r = check_random();
    for (size_t i = 0; i < 2000; i++)
        run(t, make_any, t->check, r);
}

void talks_check_one(const struct talks *t)
{
    struct random_seeded seed;
    run(t, make_any, t->check, random_of_seed(&seed, 7));
}

/* No call waits for a result at this position. */
static bool is_rest(const allm_request *r, size_t n)
{
    return !r->messages[n - 1]->tool_call_count;
}

/* The body of the shorter conversation, without its closing brackets. */
static void check_prefixes(const struct talks *t, const allm_request *r,
                           struct arena *a)
{
    char last[64 * 1024];
    size_t len = 0;
    for (size_t n = 1; n <= r->message_count; n++) {
        struct slice bytes;
        allm_request part = *r;
        part.message_count = n;
        if (!is_rest(r, n))
            continue;
        talks_encode(t, t->model, t->adapter, "", &part, a, &bytes);
        CHECK(slice_starts(bytes, (struct slice){ last, len }));
        if (bytes.len < t->tail || bytes.len > sizeof last)
            break;
        len = bytes.len - t->tail;
        memcpy(last, bytes.ptr, len);
    }
}

void talks_prefix_many(const struct talks *t)
{
    struct random r = check_random();
    for (size_t i = 0; i < 300; i++)
        run(t, make_rounds, check_prefixes, r);
}

void talks_prefix_one(const struct talks *t)
{
    struct random_seeded seed;
    run(t, make_rounds, check_prefixes, random_of_seed(&seed, 3));
}
