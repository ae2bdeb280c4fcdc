/* dialect.c - a small dialect for tests that reaches every path of a feed */
#include "harness/dialect.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>

struct talk {
    bool started, finished, told;
    size_t len;
    char text[4096];
};

atomic_size_t dialect_finished;

static bool is(const allm_json *v, const char *word)
{
    const char *text = allm_json_text(v, NULL);
    return text && !strcmp(text, word);
}

static allm_status encode(const allm_call *call, allm_http *out)
{
    char text[512];
    const allm_json *how = allm_json_get(call->options, "encode");
    if (is(how, "sulks"))
        return ALLM_ERR_ADAPTER;
    if (is(how, "fails"))
        return allm_http_fail(out, ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                        .reason = "unsupported_feature",
                                        .message = "cannot say that"));
    if (is(how, "late"))
        return allm_http_fail(out, ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                        .reason = "timeout"));
    snprintf(text, sizeof text, "%s/talk",
             call->base_url ? call->base_url : "https://test.example");
    if (!is(how, "nowhere"))
        allm_http_url(out, text);
    allm_http_header(out, "content-type", "application/json");
    allm_http_header(out, "x-mine",
                     is(how, "header") ? "a\r\nx-yours: b" : "a\tb");
    snprintf(text, sizeof text, "{\"model\":\"%s\",\"provider\":\"%s\",",
             call->model, call->provider);
    allm_http_body(out, text, strlen(text));
    memset(text, ' ', sizeof text);
    for (int i = 0; is(how, "long") && i < 2048; i++)
        allm_http_body(out, text, sizeof text);
    snprintf(text, sizeof text, "\"attempt\":%u}", call->attempt);
    allm_http_body(out, text, strlen(text));
    return ALLM_OK;
}

static void put_text(struct talk *t, const allm_json *v, allm_sink *sink)
{
    size_t len;
    const char *text = allm_json_text(v, &len);
    if (!text)
        return;
    if (!t->started)
        allm_sink_put(sink, ALLM(event, .type = ALLM_EV_MESSAGE_STARTED));
    t->started = true;
    allm_sink_put(sink, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = text,
                             .text_len = len));
    if (t->len + len < sizeof t->text) {
        memcpy(t->text + t->len, text, len);
        t->len += len;
    }
}

static allm_status complain(const char *why, const char *reason,
                            allm_sink *sink)
{
    return allm_sink_fail(sink,
                          ALLM(error, .kind = ALLM_ERR_ADAPTER,
                               .reason = reason, .message = why),
                          false);
}

static void complete(struct talk *t, allm_sink *sink)
{
    allm_message *m = allm_sink_alloc(sink, sizeof *m);
    if (!m || t->told)
        return;
    t->told = true;
    *m = (allm_message){ .size = sizeof *m,
                         .role = ALLM_ROLE_ASSISTANT,
                         .text = t->text };
    allm_sink_put(sink, ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
                             .message = m, .finish_reason = ALLM_FINISH_STOP));
}

static void put_error(const char *why, allm_sink *sink)
{
    const allm_error *e = ALLM(error, .kind = ALLM_ERR_ADAPTER,
                               .reason = "unknown", .message = why);
    if (why)
        allm_sink_put(sink, ALLM(event, .type = ALLM_EV_ERROR, .error = e));
}

static allm_status take(struct talk *t, const allm_json *v, allm_sink *sink)
{
    const allm_json *texts = allm_json_get(v, "texts");
    const char *why = allm_json_text(allm_json_get(v, "error"), NULL);
    put_text(t, allm_json_get(v, "text"), sink);
    for (const allm_json *each = NULL; (each = allm_json_next(texts, each));)
        put_text(t, each, sink);
    put_error(allm_json_text(allm_json_get(v, "tells"), NULL), sink);
    if (allm_json_get(v, "ping") || allm_json_get(v, "quiet"))
        allm_sink_idle(sink);
    if (allm_json_get(v, "finish")) {
        t->finished = true;
        allm_sink_settle(sink);
    }
    if (allm_json_get(v, "hides"))
        complain(allm_json_text(allm_json_get(v, "hides"), NULL), "unknown",
                 sink);
    if (allm_json_get(v, "sulk"))
        return ALLM_ERR_ADAPTER;
    return why ? complain(why, "unknown", sink) : ALLM_OK;
}

/* The connection is closed after this frame; its bytes must outlive that. */
static allm_status point_into(struct talk *t, const allm_frame *frame,
                              allm_sink *sink)
{
    t->finished = true;
    allm_sink_end(sink);
    return allm_sink_put(sink, ALLM(event, .type = ALLM_EV_TEXT_DELTA,
                                    .text = frame->data + 1,
                                    .text_len = frame->data_len - 1));
}

static allm_status decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink)
{
    struct talk *t = state;
    (void)call;
    if (frame->data_len == 3 && !memcmp(frame->data, "end", 3)) {
        t->finished = true;
        complete(t, sink);
        allm_sink_end(sink);
        return ALLM_OK;
    }
    if (frame->data_len && *frame->data == '=')
        return point_into(t, frame, sink);
    const allm_json *v = allm_sink_parse(sink, frame->data, frame->data_len);
    if (!v && frame->cut)
        return ALLM_OK;         /* finish() decides */
    if (!v)
        return complain("a frame is not JSON", "malformed_response", sink);
    if (frame->name_len == 5 && !memcmp(frame->name, "error", 5))
        return complain(allm_json_text(v, NULL), "unknown", sink);
    return take(t, v, sink);
}

static allm_status finish(void *state, const allm_call *call, allm_sink *sink)
{
    struct talk *t = state;
    (void)call;
    dialect_finished++;
    if (!t->finished)
        return allm_sink_fail(
            sink, ALLM(error, .kind = ALLM_ERR_STREAM, .reason = "truncated"),
            false);
    complete(t, sink);
    return ALLM_OK;
}

static allm_status explain(const allm_call *call, const allm_http_head *head,
                           const char *body, size_t len, allm_sink *sink)
{
    int64_t ms;
    (void)call;
    CHECK_ALWAYS(head->status < 200 || head->status > 299);
    if (len && *body == '!')
        return complain(body, "content_filter", sink);
    const allm_json *v = allm_sink_parse(sink, body, len);
    const char *why = allm_json_text(allm_json_get(v, "why"), NULL);
    const allm_json *more = allm_json_get(v, "more");
    if (allm_json_int64(allm_json_get(v, "later"), &ms))
        return allm_sink_fail(sink,
                              ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                   .reason = "rate_limited",
                                   .retry_after_ms = { ms, true }),
                              false);
    if (!why)
        return ALLM_OK;
    put_error("not to be seen", sink);
    return allm_sink_fail(sink,
                          ALLM(error, .kind = ALLM_ERR_ADAPTER,
                               .reason = "content_filter", .message = why,
                               .metadata = more, .cause = more),
                          false);
}

#define DIALECT(how)                                          \
    {                                                         \
        .size = sizeof(allm_adapter), .name = "test",         \
        .state_size = sizeof(struct talk), .framing = (how),  \
        .encode = encode, .decode = decode, .finish = finish, \
        .explain = explain                                    \
    }

const allm_adapter dialect_sse = DIALECT(ALLM_FRAMING_SSE);
const allm_adapter dialect_ndjson = DIALECT(ALLM_FRAMING_NDJSON);
const allm_adapter dialect_whole = DIALECT(ALLM_FRAMING_WHOLE);

void dialect_set_up(struct dialect_set *d)
{
    d->clock = (struct clock_manual){ 1000000, 1700000000000 };
    d->play = (struct scripted){ .steps = d->steps,
                                 .clock = d->real_time ? NULL : &d->clock };
    d->transport = scripted_transport(&d->play);
    if (d->blind)
        d->transport.ready = NULL;
    allm_clock clock = play_clock(&d->clock);
    d->engine = allm_engine_new(
        ALLM(engine_opts, .model = d->model ? d->model : "test:m",
             .adapter_table = d->adapter ? d->adapter : &dialect_sse,
             .transport = &d->transport, .keys = d->keys, .retry = d->retry,
             .adapter_opts = d->adapter_opts, .allocator = d->allocator,
             .clock = d->real_time ? NULL : &clock, .trace = d->trace,
             .trace_ud = d->trace_ud));
}

void dialect_tear_down(struct dialect_set *d)
{
    CHECK_ALWAYS(d->play.open_now == 0);
    allm_engine_free(d->engine);
}

const char *dialect_play(const struct scripted_step *steps,
                         const allm_call_opts *opts)
{
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call_with(d.engine, opts);
    const char *told = play_all(s);
    allm_stream_free(s);
    dialect_tear_down(&d);
    return told;
}
