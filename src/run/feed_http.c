/*
 * feed_http.c - events decoded from the body of an HTTP response
 *
 *      CLOSED --open--> HEAD --2xx--> BODY --end--> ENDING --> OVER
 *                         '--else--> REFUSED --explain--> failed
 *
 * The request is encoded when the feed is made; the first pull opens the
 * connection.  A body that begins like a JSON document is read as one, whatever
 * its headers say.
 *
 * Invariants
 *   (1) The transport is read only when all of its bytes are decoded and all of
 *       their events were taken: the feed does not read ahead of the caller.
 *   (2) Borrowed bytes are returned (by hang_up or the next read) only after
 *       their events were taken.
 *   (3) Keys are removed from every error and from the metadata of a response,
 *       and none of them points into memory of the transport.
 *   (4) `begun` is set by the first byte of a body, or by its end.  From then
 *       on a failure is an event of the stream, and the call is not retried.
 */
#include "run/feed_http.h"

#include "base/nocase.h"
#include "base/status.h"
#include "net/request_json.h"
#include "net/transport.h"
#include "provider/decoder.h"
#include "provider/explain.h"
#include "provider/http.h"
#include "provider/redact.h"
#include "provider/retry_after.h"
#include "run/response_head.h"
#include "run/stream.h"
#include "json/build.h"
#include "json/json.h"

#include <stdint.h>

enum state { CLOSED, HEAD, BODY, REFUSED, ENDING, OVER };

enum {
    REFUSED_LIMIT = 64 * 1024,  /* bytes read of the body of an error */
    REFUSED_MS = 5000,          /* to wait for that body */
    GRACE_MS = 2000,            /* to wait for the protocol's end */
    STEPS = 64                  /* in one pull; then cancel is checked */
};

struct http_feed {
    struct feed feed;
    struct feed_env env;
    struct arena *life;         /* of the attempt */
    struct arena wire;          /* the request; then an error's body */
    struct allm_http http;
    allm_exchange *exchange;
    enum state state;
    int64_t opened_ns, refused_ns, settled_ns;
    struct decoding decoding;
    struct slice rest;          /* borrowed bytes, not yet decoded */
    struct buf refusal;
    bool connected, answered, decoding_on;
};

static struct http_feed *of(struct feed *f)
{
    return (struct http_feed *)f;
}

static int64_t now(const struct http_feed *h)
{
    return clock_now_ns(h->env.clock);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static allm_status fail_feed(struct allm_sink *sink, allm_status kind,
                             const char *reason, const char *sentence)
{
    allm_error e = STATUS_ERROR(kind, reason, sentence);
    return allm_sink_fail(sink, &e, false);
}

/* The status of a failure that the sink holds. */
static allm_status failure_status(const struct allm_sink *sink)
{
    return sink->failure      ? sink->failure->kind
           : sink->status < 0 ? sink->status
                              : ALLM_ERR_NOMEM;
}

static void hang_up(struct http_feed *h)
{
    if (h->exchange)
        h->env.transport->close(h->env.transport->self, h->exchange);
    h->exchange = NULL;
    h->rest = (struct slice){ NULL, 0 };
}

/* The head of the response; NULL: none came. */
static const allm_http_head *head_of(const struct http_feed *h)
{
    const allm_transport *t = h->env.transport;
    return h->exchange && h->answered ? t->head(t->self, h->exchange) : NULL;
}

/* -------------------------------------------------------------- errors --- */

static struct slice key_of(const struct http_feed *h)
{
    const struct secret *key = h->env.key;
    const char *prefix = h->env.row->auth_header
                             ? h->env.row->auth_prefix
                             : h->env.row->adapter->auth_prefix;
    if (!key)
        return (struct slice){ NULL, 0 };
    return slice_skip((struct slice){ key->ptr, key->len },
                      prefix ? strlen(prefix) : 0);
}

/* A copy of the error in the sink's memory, completed and without secrets:
 * keeps (3). */
static const allm_error *redact_failure(const struct http_feed *h,
                                        const allm_error *error,
                                        struct allm_sink *sink)
{
    allm_error e = *error;
    bool of_provider = e.kind == ALLM_ERR_ADAPTER || e.kind == ALLM_ERR_IMAGE;
    if ((of_provider || e.kind == ALLM_ERR_ENGINE) && !e.provider)
        e.provider = h->feed.call->provider;
    if (of_provider && !e.request_id)
        e.request_id = response_head_id(head_of(h));
    const allm_error *safe = redact_error(sink->arena, &e, key_of(h));
    if (safe->kind == ALLM_ERR_NOMEM)
        sink->status = ALLM_ERR_NOMEM;
    return safe;
}

/* Add {"openai_request_id": "req_..."} to the metadata, for the provider's
 * support. */
static const allm_json *add_id(const struct http_feed *h,
                               const allm_json *metadata,
                               struct allm_sink *sink)
{
    struct arena *a = sink->arena;
    struct buf name = buf_in(a, SIZE_MAX / 2);
    buf_text(&name, h->feed.call->provider);
    buf_text(&name, "_request_id");
    const allm_json *value = build_alone_copy(a, slice_of(h->feed.answer_id));
    return value && !name.broken
               ? json_set(a, metadata, buf_slice(&name), value)
               : NULL;
}

/* Remove keys from the metadata of a response, and add its id. */
static void redact_completed(const struct http_feed *h, allm_event *event,
                             struct allm_sink *sink)
{
    const allm_json *all = redact_answer(sink->arena, event->metadata,
                                         key_of(h));
    bool ok = all || !event->metadata;
    if (ok && h->feed.answer_id && h->feed.call->provider) {
        all = add_id(h, all, sink);
        ok = all != NULL;
    }
    if (!ok)
        sink->status = ALLM_ERR_NOMEM;
    event->metadata = all;
}

/* The same for all errors and responses in the sink. */
static void redact_sink(const struct http_feed *h, struct allm_sink *sink)
{
    for (struct sink_item *i = sink->first; i; i = i->next)
        if (i->event.type == ALLM_EV_ERROR && i->event.error)
            i->event.error = redact_failure(h, i->event.error, sink);
        else if (i->event.type == ALLM_EV_MESSAGE_COMPLETED)
            redact_completed(h, &i->event, sink);
    if (sink->failure)
        sink->failure = redact_failure(h, sink->failure, sink);
}

/* The message of a redirect: it says why it was not followed. */
static const char *redirect_message(const allm_http_head *head,
                                    const char *message, struct allm_sink *sink)
{
    const char *to = nocase_header(head->header, head->header_count,
                                   "location");
    struct slice shown = to ? request_json_url(sink->arena, slice_of(to), NULL)
                            : SLICE("another place");
    struct buf text = buf_in(sink->arena, 8192);
    buf_format(&text,
               "%.2000s: the server points to %.1000s; the request and "
               "the key are sent nowhere but to base_url, so set that to the "
               "right address",
               message, shown.ptr ? shown.ptr : "");
    if (text.broken || !shown.ptr)
        sink->status = ALLM_ERR_NOMEM;
    return text.broken ? message : text.ptr;
}

/* Add to an error what the head of the response says. */
static void complete_error(const struct http_feed *h,
                           const allm_http_head *head, struct allm_sink *sink)
{
    int64_t ms;
    const char *again = nocase_header(head->header, head->header_count,
                                      "x-should-retry");
    allm_error e = *sink->failure;
    if (!e.http_status.set)
        e.http_status = (allm_int){ head->status, true };
    if (!e.retry_after_ms.set &&
        retry_after_find(head->header, head->header_count,
                         clock_unix_ms(h->env.clock), &ms))
        e.retry_after_ms = (allm_int){ ms, true };
    if (head->status >= 300 && head->status <= 399)
        e.message = redirect_message(head, e.message, sink);
    if (again && !strcmp(again, "false"))
        sink->final = true;     /* the provider knows better */
    sink->failure = redact_failure(h, &e, sink);
}

static allm_status explain_refusal(struct http_feed *h, struct allm_sink *sink)
{
    const allm_adapter *a = h->feed.adapter;
    const allm_http_head *head = head_of(h);
    struct slice body = buf_slice(&h->refusal);
    if (a->explain)
        a->explain(h->feed.call, head, body.ptr, body.len, sink);
    sink->first = sink->last = NULL;    /* a refusal has no events */
    if (!sink->failure && sink->status == ALLM_OK)
        explain_default(head, body.ptr, body.len, sink);
    if (sink->failure)
        complete_error(h, head, sink);
    hang_up(h);
    return failure_status(sink);
}

/* The transport failed: report its error as the error of the call. */
static allm_status fail_transport(struct http_feed *h, const allm_error *why,
                                  struct allm_sink *sink)
{
    static const allm_error silent =
        STATUS_ERROR(ALLM_ERR_ADAPTER, "network_error",
                     "the transport failed without saying why");
    allm_sink_fail(sink, why ? why : &silent, false);
    redact_sink(h, sink);
    hang_up(h);
    return failure_status(sink);
}

/* ------------------------------------------------------------- reading --- */

/* The engine's transport, or the HTTP client of the stream's hub; *http is the
 * client if the engine's transport needs it.  False: it cannot be made. */
static bool find_transport(struct http_feed *h, const allm_transport **http)
{
    *http = NULL;
    if (!transport_needs_http(h->env.transport))
        return true;
    *http = stream_transport(h->env.stream, h->env.net);
    if (!h->env.transport)
        h->env.transport = *http;
    return *http != NULL;
}

/* The request as the transport reads it: our own client reads a body in
 * pieces.  False: no memory. */
static bool make_view(const struct http_feed *h, struct transport_request *r)
{
    if (h->env.transport)
        return http_view(&h->http, &r->view);
    if (!http_pieces(&h->http, &r->view, &r->body))
        return false;
    r->view.size = sizeof *r;
    return true;
}

static allm_status open_exchange(struct http_feed *h, struct allm_sink *sink)
{
    struct transport_request request;
    allm_http_view *view = &request.view;
    const allm_transport *http;
    const allm_error *why = NULL;
    const struct registry_row *row = h->env.row;
    if (!make_view(h, &request))
        return sink->status = ALLM_ERR_NOMEM;
    if (h->env.key) {
        view->secret_name = row->auth_header ? row->auth_header
                                             : row->adapter->auth_header;
        view->secret_value = h->env.key->ptr;
    }
    h->opened_ns = now(h);
    if (!find_transport(h, &http))
        return fail_feed(
            sink, ALLM_ERR_ENGINE, "invalid_engine",
            "no transport: the HTTP client could not be started (no "
            "descriptors or no memory left?); give the engine one of "
            "your own, or try again");
    h->exchange = transport_open(h->env.transport, http, view,
                                 stream_waker(h->env.stream), &why);
    h->state = HEAD;
    return h->exchange ? ALLM_OK : fail_transport(h, why, sink);
}

/* Check the time limit of connecting. */
static allm_status await_connection(struct http_feed *h, int64_t *again_ns,
                                    struct allm_sink *sink)
{
    const allm_transport *t = h->env.transport;
    h->connected = h->connected || !t->ready || t->ready(t->self, h->exchange);
    if (h->connected)
        return ALLM_AGAIN;
    int64_t limit = clock_after(h->opened_ns, h->env.connect_ms);
    if (now(h) >= limit) {
        hang_up(h);
        return fail_feed(
            sink, ALLM_ERR_ADAPTER, "timeout",
            "no connection was made in time; set connect_ms to wait "
            "longer");
    }
    *again_ns = earlier(*again_ns, limit);
    return ALLM_AGAIN;
}

/* Read the transport.  EVENT: bytes are in h->rest; or AGAIN, OK, < 0. */
static allm_status read_transport(struct http_feed *h, int64_t *again_ns,
                                  const allm_error **why)
{
    const allm_transport *t = h->env.transport;
    allm_chunk chunk = { .size = sizeof chunk, .again_ns = INT64_MAX };
    allm_status status = t->read(t->self, h->exchange, &chunk);
    h->rest = (struct slice){ NULL, 0 };
    if (status == ALLM_EVENT)
        h->rest = (struct slice){ chunk.bytes, chunk.len };
    if (status == ALLM_AGAIN)
        *again_ns = chunk.again_ns;
    *why = chunk.error;
    return status;
}

/* The same; checks the time limit of connecting, and puts failures into the
 * sink. */
static allm_status read_more(struct http_feed *h, int64_t *again_ns,
                             struct allm_sink *sink)
{
    const allm_error *why;
    allm_status status = read_transport(h, again_ns, &why);
    if (status == ALLM_AGAIN)
        return await_connection(h, again_ns, sink);
    if (status < 0)
        return fail_transport(h, why, sink);
    h->connected = h->answered = true;
    return status;
}

/* Store bytes of an error's body, up to the limit. */
static allm_status add_refusal(struct http_feed *h, struct allm_sink *sink)
{
    size_t room = REFUSED_LIMIT - h->refusal.len;
    struct slice piece = h->rest;
    piece.len = piece.len < room ? piece.len : room;
    buf_add(&h->refusal, piece);
    h->rest = (struct slice){ NULL, 0 };
    if (h->refusal.broken)
        return sink->status = ALLM_ERR_NOMEM;
    return h->refusal.len < REFUSED_LIMIT ? ALLM_OK : explain_refusal(h, sink);
}

/* Choose the next state by the status; `ended`: there is no body. */
static allm_status take_head(struct http_feed *h, bool ended,
                             struct allm_sink *sink)
{
    const allm_http_head *head = head_of(h);
    if (!head)
        return fail_transport(h, NULL, sink);
    arena_release(&h->wire);    /* the request is not needed any more */
    if (h->env.ticket)
        pacer_learn(h->env.ticket, head->header, head->header_count, now(h),
                    clock_unix_ms(h->env.clock));
    if (head->status >= 200 && head->status <= 299) {
        const char *id = response_head_id(head);
        h->feed.answer_id = arena_text(h->life,
                                       redact_text(h->life, id, key_of(h)));
        if (id && !h->feed.answer_id)
            return sink->status = ALLM_ERR_NOMEM;
        h->feed.begun = ended || h->rest.len;   /* keeps (4) */
        h->state = ended ? ENDING : BODY;
        return ALLM_OK;
    }
    buf_init(&h->refusal, &h->wire, REFUSED_LIMIT);
    h->refused_ns = now(h);
    h->feed.settled = true;     /* a timeout must not hide this error */
    h->state = REFUSED;
    return ended ? explain_refusal(h, sink) : add_refusal(h, sink);
}

static allm_status read_head(struct http_feed *h, struct allm_sink *sink,
                             int64_t *again_ns)
{
    allm_status status = read_more(h, again_ns, sink);
    return status == ALLM_EVENT || status == ALLM_OK
               ? take_head(h, status == ALLM_OK, sink)
               : status;
}

/* A body that breaks, is late or is too long is used as far as it came. */
static allm_status read_refusal(struct http_feed *h, struct allm_sink *sink,
                                int64_t *again_ns)
{
    const allm_error *why;
    int64_t limit = clock_after(h->refused_ns, REFUSED_MS);
    allm_status status = read_transport(h, again_ns, &why);
    if (status == ALLM_EVENT)
        return add_refusal(h, sink);
    if (status != ALLM_AGAIN || h->feed.hurry || now(h) >= limit)
        return explain_refusal(h, sink);
    *again_ns = earlier(*again_ns, limit);
    return ALLM_AGAIN;
}

/* ------------------------------------------------------------ decoding --- */

static void start_decoding(struct http_feed *h, bool whole)
{
    decoder_init(&h->decoding, h->env.mem, h->feed.adapter, h->feed.call,
                 h->feed.state, whole);
    if (h->env.row->body_limit)
        decoder_limit(&h->decoding, h->env.row->body_limit);
    h->decoding_on = true;
}

/* White space, or a byte of a byte order mark. */
static bool is_blank(char c)
{
    return c && strchr(" \t\r\n\xEF\xBB\xBF", c);
}

/* Find out what the body is, by its first byte that is not blank.  Blanks are
 * skipped wherever the body is cut. */
static allm_status detect_framing(struct http_feed *h, struct allm_sink *sink)
{
    bool sse = h->feed.adapter->framing == ALLM_FRAMING_SSE;
    while (sse && h->rest.len && is_blank(*h->rest.ptr))
        h->rest = slice_skip(h->rest, 1);
    if (!h->rest.len)
        return ALLM_OK;
    char first = *h->rest.ptr;
    if (sse && first == '<')
        return fail_feed(sink, ALLM_ERR_ADAPTER, "malformed_response",
                         "the answer is a page of HTML instead of events; is "
                         "base_url right, and is no login page in between?");
    start_decoding(h, sse && (first == '{' || first == '['));
    return ALLM_OK;
}

/* Follow what the adapter says about the protocol. */
static void follow_protocol(struct http_feed *h, const struct allm_sink *sink,
                            bool content)
{
    if (sink->settled && !h->feed.settled)
        h->feed.settled = content = true;
    if (content && h->feed.settled)
        h->settled_ns = now(h);
    if (sink->ended)
        h->state = ENDING;
}

static allm_status decode_rest(struct http_feed *h, struct allm_sink *sink)
{
    bool content = false;
    allm_status status = h->decoding_on ? ALLM_OK : detect_framing(h, sink);
    if (status >= 0 && h->decoding_on)
        status = decoder_feed(&h->decoding, &h->rest, sink, &content);
    if (content)
        h->feed.fresh = true;
    redact_sink(h, sink);
    follow_protocol(h, sink, content);
    return sink->status < 0 ? sink->status : status;
}

/* The connection broke: the end if the response is complete, otherwise an
 * error, "truncated" unless the response is malformed. */
static allm_status report_cut(struct http_feed *h, struct allm_sink *sink)
{
    bool odd = sink->failure &&
               !strcmp(sink->failure->reason, "malformed_response");
    if (!h->feed.begun || failure_status(sink) == ALLM_ERR_NOMEM ||
        (odd && !h->feed.settled))
        return failure_status(sink);
    if (h->feed.settled) {
        sink->failure = NULL;
        h->state = ENDING;
        return ALLM_OK;
    }
    struct buf text = buf_in(sink->arena, 8192);
    buf_format(&text, "the answer broke off in its middle: %.4000s",
               sink->failure ? sink->failure->message : "");
    if (text.broken)
        return sink->status = ALLM_ERR_NOMEM;
    return fail_feed(sink, ALLM_ERR_STREAM, "truncated", text.ptr);
}

/* Nothing came.  The response may be complete nevertheless. */
static allm_status await_end(struct http_feed *h, int64_t *again_ns)
{
    int64_t limit = clock_after(h->settled_ns, GRACE_MS);
    if (!h->feed.settled)
        return ALLM_AGAIN;
    if (h->feed.hurry || now(h) >= limit) {
        h->state = ENDING;
        return ALLM_OK;
    }
    *again_ns = earlier(*again_ns, limit);
    return ALLM_AGAIN;
}

static allm_status read_body(struct http_feed *h, struct allm_sink *sink,
                             int64_t *again_ns)
{
    if (h->rest.len)
        return decode_rest(h, sink);
    allm_status status = read_more(h, again_ns, sink);
    if (status == ALLM_AGAIN && h->decoding_on &&
        stream_is_one_of_many(h->env.stream))
        decoder_rest(&h->decoding);
    if (status == ALLM_AGAIN)
        return await_end(h, again_ns);
    if (status < 0)
        return report_cut(h, sink);
    h->feed.begun = h->feed.begun || h->rest.len || status == ALLM_OK;
    if (status == ALLM_OK)
        h->state = ENDING;
    return ALLM_OK;
}

static allm_status end_body(struct http_feed *h, struct allm_sink *sink)
{
    hang_up(h);
    if (!h->decoding_on)
        start_decoding(h, false);
    allm_status status = decoder_end(&h->decoding, sink);
    if (status == ALLM_OK)
        h->state = OVER;
    redact_sink(h, sink);
    return sink->status < 0 ? sink->status : status;
}

/* ---------------------------------------------------------------- feed --- */

static allm_status step_feed(struct http_feed *h, struct allm_sink *sink,
                             int64_t *again_ns)
{
    switch (h->state) {
    case CLOSED:
        return open_exchange(h, sink);
    case HEAD:
        return read_head(h, sink, again_ns);
    case BODY:
        return read_body(h, sink, again_ns);
    case REFUSED:
        return read_refusal(h, sink, again_ns);
    case ENDING:
        return end_body(h, sink);
    case OVER:
        break;
    }
    return ALLM_OK;
}

static allm_status http_next(struct feed *f, struct allm_sink *sink,
                             int64_t *again_ns)
{
    struct http_feed *h = of(f);
    for (int i = 0; i < STEPS && h->state != OVER; i++) {
        allm_status status = step_feed(h, sink, again_ns);
        if (status < 0 || status == ALLM_AGAIN)
            return status;
        if (sink->first)
            return ALLM_EVENT;
    }
    if (h->state == OVER)
        return ALLM_OK;
    *again_ns = now(h);         /* bytes without events: others come first */
    return ALLM_AGAIN;
}

static void http_close(struct feed *f)
{
    struct http_feed *h = of(f);
    hang_up(h);
    if (h->decoding_on)
        decoder_release(&h->decoding);
    arena_release(&h->wire);
}

static bool http_failed(const struct feed *f, int64_t *again_ns)
{
    const struct http_feed *h = (const struct http_feed *)f;
    const allm_transport *t = h->env.transport;
    if (!h->exchange)
        return false;
    if (t->failed && t->failed(t->self, h->exchange))
        return true;
    if (h->connected || !t->ready || t->ready(t->self, h->exchange))
        return false;
    int64_t limit = clock_after(h->opened_ns, h->env.connect_ms);
    *again_ns = earlier(*again_ns, limit);
    return now(h) >= limit;
}

static const struct feed_ops http_ops = { http_next, http_failed, http_close };

/* -------------------------------------------------------------- making --- */

/* What is wrong with an encoded request; NULL: nothing. */
static const char *fault_of(const struct allm_http *http)
{
    if (!http->url)
        return "the adapter gave no address; set base_url";
    if (http->odd)
        return "the address or a header has a control character in it, such "
               "as a line break; look at base_url and at the options that "
               "become headers";
    if (http->body.over)
        return "the request is longer than 256 MiB; send less at once";
    return NULL;
}

/* Encode the request.  False: the sink says why. */
static bool encode_request(struct http_feed *h, struct allm_sink *sink)
{
    const allm_adapter *a = h->feed.adapter;
    http_init(&h->http, &h->wire, sink);
    allm_status status = a->encode(h->feed.call, &h->http);
    if (sink->failure || sink->status < 0)
        return false;
    if (status < 0)
        fail_feed(sink, status, "invalid_request",
                  "the adapter could not encode the request");
    else if (h->http.broken || (h->http.body.broken && !h->http.body.over))
        sink->status = ALLM_ERR_NOMEM;
    else if (fault_of(&h->http))
        fail_feed(sink, ALLM_ERR_ENGINE, "invalid_engine", fault_of(&h->http));
    else
        return true;
    return false;
}

struct feed *feed_http(struct arena *a, const allm_call *call,
                       const struct feed_env *env, struct allm_sink *sink)
{
    const allm_adapter *adapter = env->row->adapter;
    /* In one piece: a second block would be larger than what follows needs. */
    struct http_feed *h = arena_zero(a, sizeof *h + adapter->state_size + 1);
    if (!h) {
        sink->status = ALLM_ERR_NOMEM;
        return NULL;
    }
    h->feed = (struct feed){
        .ops = &http_ops, .adapter = adapter, .call = call, .state = h + 1
    };
    h->env = *env;
    h->life = a;
    arena_init(&h->wire, env->mem);
    if (!adapter->encode)
        fail_feed(sink, ALLM_ERR_ENGINE, "invalid_engine",
                  "the adapter has no encode");
    else if (encode_request(h, sink))
        return &h->feed;
    if (sink->failure)
        sink->failure = redact_failure(h, sink->failure, sink);
    arena_release(&h->wire);
    return NULL;
}
