/*
 * test_restore.c - a stored engine makes the same calls
 *
 * The same options as an object, as pairs, and as each form of a stored
 * document: address, headers and body of the request are the same.
 */
#include "allm.h"
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"

#include "json/emit.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { ENGINES = 400, MOST = 8 };

/* -------------------------------------------- what would have been sent --- */

struct asked {
    char text[8192];
};

/* Write down the request, and do not send it. */
static allm_exchange *note(void *self, const allm_http_view *v,
                           allm_waker *waker, const allm_error **error)
{
    static const allm_error refusal = { .size = sizeof refusal,
                                        .kind = ALLM_ERR_ADAPTER,
                                        .reason = "invalid_request",
                                        .message = "noted" };
    struct asked *asked = self;
    size_t n = (size_t)snprintf(asked->text, sizeof asked->text, "%s %s\n",
                                v->method, v->url);
    (void)waker;
    for (size_t i = 0; i < v->header_count && n < sizeof asked->text; i++)
        n += (size_t)snprintf(asked->text + n, sizeof asked->text - n,
                              "%s: %s\n", v->header[2 * i],
                              v->header[2 * i + 1]);
    if (n < sizeof asked->text)
        snprintf(asked->text + n, sizeof asked->text - n, "%s: %s\n%.*s",
                 v->secret_name ? v->secret_name : "",
                 v->secret_value ? v->secret_value : "", (int)v->body_len,
                 v->body);
    *error = &refusal;
    return NULL;
}

static allm_status never_read(void *self, allm_exchange *x, allm_chunk *chunk)
{
    (void)self;
    (void)x;
    (void)chunk;
    return ALLM_ERR_ADAPTER;
}

static const allm_http_head *no_head(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
    return NULL;
}

static void never_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

static allm_transport transport_to(struct asked *asked)
{
    return (allm_transport){ .size = sizeof(allm_transport),
                             .self = asked,
                             .open = note,
                             .read = never_read,
                             .head = no_head,
                             .close = never_close };
}

/* Ask; the engine's transport notes it.  Frees the engine. */
static void ask(allm_engine *e)
{
    CHECK_WELL(allm_engine_error(e));
    allm_stream *s = play_call_with(e, ALLM(call_opts, .api_key = "sk-key-42"));
    allm_stream_wait(s);
    allm_stream_free(s);
    allm_engine_free(e);
}

/* -------------------------------------------------------- the documents --- */

/* The members of options, written as an object or as pairs. */
static void write_options(struct emit *out, const allm_json *opts, bool pairs)
{
    emit_open(out, pairs ? '[' : '{');
    for (const allm_json *k = NULL; (k = allm_json_next(opts, k));) {
        if (!pairs) {
            emit_key(out, json_slice(k));
            emit_value(out, allm_json_value(k));
            continue;
        }
        emit_open(out, '[');
        emit_value(out, k);
        emit_value(out, allm_json_value(k));
        emit_close(out, ']');
    }
    emit_close(out, pairs ? ']' : '}');
}

/* A stored engine with its adapter_opts in one of the two forms. */
static struct slice rewrite(struct arena *a, const allm_json *stored,
                            const allm_json *opts, bool pairs)
{
    struct buf text;
    struct emit out;
    buf_init(&text, a, 65536);
    emit_init(&out, &text);
    emit_open(&out, '{');
    for (const allm_json *k = NULL; (k = allm_json_next(stored, k));) {
        emit_key(&out, json_slice(k));
        if (json_is(k, "adapter_opts"))
            write_options(&out, opts, pairs);
        else
            emit_value(&out, allm_json_value(k));
    }
    emit_close(&out, '}');
    return buf_slice(&text);
}

/* What an engine would ask that is made of a document. */
static void ask_stored(struct slice text, struct asked *asked)
{
    allm_transport t = transport_to(asked);
    allm_codec *codec = allm_codec_decode(text.ptr, text.len, "Engine", NULL);
    CHECK_WELL(allm_codec_error(codec));
    ask(allm_engine_from_record(allm_codec_value(codec, ALLM_TYPE_ENGINE),
                                ALLM(engine_opts, .transport = &t)));
    allm_codec_free(codec);
}

/* -------------------------------------------------------------- engines --- */

static const char *const models[] = {
    "openai:gpt-4o", "openai:gpt-5", "anthropic:claude-x", "gemini:g",
    "ollama:q", "mistral:m", "openrouter:a/b", "llamacpp:m", "xai:grok-4",
};

/* Options of all the dialects: each is a member with its value. */
static const char *const options[] = {
    "'base_url':'http://127.0.0.1:9/v1'", "'base_url':'https://own.test'",
    "'organization':'org-1'", "'project':'p'", "'api':'chat'",
    "'extra_headers':{'x-team':'t'}", "'extra_body':{'seed':7}",
    "'keep_alive':'5m'", "'think':true", "'num_ctx':512", "'unknown':[1,{}]",
    "'api_version':'v9'", "'base_url':null", "'\\u00e9\\u0000':1",
};

static const char *const params[] = {
    "{}", "{'temperature':0.5}", "{'top_p':0.9,'max_tokens':7}",
    "{'base_url':'http://params.test'}", "{'seed':3,'stop':['x']}",
};

#define PICK(r, list) (list)[random_below((r), sizeof(list) / sizeof *(list))]

/* Options without a name twice. */
static allm_json *pick_options(struct random r)
{
    char text[1024] = "{";
    for (uint64_t n = random_below(r, MOST); n > 0; n--) {
        const char *one = PICK(r, options);
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(one, ":"), one);
        if (strstr(text, name))
            continue;
        if (text[1])
            strncat(text, ",", sizeof text - strlen(text) - 1);
        strncat(text, one, sizeof text - strlen(text) - 1);
    }
    strncat(text, "}", sizeof text - strlen(text) - 1);
    return noun_json(text);
}

/* Every way to store the engine and to get it back asks the same. */
static void check_stored(const allm_engine *e, const allm_json *opts,
                         const struct asked *before, struct arena *a)
{
    for (uint32_t form = 0; form < 2; form++) {
        struct asked after = { "" };
        allm_text *text = allm_engine_json(e, form);
        size_t len = 0;
        const char *bytes = allm_text_bytes(text, &len);
        ask_stored((struct slice){ bytes, len }, &after);
        CHECK_TEXT(after.text, before->text);
        allm_json *stored = allm_json_parse(bytes, len, NULL);
        const allm_json *members = allm_json_get(stored, "data");
        for (int pairs = 0; pairs < 2; pairs++) {
            after.text[0] = '\0';
            ask_stored(rewrite(a, members ? members : stored, opts, pairs),
                       &after);
            CHECK_TEXT(after.text, before->text);
        }
        allm_json_free(stored);
        allm_text_free(text);
    }
}

static void one_engine(struct random r, struct arena *a)
{
    struct asked before = { "" }, pairs = { "" };
    allm_transport t = transport_to(&before), p = transport_to(&pairs);
    allm_json *opts = pick_options(r), *param = noun_json(PICK(r, params));
    const allm_tool *tool = ALLM(tool, .name = "t", .description = "d",
                                 .schema_text = "{\"type\":\"object\"}");
    const char *model = PICK(r, models);
    size_t tools = random_below(r, 2);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = model, .adapter_opts = opts, .params = param,
             .tools = &tool, .tool_count = tools, .transport = &t));
    check_row(model);
    ask(allm_engine_keep(e));
    CHECK(before.text[0] != '\0');

    struct buf text;
    struct emit out;
    buf_init(&text, a, 65536);
    emit_init(&out, &text);
    write_options(&out, opts, true);
    allm_json *list = allm_json_parse(text.ptr, text.len, NULL);
    ask(allm_engine_new(ALLM(engine_opts, .model = model, .adapter_opts = list,
                             .params = param, .tools = &tool,
                             .tool_count = tools, .transport = &p)));
    CHECK_TEXT(pairs.text, before.text);
    check_stored(e, opts, &before, a);
    allm_json_free(list);
    allm_engine_free(e);
    allm_json_free(opts);
    allm_json_free(param);
}

static void stored_engines_ask_the_same(void)
{
    struct random r = check_random();
    for (size_t i = 0; i < ENGINES; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        one_engine(r, &a);
        arena_release(&a);
    }
}

/* ------------------------------------------------------------- refusals --- */

/* A field that cannot be read must not send the request elsewhere. */
static void a_stored_field_of_a_wrong_type_is_refused(void)
{
    static const char *const rows[][2] = {
        { "adapter_opts", "{'model':'openai:m','adapter_opts':'http://x'}" },
        { "params", "{'model':'openai:m','params':[['base_url','http://x']]}" },
        { "model", "{'model':7}" },
        { "adapter", "{'model':'openai:m','adapter':{}}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i][0]);
        allm_codec *codec = noun_read("Engine", rows[i][1]);
        allm_engine *e = allm_engine_from_record(
            allm_codec_value(codec, ALLM_TYPE_ENGINE), NULL);
        if (check_whole()) {
            CHECK_MISUSE(allm_engine_error(e), "invalid_engine", rows[i][0]);
            CHECK_MISUSE(allm_engine_error(e), "invalid_engine", "wrong type");
        }
        allm_engine_free(e);
        allm_codec_free(codec);
    }
}

TESTS = {
    TEST_ONCE(stored_engines_ask_the_same),
    TEST(a_stored_field_of_a_wrong_type_is_refused),
    TESTS_END,
};
