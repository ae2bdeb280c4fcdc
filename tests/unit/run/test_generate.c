/* test_generate.c - one answer of a model: checks, options, filters, time */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>

/* -------------------------------------------------------------- sources --- */

/* The actions of a source at each next(); `calls` counts them. */
struct act {
    int opened, closed, calls;
    allm_status open_fails;     /* kind, reported as "timeout" */
    bool final;
};

static struct act act;

static allm_status act_open(void *state, const allm_call *call, allm_sink *s)
{
    (void)state;
    (void)call;
    act.opened++;
    if (act.open_fails)
        return allm_sink_fail(
            s, ALLM(error, .kind = act.open_fails, .reason = "timeout"),
            act.final);
    return ALLM_OK;
}

static void act_close(void *state, const allm_call *call)
{
    (void)state;
    (void)call;
    act.closed++;
}

/* Never says anything. */
static allm_status mute(void *state, const allm_call *call, allm_sink *s,
                        int64_t *again_ns)
{
    (void)state;
    (void)call;
    (void)s;
    (void)again_ns;
    act.calls++;
    return ALLM_AGAIN;
}

static allm_status put_word(allm_sink *s)
{
    return allm_sink_put(s, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = "x",
                                 .text_len = 1));
}

/* One word, then silence. */
static allm_status one_word(void *state, const allm_call *call, allm_sink *s,
                            int64_t *again_ns)
{
    if (act.calls++ == 0)
        return put_word(s) < 0 ? ALLM_ERR_NOMEM : ALLM_EVENT;
    return mute(state, call, s, again_ns);
}

/* A word every 50 ms of the clock, for ever. */
static allm_status chatter(void *state, const allm_call *call, allm_sink *s,
                           int64_t *again_ns)
{
    (void)state;
    *again_ns = call->clock->now_ns(call->clock->ud) + 50 * 1000000;
    if (act.calls++ % 2)
        return ALLM_AGAIN;
    return put_word(s) < 0 ? ALLM_ERR_NOMEM : ALLM_EVENT;
}

/* A word, then a failure. */
static allm_status breaks(void *state, const allm_call *call, allm_sink *s,
                          int64_t *again_ns)
{
    (void)state;
    (void)call;
    (void)again_ns;
    if (act.calls++ == 0)
        return put_word(s) < 0 ? ALLM_ERR_NOMEM : ALLM_EVENT;
    return allm_sink_fail(
        s, ALLM(error, .kind = ALLM_ERR_STREAM, .reason = "truncated"), false);
}

/* Fails and does not say why. */
static allm_status sulks(void *state, const allm_call *call, allm_sink *s,
                         int64_t *again_ns)
{
    (void)state;
    (void)call;
    (void)s;
    (void)again_ns;
    return ALLM_ERR_ADAPTER;
}

/* Makes an event that is not an adapter's. */
static allm_status forges(void *state, const allm_call *call, allm_sink *s,
                          int64_t *again_ns)
{
    (void)state;
    (void)call;
    (void)again_ns;
    CHECK_INT(allm_sink_put(s, ALLM(event, .type = ALLM_EV_TOOL_HALT)),
              ALLM_ERR_MISUSE);
    return ALLM_EVENT;
}

/* A usage as the model library has it, with a field that does not exist. */
static allm_status bad_usage(void *state, const allm_call *call, allm_sink *s,
                             int64_t *again_ns)
{
    static const char text[] = "[\"usage\", {\"tokens\": 1}]";
    (void)state;
    (void)call;
    (void)again_ns;
    const allm_json *chunk = allm_sink_parse(s, text, sizeof text - 1);
    if (!chunk)
        return ALLM_ERR_NOMEM;
    allm_sink_put(s, ALLM(event, .type = ALLM_EV_RAW_CHUNK, .chunk = chunk));
    return ALLM_EVENT;
}

typedef allm_status (*next_fn)(void *, const allm_call *, allm_sink *,
                               int64_t *);

static allm_engine *engine_of(next_fn next, struct clock_manual *clock)
{
    static allm_adapter table;
    allm_clock c = play_clock(clock);
    act = (struct act){ .opened = 0 };
    table = (allm_adapter){ .size = sizeof table, .name = "test",
                            .open = act_open, .next = next,
                            .close = act_close };
    return allm_engine_new(ALLM(engine_opts, .model = "test:m",
                                .adapter_table = &table, .clock = &c));
}

/* Play one call of it to the end. */
static void check_source(const char *why, next_fn next,
                         const allm_call_opts *opts, const char *events)
{
    struct clock_manual clock = { 0, 0 };
    check_row(why);
    allm_engine *e = engine_of(next, &clock);
    allm_stream *s = play_call_with(e, opts);
    CHECK_TEXT(play_all(s), events);
    CHECK_ALWAYS(act.closed == act.opened || act.opened == 0);
    allm_stream_free(s);
    CHECK_ALWAYS(act.closed <= 1);
    CHECK_INT(act.closed, 1);
    allm_engine_free(e);
}

/* --------------------------------------------------------------- guards --- */

static const char *first_error(const allm_engine *e, const allm_request *r,
                               const allm_call_opts *opts)
{
    static char told[256];
    allm_stream *s = allm_generate(e, r, opts);
    const allm_error *error = allm_stream_error(s);
    snprintf(told, sizeof told, "%s %s",
             error ? allm_status_name(error->kind) : "none",
             error ? error->reason : "");
    CHECK(error && allm_stream_wait(s) == error->kind);
    CHECK(s && !allm_stream_response(s));
    allm_stream_free(s);
    return told;
}

static void guards_come_in_their_order(void)
{
    static const allm_adapter no_stream = {
        .size = sizeof no_stream, .name = "x",
        .flags = ALLM_ADAPTER_NO_STREAM, .next = mute,
    };
    static const allm_adapter nothing = { .size = sizeof nothing,
                                          .name = "x" };
    const allm_request *empty = ALLM(request, .message_count = 0);
    allm_json *json = play_json("{'max_turns': 0}");
    const allm_call_opts *bad = ALLM(call_opts, .json = json);

    allm_engine *e = allm_engine_new(NULL);
    CHECK_TEXT(first_error(e, empty, NULL), "engine missing_adapter");
    CHECK_TEXT(first_error(e, empty, bad), "misuse invalid_option");
    allm_engine_free(e);

    e = allm_engine_new(ALLM(engine_opts, .adapter_table = &no_stream));
    CHECK_TEXT(first_error(e, empty, NULL), "engine missing_stream_adapter");
    allm_engine_free(e);
    e = allm_engine_new(ALLM(engine_opts, .adapter_table = &nothing));
    CHECK_TEXT(first_error(e, empty, NULL), "engine missing_stream_adapter");
    allm_engine_free(e);

    e = play_engine("{'script': 3}", NULL);
    CHECK_TEXT(first_error(e, empty, NULL), "validation invalid_request");
    CHECK_INT(allm_fake_calls(e), 0);
    allm_engine_free(e);

    e = allm_engine_new(ALLM(engine_opts, .adapter = "nobody"));
    CHECK_TEXT(first_error(e, empty, NULL), "misuse invalid_engine");
    allm_engine_free(e);
    allm_json_free(json);
}

static void requests_that_are_broken_are_refused(void)
{
    allm_engine *e = play_engine("{'script': []}", NULL);
    const allm_message *none = NULL;
    CHECK_TEXT(first_error(e,
                           ALLM(request, .message_count = 1, .messages = &none),
                           NULL),
               "misuse null_element");
    allm_request no_size = { .size = 0 };
    CHECK_TEXT(first_error(e, &no_size, NULL), "misuse struct_size");
    allm_engine_free(e);
}

static void options_of_a_wrong_kind_are_misuse(void)
{
    static const struct {
        const char *json, *sentence;
    } rows[] = {
        { "{'emit_text_deltas': 'no'}", "true or false" },
        { "{'request_id': 3}", "a string" },
        { "{'max_tokens': 0}", "a positive integer; got: 0" },
        { "{'temperature': 'hot'}", "a number" },
        { "{'adapter_opts': 3}", "an object or a list" },
        { "{'tool_choice': 3}", "a mode" },
        { "{'silence_ms': -1}", "a positive integer" },
        { "{'tools': 'echo'}", "option tools must be a list" },
        { "{'tools': [42]}", "option tools must be a list" },
        { "{'on_event': 1}", "set in the struct" },
        { "[]", "an object of options" },
        { "{'model': 'twice'}", "set only once" },
    };
    allm_engine *e = play_engine("{'script': []}", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].json);
        allm_json *json = play_json(rows[i].json);
        allm_stream *s =
            play_call_with(e, ALLM(call_opts, .json = json, .model = "fake:m"));
        CHECK(s && strstr(play_why(s), rows[i].sentence));
        CHECK_TEXT(play_all(s), "misuse invalid_option");
        allm_stream_free(s);
        allm_json_free(json);
    }
    allm_call_opts newer[2] = { { .size = sizeof newer } };
    newer[1].size = 7;
    allm_stream *s = play_call_with(e, newer);
    CHECK_TEXT(play_all(s), "misuse invalid_option");
    allm_stream_free(s);
    CHECK_INT(allm_fake_calls(e), 0);
    allm_engine_free(e);
}

static allm_status decodes(void *state, const allm_call *call,
                           const allm_frame *frame, allm_sink *s)
{
    (void)state;
    (void)call;
    (void)frame;
    (void)s;
    return ALLM_OK;
}

static void dialects_need_a_transport(void)
{
    static const allm_adapter dialect = { .size = sizeof dialect, .name = "x",
                                          .decode = decodes };
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .adapter_table = &dialect));
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s), "engine invalid_engine");
    CHECK(s && strstr(play_why(s), "no encode"));
    allm_stream_free(s);
    allm_engine_free(e);
}

/* ----------------------------------------------------------- precedence --- */

static void check_seen(allm_engine *e, const char *pointer, const char *want)
{
    allm_json *seen = allm_fake_requests(e);
    const allm_json *v = allm_json_pointer(seen, pointer);
    allm_text *t = allm_json_write(v, 0);
    CHECK_TEXT(allm_text_bytes(t, NULL), want);
    allm_text_free(t);
    allm_json_free(seen);
}

static void the_call_goes_before_the_request_before_the_engine(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    allm_json *opts = play_json("{'record': true, 'scripts': [[], [], []]}");
    allm_json *params = play_json("{'temperature': 0.25, 'max_tokens': 5}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:engine",
                                          .adapter_opts = opts,
                                          .params = params));
    allm_stream *s = play_call(e);
    allm_stream_free(s);
    check_seen(e, "/0/model", "\"fake:engine\"");
    check_seen(e, "/0/temperature", "0.25");
    check_seen(e, "/0/max_tokens", "5");
    const allm_request *r = ALLM(request, .message_count = 1, .messages = &hi,
                                 .model = "fake:request",
                                 .temperature = ALLM_NUM(0.5),
                                 .max_tokens = ALLM_NUM(6));
    s = allm_generate(e, r, NULL);
    allm_stream_free(s);
    check_seen(e, "/1/model", "\"fake:request\"");
    check_seen(e, "/1/temperature", "0.5");
    check_seen(e, "/1/max_tokens", "6");
    s = allm_generate(e, r,
                      ALLM(call_opts, .model = "fake:call",
                           .temperature = ALLM_NUM(0.75),
                           .max_tokens = ALLM_NUM(7), .tool_choice = "none"));
    allm_stream_free(s);
    check_seen(e, "/2/model", "\"fake:call\"");
    check_seen(e, "/2/temperature", "0.75");
    check_seen(e, "/2/max_tokens", "7");
    check_seen(e, "/2/tool_choice", "\"none\"");
    allm_engine_free(e);
    allm_json_free(params);
    allm_json_free(opts);
}

static void options_of_the_provider_go_by_the_same_order(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    allm_json *opts = play_json("{'record': true, 'scripts': [[], []]}");
    allm_json *params = play_json("{'a': 1, 'b': 1, 'c': 1, 'max_turns': 2}");
    allm_json *own = play_json("{'b': 2, 'c': 2, 'd': 2}");
    allm_json *call = play_json("{'c': 3, 'e': 3, 'tool_timeout': 9}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = opts,
                                          .params = params));
    allm_stream *s = play_call(e);
    allm_stream_free(s);
    check_seen(e, "/0/options", "{\"a\":1,\"b\":1,\"c\":1}");
    s = allm_generate(
        e, ALLM(request, .message_count = 1, .messages = &hi, .options = own),
        ALLM(call_opts, .json = call));
    allm_stream_free(s);
    check_seen(e, "/1/options", "{\"a\":1,\"b\":2,\"c\":3,\"e\":3,\"d\":2}");
    allm_engine_free(e);
    allm_json_free(call);
    allm_json_free(own);
    allm_json_free(params);
    allm_json_free(opts);
}

static void the_engine_has_defaults_for_every_option(void)
{
    static const struct {
        const char *params, *json, *events;
    } rows[] = {
        { "{'emit_text_deltas': false}", "{}",
          "started text=a completed:a/null ok" },
        { "{'emit_text_deltas': false}", "{'emit_text_deltas': true}",
          "started text:a text=a completed:a/null ok" },
        { "{'include_raw_chunks': true}", "{}",
          "started text:a chunk:1 text=a completed:a/null ok" },
        { "{'include_raw_chunks': true}", "{'include_raw_chunks': false}",
          "started text:a text=a completed:a/null ok" },
        { "{'total_ms': 5}", "{'total_ms': 7000}",
          "started text:a text=a completed:a/null ok" },
        { "{'emit_text_deltas': 'no'}", "{}", "misuse invalid_option" },
        { "{'temperature': 'hot'}", "{}", "misuse invalid_option" },
        { "{'max_tokens': 0}", "{'max_tokens': 1}", "misuse invalid_option" },
    };
    allm_json *opts = play_json("{'script': [['text', 'a'],"
                                " ['raw_chunk', 1]]}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].params);
        allm_json *params = play_json(rows[i].params);
        allm_json *json = play_json(rows[i].json);
        allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                              .adapter_opts = opts,
                                              .params = params));
        allm_stream *s = play_call_with(e, ALLM(call_opts, .json = json));
        CHECK_TEXT(play_all(s), rows[i].events);
        allm_stream_free(s);
        allm_engine_free(e);
        allm_json_free(json);
        allm_json_free(params);
    }
    allm_json_free(opts);
}

static void fields_of_requests_have_defaults_too(void)
{
    allm_json *opts = play_json("{'record': true, 'scripts': [[], []]}");
    allm_json *params = play_json("{'tool_choice': 'none',"
                                  " 'response_format': {'type': 'text'}}");
    allm_json *json = play_json("{'tool_choice': 'auto'}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = opts,
                                          .params = params));
    allm_stream_free(play_call(e));
    check_seen(e, "/0/tool_choice", "\"none\"");
    check_seen(e, "/0/response_format", "{\"type\":\"text\"}");
    allm_stream_free(play_call_with(e, ALLM(call_opts, .json = json)));
    check_seen(e, "/1/tool_choice", "\"auto\"");
    allm_engine_free(e);
    allm_json_free(json);
    allm_json_free(params);
    allm_json_free(opts);
}

static void tools_come_from_the_request_or_the_engine(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    const allm_tool *a = ALLM(tool, .name = "a", .description = "of engine",
                              .schema_text = "{}");
    const allm_tool *b = ALLM(tool, .name = "b", .description = "of request",
                              .schema_text = "{}");
    allm_json *opts = play_json("{'record': true, 'scripts':"
                                " [[], [], [], []]}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .tools = &a, .tool_count = 1,
                                          .adapter_opts = opts));
    allm_stream_free(play_call(e));
    check_seen(e, "/0/tools/0/name", "\"a\"");
    allm_stream_free(
        allm_generate(e,
                      ALLM(request, .message_count = 1, .messages = &hi,
                           .tools = &b, .tool_count = 1),
                      NULL));
    check_seen(e, "/1/tools/0/name", "\"b\"");
    allm_stream_free(
        allm_generate(e,
                      ALLM(request, .message_count = 1, .messages = &hi,
                           .tools = &b, .tool_count = 0),
                      NULL));
    check_seen(e, "/2/tools", "[]");    /* an empty list counts */
    allm_tool own = *a;         /* the call's tools are ours at once */
    own.description = "of the call";
    const allm_tool *list[] = { &own, b };
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .tools = list, .tool_count = 2));
    own.name = own.description = NULL;
    allm_stream_free(s);
    check_seen(e, "/3/tools/0/description", "\"of the call\"");
    check_seen(e, "/3/tools/1/name", "\"b\"");
    allm_engine_free(e);
    allm_json_free(opts);
}

static void adapter_opts_of_the_call_win(void)
{
    allm_engine *e = play_engine("{'script': [['text', 'engine']]}", NULL);
    allm_json *mine = play_json("{'script': [['text', 'call']]}");
    allm_stream *s = play_call_with(e, ALLM(call_opts, .adapter_opts = mine));
    allm_json_free(mine);       /* copied */
    CHECK_TEXT(play_all(s),
               "started text:call text=call completed:call/null ok");
    allm_stream_free(s);
    allm_engine_free(e);
}

static void ids_are_the_callers_or_fresh(void)
{
    allm_engine *e = play_engine("{'scripts': [[], [], []]}", NULL);
    char id[] = "mine";
    allm_stream *s = play_call_with(e, ALLM(call_opts, .request_id = id));
    id[0] = 'x';
    CHECK_TEXT(allm_stream_request_id(s), "mine");
    allm_stream_wait(s);
    const allm_response *r = allm_stream_response(s);
    CHECK(r && !strcmp(r->request_id, "mine"));
    allm_stream_free(s);
    allm_stream *a = play_call(e), *b = play_call(e);
    const char *x = allm_stream_request_id(a), *y = allm_stream_request_id(b);
    CHECK(x && strlen(x) == 22);
    CHECK(x && y && strcmp(x, y) != 0);
    allm_stream_free(a);
    allm_stream_free(b);
    allm_engine_free(e);
}

/* ------------------------------------------------------- filter and tap --- */

#define SCRIPT                                                            \
    "{'script': [['text', 'a'], ['tool_call_delta', {'id': 'c',"          \
    " 'arguments_delta': '{}'}], ['tool_call', {'id': 'c', 'name': 'f'}]," \
    " ['raw_chunk', 1], ['usage', {'input_tokens': 1}]]}"

static void filters_drop_what_they_say(void)
{
    static const struct {
        const char *why, *json, *events;
    } rows[] = {
        { "by default", "{}",
          "started text:a args:c/{} call:c/f called:c/f/{}/{} usage:1/0 "
          "text=a completed:a/null ok" },
        { "text", "{'emit_text_deltas': false}",
          "started args:c/{} call:c/f called:c/f/{}/{} usage:1/0 text=a "
          "completed:a/null ok" },
        { "tools", "{'emit_tool_deltas': false}",
          "started text:a call:c/f called:c/f/{}/{} usage:1/0 text=a "
          "completed:a/null ok" },
        { "all", "{'emit_tool_deltas': false, 'emit_text_deltas': false,"
                 " 'include_raw_chunks': true}",
          "started call:c/f called:c/f/{}/{} chunk:1 usage:1/0 text=a "
          "completed:a/null ok" },
        { "null is absent", "{'emit_text_deltas': null}",
          "started text:a args:c/{} call:c/f called:c/f/{}/{} usage:1/0 "
          "text=a completed:a/null ok" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_engine *e = play_engine(SCRIPT, NULL);
        allm_json *json = play_json(rows[i].json);
        allm_stream *s = play_call_with(e, ALLM(call_opts, .json = json));
        CHECK_TEXT(play_all(s), rows[i].events);
        const allm_response *r = allm_stream_response(s);
        CHECK(r && !strcmp(r->output_text, "a"));
        allm_stream_free(s);
        allm_json_free(json);
        allm_engine_free(e);
    }
}

static void hidden_text_is_kept_when_the_stream_breaks(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = engine_of(breaks, &clock);
    allm_stream *s = play_call_with(e, ALLM(call_opts, .hide_text_deltas = 1));
    CHECK_TEXT(play_all(s), "error:stream/truncated ok");
    const allm_response *r = allm_stream_response(s);
    CHECK(r && !strcmp(r->output_text, "x"));
    CHECK(r && r->finish_reason == ALLM_FINISH_ERROR);
    allm_stream_free(s);
    allm_engine_free(e);
}

struct tap {
    char seen[512];
    int left;                   /* fail when this many were seen; -1: never */
    allm_stream *inside;        /* pull this one from inside */
    allm_status nested;
};

static allm_status tap(const allm_event *event, void *ud)
{
    struct tap *t = ud;
    size_t n = strlen(t->seen);
    CHECK_ALWAYS(event->seq == 0);
    snprintf(t->seen + n, sizeof t->seen - n, "%s ", play_word(event));
    if (t->inside)
        t->nested = allm_stream_next(t->inside, NULL);
    return t->left-- == 0 ? ALLM_ERR_TOOL : ALLM_OK;
}

static void the_tap_sees_everything_before_the_filter(void)
{
    struct tap t = { .left = -1 };
    allm_engine *e = play_engine(SCRIPT, NULL);
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .on_event = tap, .on_event_ud = &t,
                               .hide_text_deltas = 1, .hide_tool_deltas = 1));
    play_all(s);
    CHECK_TEXT(t.seen, "started text:a args:c/{} call:c/f called:c/f/{}/{} "
                       "chunk:1 usage:1/0 text=a completed:a/null ");
    allm_stream_free(s);
    allm_engine_free(e);
}

/* Words without end; the second rings for a stop. */
static allm_stream *to_cancel;

static allm_status torrent(void *state, const allm_call *call, allm_sink *s,
                           int64_t *again_ns)
{
    (void)state;
    (void)call;
    (void)again_ns;
    if (act.calls++ == 1)
        allm_stream_cancel(to_cancel);
    return put_word(s) < 0 ? ALLM_ERR_NOMEM : ALLM_EVENT;
}

static void what_is_filtered_out_can_be_cancelled(void)
{
    struct clock_manual clock = { 0, 0 };
    const allm_event *event;
    allm_engine *e = engine_of(torrent, &clock);
    to_cancel = play_call_with(e, ALLM(call_opts, .hide_text_deltas = 1));
    CHECK_INT(allm_stream_next(to_cancel, &event), ALLM_OK);
    CHECK(!to_cancel || act.calls < 5);
    allm_stream_free(to_cancel);
    to_cancel = NULL;
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *loud = play_call_with(e,
                                       ALLM(call_opts, .hide_text_deltas = 1));
    bool seated = allm_hub_add(hub, loud, NULL) == ALLM_OK;
    if (seated && allm_hub_wait(hub, 0, NULL) == loud)
        CHECK_INT(allm_stream_next(loud, &event), ALLM_AGAIN);
    allm_stream_free(loud);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* A clock that goes on while a slow caller looks at each event. */
static void a_stream_that_never_rests_ends_in_time(void)
{
    struct clock_manual clock = { 0, 0 };
    const allm_event *event;
    int seen = 0;
    allm_engine *e = engine_of(torrent, &clock);
    allm_stream *s = play_call_with(e, ALLM(call_opts, .total_ms = 2000));
    while (allm_stream_next(s, &event) == ALLM_EVENT && seen < 100) {
        clock_advance(&clock, 1000);
        seen++;
    }
    CHECK(!s || seen < 5);
    allm_stream_free(s);
    allm_engine_free(e);
}

static allm_status frees(const allm_event *event, void *ud)
{
    allm_stream **s = ud;
    (void)event;
    allm_stream_free(*s);
    return ALLM_OK;
}

static void a_tap_may_free_its_own_stream(void)
{
    const allm_event *event;
    allm_stream *s = NULL;
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    s = play_call_with(e,
                       ALLM(call_opts, .on_event = frees, .on_event_ud = &s));
    if (s && !allm_stream_error(s))
        CHECK_INT(allm_stream_next(s, &event), ALLM_ERR_MISUSE);
    else
        allm_stream_free(s);
    allm_engine_free(e);
}

/* Events and errors may be in the adapter's own memory. */
static char *own_memory;

static allm_status put_own(void *state, const allm_call *call, allm_sink *s,
                           int64_t *again_ns)
{
    (void)state;
    (void)call;
    (void)again_ns;
    if (act.calls++)
        return allm_sink_fail(s,
                              ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                   .reason = "unknown", .message = own_memory),
                              true);
    allm_sink_put(s,
                  ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = own_memory));
    return ALLM_EVENT;
}

static void drop_own(void *state, const allm_call *call)
{
    (void)state;
    (void)call;
    memset(own_memory, '?', strlen(own_memory));
}

static void memory_of_an_adapter_may_go_when_it_is_closed(void)
{
    static const allm_adapter table = { .size = sizeof table, .name = "own",
                                        .next = put_own, .close = drop_own };
    char text[] = "mine";
    act.calls = 0;
    own_memory = text;
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .adapter_table = &table));
    allm_stream *s = play_call(e);
    if (s && allm_stream_wait(s) == ALLM_OK) {
        CHECK_TEXT(allm_stream_response(s)->output_text, "mine");
        CHECK_TEXT(allm_stream_error(s)->message, "mine");
    }
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_failing_tap_ends_the_call(void)
{
    struct tap t = { .left = 1 };
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .on_event = tap, .on_event_ud = &t));
    CHECK_TEXT(play_all(s), "started tool tap_failed");
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_TOOL);
    CHECK(s && !allm_stream_response(s));
    CHECK_INT(allm_fake_released(e), 1);
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_engine_free(e);
}

static void a_tap_may_not_pull_its_own_stream(void)
{
    struct tap t = { .left = -1, .nested = ALLM_OK };
    const allm_event *event;
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .on_event = tap, .on_event_ud = &t));
    t.inside = s;
    CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT);
    CHECK_INT(t.nested, ALLM_ERR_MISUSE);
    t.inside = NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    if (s)
        CHECK(!allm_stream_error(s));
    allm_stream_free(s);
    allm_engine_free(e);
}

/* ------------------------------------------------------- time and retry --- */

static void patience_is_limited(void)
{
    check_source("no content at all", mute, ALLM(call_opts, .first_ms = 100),
                 "error:adapter/timeout ok");
    check_source("no content by default", mute, NULL,
                 "error:adapter/timeout ok");
    check_source("silence after a word", one_word,
                 ALLM(call_opts, .first_ms = 10, .silence_ms = 100),
                 "text:x error:adapter/timeout ok");
    check_source("all of it takes too long", chatter,
                 ALLM(call_opts, .silence_ms = 60, .total_ms = 120),
                 "text:x text:x text:x error:adapter/timeout ok");
}

static void the_clock_says_when_it_was_too_late(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = engine_of(one_word, &clock);
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .first_ms = 10, .silence_ms = 70));
    allm_stream_wait(s);
    CHECK_INT(clock.now_ns, 70 * 1000000);
    const allm_response *r = allm_stream_response(s);
    CHECK(r && r->error && !strcmp(r->error->reason, "timeout"));
    allm_stream_free(s);
    allm_engine_free(e);
}

static void failing_adapters_are_reported(void)
{
    check_source("in the middle", breaks, NULL,
                 "text:x error:stream/truncated ok");
    check_source("without a word", sulks, NULL, "error:adapter/unknown ok");
    check_source("with an event of the loops", forges, NULL,
                 "misuse invalid_event");
    check_source("with a usage that does not exist", bad_usage, NULL,
                 "misuse invalid_usage");
}

static void opening_is_tried_again_unless_it_is_final(void)
{
    static const struct {
        const char *why;
        allm_status kind;
        bool final;
        int opened;
        const char *events;
    } rows[] = {
        { "passing", ALLM_ERR_ADAPTER, false, 3, "adapter timeout" },
        { "final", ALLM_ERR_ADAPTER, true, 1, "adapter timeout" },
        { "not an adapter's", ALLM_ERR_ENGINE, false, 1, "engine timeout" },
        { "misuse", ALLM_ERR_MISUSE, false, 1, "misuse timeout" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clock_manual clock = { 0, 0 };
        check_row(rows[i].why);
        allm_engine *e = engine_of(mute, &clock);
        act.open_fails = rows[i].kind;
        act.final = rows[i].final;
        allm_stream *s = play_call(e);
        CHECK_TEXT(play_all(s), rows[i].events);
        CHECK_INT(act.opened, rows[i].opened);
        CHECK_ALWAYS(act.closed == 0);
        allm_stream_free(s);
        allm_engine_free(e);
    }
}

static void a_retry_can_be_cancelled(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = engine_of(mute, &clock);
    act.open_fails = ALLM_ERR_ADAPTER;
    allm_stream *s = play_call(e);
    allm_stream_cancel(s);
    CHECK_TEXT(play_all(s), "ok");
    CHECK_INT(act.opened, 1);
    allm_stream_free(s);
    allm_engine_free(e);
}

/* ---------------------------------------------------- catalog and trace --- */

struct log {
    char seen[512];
    bool has_response;
};

static void write_down(const allm_trace_event *event, void *ud)
{
    struct log *log = ud;
    size_t n = strlen(log->seen);
    snprintf(log->seen + n, sizeof log->seen - n, "%s.%s ", event->span,
             event->what);
    if (allm_json_get(event->metadata, "response"))
        log->has_response = true;
}

static void spans_are_reported(void)
{
    struct log log = { .seen = "" };
    allm_json *opts = play_json("{'retry_until_call': 2, 'script': []}");
    struct clock_manual manual = { 0, 0 };
    allm_clock clock = play_clock(&manual);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .trace = write_down, .trace_ud = &log, .clock = &clock));
    allm_stream *s = play_call(e);
    allm_stream_wait(s);
    CHECK_TEXT(log.seen, "generate.start stream.start adapter.retry "
                         "stream.stop generate.stop ");
    CHECK(log.has_response);
    allm_stream_free(s);
    log.seen[0] = '\0';
    s = play_call(e);           /* exhausted */
    CHECK_TEXT(log.seen, "generate.start stream.start adapter.retry ");
    allm_stream_wait(s);
    allm_stream_free(s);
    CHECK_TEXT(log.seen, "generate.start stream.start adapter.retry "
                         "stream.stop generate.stop ");
    allm_engine_free(e);
    allm_json_free(opts);
}

static void the_catalog_forbids_and_prices(void)
{
    const allm_tool *tool = ALLM(tool, .name = "a", .description = "",
                                 .schema_text = "{}");
    allm_json *doc = play_json(
        "{'models': [{'provider': 'fake', 'id': 'm', 'capabilities':"
        " {'tools': {'enabled': false}}, 'pricing': {'input': 2,"
        " 'output': 4}}]}");
    allm_json *opts = play_json("{'script': [['usage', {'input_tokens':"
                                " 500000, 'output_tokens': 250000}]]}");
    allm_catalog *catalog = allm_catalog_new(doc);
    CHECK(catalog && !allm_catalog_error(catalog));
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = opts,
                                          .catalog = catalog));
    allm_catalog_free(catalog);
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .tools = &tool, .tool_count = 1));
    CHECK_TEXT(play_all(s), "validation unsupported_capability");
    allm_stream_free(s);
    s = play_call(e);
    allm_stream_wait(s);
    const allm_response *r = allm_stream_response(s);
    CHECK(r && r->usage->input_cost.value == 1.0);
    CHECK(r && r->usage->output_cost.value == 1.0);
    CHECK(r && r->usage->total_cost.value == 2.0);
    allm_stream_free(s);
    allm_engine_free(e);
    allm_json_free(opts);
    allm_json_free(doc);
}

TESTS = {
    TEST(guards_come_in_their_order),
    TEST(requests_that_are_broken_are_refused),
    TEST(options_of_a_wrong_kind_are_misuse),
    TEST(dialects_need_a_transport),
    TEST(the_call_goes_before_the_request_before_the_engine),
    TEST(options_of_the_provider_go_by_the_same_order),
    TEST(the_engine_has_defaults_for_every_option),
    TEST(fields_of_requests_have_defaults_too),
    TEST(tools_come_from_the_request_or_the_engine),
    TEST(adapter_opts_of_the_call_win),
    TEST(ids_are_the_callers_or_fresh),
    TEST(filters_drop_what_they_say),
    TEST(hidden_text_is_kept_when_the_stream_breaks),
    TEST(the_tap_sees_everything_before_the_filter),
    TEST(a_failing_tap_ends_the_call),
    TEST(a_tap_may_not_pull_its_own_stream),
    TEST(what_is_filtered_out_can_be_cancelled),
    TEST(a_stream_that_never_rests_ends_in_time),
    TEST(a_tap_may_free_its_own_stream),
    TEST(memory_of_an_adapter_may_go_when_it_is_closed),
    TEST(patience_is_limited),
    TEST(the_clock_says_when_it_was_too_late),
    TEST(failing_adapters_are_reported),
    TEST(opening_is_tried_again_unless_it_is_final),
    TEST(a_retry_can_be_cancelled),
    TEST(spans_are_reported),
    TEST(the_catalog_forbids_and_prices),
    TESTS_END,
};
