/* test_extra.c - provider options in a request */
#include "provider/extra.h"

#include "base/buf.h"
#include "harness/check.h"
#include "harness/noun.h"
#include "provider/http.h"
#include "provider/model_rules.h"
#include "provider/sink.h"

static void later_ones_win_and_null_takes_away(void)
{
    struct arena a;
    struct buf out;
    struct emit e;
    struct extra x;
    const char *const but[] = { "mine", NULL };
    allm_json *engine = noun_json("{'a': 1, 'b': 1, 'extra_body': {'c': 3},"
                                  " 'base_url': 'x', 'mine': 1}");
    allm_json *request = noun_json("{'b': 2, 'a': null}");
    allm_json *own = noun_json("{'organization': 'o', 'b': 9}");
    const allm_request r = { .size = sizeof r, .options = request };
    const allm_call call = { .size = sizeof call,
                             .request = &r,
                             .options = engine,
                             .adapter_opts = own };
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1000);
    emit_init(&e, &out);
    if (engine && request && own && !extra_init(&x, &call, &a)) {
        emit_open(&e, '{');
        extra_write(&x, &e, but);
        emit_close(&e, '}');
        CHECK_SLICE(buf_slice(&out), SLICE("{\"b\":2,\"c\":3}"));
        CHECK(!extra_leaves(&x, "a") && extra_leaves(&x, "d"));
        CHECK(!extra_get(&x, "a"));
        CHECK_TEXT(extra_text(&x, "organization"), "o");
    }
    allm_json_free(own);
    allm_json_free(request);
    allm_json_free(engine);
    arena_release(&a);
}

static void extra_body_is_an_object(void)
{
    struct arena a;
    struct extra x;
    allm_json *engine = noun_json("{'extra_body': [1]}");
    const allm_request r = { .size = sizeof r };
    const allm_call call = { .size = sizeof call,
                             .request = &r,
                             .options = engine };
    arena_init(&a, mem_default());
    if (engine)
        CHECK_MISUSE(extra_init(&x, &call, &a), "invalid_option", "extra_body");
    allm_json_free(engine);
    arena_release(&a);
}

/* What becomes of one header: sent, or refused. */
static bool is_sent(const char *name, const char *value)
{
    struct arena a;
    struct extra x;
    struct buf text;
    struct allm_sink sink;
    struct allm_http http;
    bool sent = false;
    arena_init(&a, mem_default());
    buf_init(&text, &a, 1000);
    buf_format(&text, "{\"extra_headers\": {\"%s\": \"%s\"}}", name, value);
    allm_json *options = allm_json_parse(text.ptr, text.len, NULL);
    const allm_request r = { .size = sizeof r };
    const allm_call call = { .size = sizeof call,
                             .request = &r,
                             .options = options };
    sink_init(&sink, &a, NULL);
    http_init(&http, &a, &sink);
    if (options && !extra_init(&x, &call, &a))
        sent = !extra_headers(&x, &http, &a) && http.header_count == 1;
    allm_json_free(options);
    arena_release(&a);
    return sent;
}

#define SEVEN(text) text text text text text text text
#define LONG SEVEN("a23456789")         /* 63 letters */

static void headers_are_looked_at(void)
{
    static const char *const refused[][2] = {
        { "authorization", "v" },     { "Proxy-Authorization", "v" },
        { "api-key", "v" },           { "X-API-Key", "v" },
        { "x-goog-api-key", "v" },    { "cookie", "v" },
        { "host", "v" },              { "content-length", "1" },
        { "content-type", "v" },      { "transfer-encoding", "v" },
        { "accept-encoding", "v" },   { "Connection", "v" },
        { LONG "4", "v" },            { "", "v" },
        { "a b", "v" },               { "a:", "v" },
        { "a", "b\\nc" },             { "a", "b\\tc" },
        { "a", "b\\u007f" },
    };
    static const char *const sent[][2] = {
        { LONG, "v" }, { "x-mine_1", "" }, { "Cookies", "b c" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        check_row(refused[i][0]);
        CHECK_ALWAYS(!is_sent(refused[i][0], refused[i][1]));
    }
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        check_row(sent[i][0]);
        CHECK(is_sent(sent[i][0], sent[i][1]));
    }
}

static void models_refuse_a_temperature(void)
{
    static const struct {
        const char *options;
        uint32_t rules;
        bool written, refused;
    } rows[] = {
        { "{'top_p': 1}", 0, true, false },
        { "{'top_p': 1}", MODEL_NO_SAMPLING, false, true },
        { "{}", MODEL_REASONS, false, true },
        { "{'reasoning_effort': 'low'}", MODEL_REASONS, false, true },
        { "{'reasoning_effort': 'none'}", MODEL_REASONS, true, false },
        { "{'reasoning': {'effort': 'none'}}", MODEL_REASONS, true, false },
        { "{}", MODEL_REASONS | MODEL_EFFORT_NONE, true, false },
        { "{'top_p': 1}", MODEL_ONE_SAMPLER, false, true },
        { "{'top_k': 2}", MODEL_ONE_SAMPLER, true, false },
        /* an option of that name is the caller's business */
        { "{'temperature': 1}", MODEL_NO_SAMPLING, false, false },
        { "{'temperature': null}", MODEL_NO_SAMPLING, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct extra x;
        allm_json *given = noun_json(rows[i].options);
        const allm_request r = { .size = sizeof r,
                                 .temperature = { 0.3, true } };
        const allm_call call = { .size = sizeof call, .request = &r,
                                 .options = given };
        arena_init(&a, mem_default());
        check_row(rows[i].options);
        if (given && !extra_init(&x, &call, &a)) {
            CHECK(extra_writes_temperature(&x, rows[i].rules) ==
                  rows[i].written);
            CHECK(extra_refuses_temperature(&x, rows[i].rules) ==
                  rows[i].refused);
        }
        allm_json_free(given);
        arena_release(&a);
    }
}

TESTS = { TEST(later_ones_win_and_null_takes_away),
          TEST(models_refuse_a_temperature),
          TEST(extra_body_is_an_object), TEST(headers_are_looked_at),
          TESTS_END };
