/*
 * feed_http.c - events decoded from the body of an HTTP answer
 *
 *      CLOSED --open--> HEAD --2xx--> BODY --end--> ENDING --> OVER
 *                         '--else--> REFUSED --explain--> failed
 *
 * The request is encoded when the feed is made; the connection is opened by
 * the first pull.  A body that begins like a JSON document is taken as one,
 * whatever its headers say.
 */
#include "run/feed_http.h"

#include "base/status.h"
#include "engine/retry_after.h"
#include "provider/decoder.h"
#include "provider/explain.h"
#include "provider/http.h"
#include "provider/redact.h"

#include <stdint.h>

enum state { CLOSED, HEAD, BODY, REFUSED, ENDING, OVER };

enum {
    REFUSED_LIMIT = 64 * 1024,  /* of the body of an error that is read */
    GRACE_MS = 2000             /* for a protocol's end that may never come */
};

struct http_feed {
    struct feed feed;
    struct feed_env env;
    struct arena wire;          /* the request; then a refusal's body */
    struct allm_http http;
    allm_exchange *exchange;
    enum state state;
    int64_t opened_ns, settled_ns;
    struct decoding decoding;
    struct slice rest;          /* lent by the transport, not yet decoded */
    struct buf refusal;
    bool connected, sniffed, settled, decoding_on;
};

static struct http_feed *of(struct feed *f)
{
    return (struct http_feed *)f;
}

static int64_t now(const struct http_feed *h)
{
    return clock_now_ns(h->env.clock);
}

static allm_status fail(struct allm_sink *sink, allm_status kind,
                        const char *reason, const char *sentence)
{
    allm_error e = status_blank(kind);
    e.reason = reason;
    e.message = sentence;
    return allm_sink_fail(sink, &e, false);
}

static void hang_up(struct http_feed *h)
{
    if (h->exchange)
        h->env.transport->close(h->env.transport->self, h->exchange);
    h->exchange = NULL;
    h->rest = (struct slice){ NULL, 0 };
}

/* ----------------------------------------------------------------- refusals --- */

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

static const char *header(const allm_http_head *head, const char *name)
{
    struct slice want = slice_of(name);
    for (size_t i = 0; i < head->header_count; i++) {
        const char *is = head->header[2 * i];
        size_t n = 0;
        while (n < want.len && (is[n] | 0x20) == want.ptr[n])
            n++;
        if (n == want.len && !is[n])
            return head->header[2 * i + 1];
    }
    return NULL;
}

/* The provider's name for this exchange, for its support. */
static const char *answer_id(const allm_http_head *head)
{
    static const char *const names[] = { "x-request-id", "request-id",
                                         "x-goog-request-id", "cf-ray" };
    const char *id = NULL;
    for (size_t i = 0; !id && i < sizeof names / sizeof *names; i++)
        id = header(head, names[i]);
    return id;
}

/* What only the head knows, and nothing that is secret. */
static void complete(struct http_feed *h, const allm_http_head *head,
                     struct allm_sink *sink)
{
    int64_t ms;
    allm_error *e = arena_alloc(sink->arena, sizeof *e);
    if (!e) {
        sink->status = ALLM_ERR_NOMEM;
        return;
    }
    *e = *sink->failure;
    if (!e->provider)
        e->provider = h->feed.call->provider;
    if (!e->status.set)
        e->status = (allm_int){ head->status, true };
    if (!e->request_id)
        e->request_id = arena_text(sink->arena, answer_id(head));
    if (!e->retry_after_ms.set &&
        retry_after_find(head->header, head->header_count,
                         clock_unix_ms(h->env.clock), &ms))
        e->retry_after_ms = (allm_int){ ms, true };
    sink->failure = redact_error(sink->arena, e, key_of(h));
}

static allm_status explain(struct http_feed *h, struct allm_sink *sink)
{
    const allm_adapter *a = h->feed.adapter;
    const allm_http_head *head = h->env.transport->head(h->env.transport->self,
                                                        h->exchange);
    struct slice body = buf_slice(&h->refusal);
    if (a->explain)
        a->explain(h->feed.call, head, body.ptr, body.len, sink);
    if (!sink->failure && sink->status == ALLM_OK)
        explain_default(head, body.ptr, body.len, sink);
    if (sink->failure)
        complete(h, head, sink);
    hang_up(h);
    return sink->failure ? sink->failure->kind : ALLM_ERR_NOMEM;
}

/* ------------------------------------------------------------------ reading --- */

/* Why the transport failed, as an error of the call. */
static allm_status broken(struct http_feed *h, const allm_error *why,
                          struct allm_sink *sink)
{
    static const allm_error silent = {
        .size = sizeof(allm_error),
        .kind = ALLM_ERR_ADAPTER,
        .reason = "network_error",
        .message = "the transport failed without saying why",
    };
    const allm_error *safe = redact_error(sink->arena, why ? why : &silent,
                                          key_of(h));
    allm_sink_fail(sink, safe, false);
    hang_up(h);
    return sink->failure ? sink->failure->kind : ALLM_ERR_NOMEM;
}

static allm_status open_exchange(struct http_feed *h, struct allm_sink *sink)
{
    allm_http_view view;
    const allm_error *why = NULL;
    const struct registry_row *row = h->env.row;
    if (!http_view(&h->http, &view))
        return sink->status = ALLM_ERR_NOMEM;
    if (h->env.key) {
        view.secret_name = row->auth_header ? row->auth_header
                                            : row->adapter->auth_header;
        view.secret_value = h->env.key->ptr;
    }
    h->opened_ns = now(h);
    h->exchange = h->env.transport->open(h->env.transport->self, &view,
                                         h->env.waker, &why);
    h->state = HEAD;
    return h->exchange ? ALLM_OK : broken(h, why, sink);
}

/* Is the connection late? */
static allm_status await_connection(struct http_feed *h, int64_t *again_ns,
                                    struct allm_sink *sink)
{
    const allm_transport *t = h->env.transport;
    h->connected = h->connected || !t->ready || t->ready(t->self, h->exchange);
    if (h->connected)
        return ALLM_AGAIN;
    int64_t limit = h->opened_ns + h->env.connect_ms * 1000000;
    if (now(h) >= limit) {
        hang_up(h);
        return fail(sink, ALLM_ERR_ADAPTER, "timeout",
                    "no connection was made in time; set connect_ms to wait "
                    "longer");
    }
    if (limit < *again_ns)
        *again_ns = limit;
    return ALLM_AGAIN;
}

/* The next bytes into h->rest: EVENT; or AGAIN, OK, < 0 as the transport. */
static allm_status more(struct http_feed *h, int64_t *again_ns,
                        struct allm_sink *sink)
{
    const allm_transport *t = h->env.transport;
    allm_chunk chunk = { .size = sizeof chunk, .again_ns = INT64_MAX };
    allm_status status = t->read(t->self, h->exchange, &chunk);
    h->rest = (struct slice){ NULL, 0 };
    if (status == ALLM_EVENT)
        h->rest = (struct slice){ chunk.bytes, chunk.len };
    if (status == ALLM_AGAIN) {
        *again_ns = chunk.again_ns;
        return await_connection(h, again_ns, sink);
    }
    return status < 0 ? broken(h, chunk.error, sink) : status;
}

static allm_status read_head(struct http_feed *h, struct allm_sink *sink,
                             int64_t *again_ns)
{
    allm_status status = more(h, again_ns, sink);
    if (status != ALLM_EVENT && status != ALLM_OK)
        return status;
    const allm_http_head *head = h->env.transport->head(h->env.transport->self,
                                                        h->exchange);
    arena_reset(&h->wire);      /* the request is not needed any more */
    if (head->status >= 200 && head->status <= 299) {
        h->state = status == ALLM_OK ? ENDING : BODY;
        h->feed.begun = h->rest.len > 0;
    } else {
        buf_init(&h->refusal, &h->wire, REFUSED_LIMIT);
        buf_add(&h->refusal, h->rest);
        h->state = REFUSED;
        if (status == ALLM_OK)
            return explain(h, sink);
    }
    return ALLM_OK;
}

static allm_status read_refusal(struct http_feed *h, struct allm_sink *sink,
                                int64_t *again_ns)
{
    allm_chunk chunk = { .size = sizeof chunk, .again_ns = INT64_MAX };
    const allm_transport *t = h->env.transport;
    allm_status status = t->read(t->self, h->exchange, &chunk);
    if (status == ALLM_AGAIN) {
        *again_ns = chunk.again_ns;
        return status;
    }
    if (status == ALLM_EVENT && h->refusal.len < REFUSED_LIMIT) {
        size_t room = REFUSED_LIMIT - h->refusal.len;
        buf_add(&h->refusal,
                (struct slice){ chunk.bytes,
                                chunk.len < room ? chunk.len : room });
        if (h->refusal.len < REFUSED_LIMIT)
            return h->refusal.broken ? (sink->status = ALLM_ERR_NOMEM)
                                     : ALLM_OK;
    }
    return explain(h, sink);    /* broken or cut: what is there must do */
}

/* ----------------------------------------------------------------- decoding --- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* What the body is, by its first byte that is not white space. */
static void sniff(struct http_feed *h)
{
    struct slice s = h->rest;
    if (h->sniffed || h->feed.adapter->framing != ALLM_FRAMING_SSE) {
        if (!h->decoding_on)
            decoder_init(&h->decoding, h->env.mem, h->feed.adapter,
                         h->feed.call, h->feed.state, false);
        h->sniffed = h->decoding_on = true;
        return;
    }
    while (s.len && is_space(*s.ptr))
        s = slice_skip(s, 1);
    if (!s.len)
        return;
    decoder_init(&h->decoding, h->env.mem, h->feed.adapter, h->feed.call,
                 h->feed.state, *s.ptr == '{' || *s.ptr == '[');
    h->sniffed = h->decoding_on = true;
}

/* What the adapter said of the protocol. */
static void heed(struct http_feed *h, const struct allm_sink *sink,
                 bool content)
{
    h->settled = h->settled || sink->settled;
    if (content && h->settled)
        h->settled_ns = now(h);
    if (!sink->ended)
        return;
    hang_up(h);
    h->state = OVER;
}

static allm_status decode(struct http_feed *h, struct allm_sink *sink)
{
    bool content = false;
    sniff(h);
    if (!h->decoding_on) {      /* white space only: a keep-alive */
        h->rest.len = 0;
        return ALLM_OK;
    }
    allm_status status = decoder_feed(&h->decoding, &h->rest, sink, &content);
    if (content)
        h->feed.fresh = true;
    if (status >= 0)
        heed(h, sink, content);
    return status;
}

/* The connection broke: an end if all was there, else a cut. */
static allm_status cut_off(struct http_feed *h, struct allm_sink *sink)
{
    if (h->settled || !h->feed.begun) {
        bool over = h->settled;
        if (over) {
            sink->failure = NULL;
            sink->status = ALLM_OK;
            h->state = ENDING;
        }
        return over            ? ALLM_OK
               : sink->failure ? sink->failure->kind
                               : ALLM_ERR_NOMEM;
    }
    struct buf text;
    buf_init(&text, sink->arena, 8192);
    buf_format(&text, "the answer broke off in its middle: %s",
               sink->failure ? sink->failure->message : "no memory");
    return fail(sink, ALLM_ERR_STREAM, "truncated",
                text.broken ? NULL : text.ptr);
}

static allm_status read_body(struct http_feed *h, struct allm_sink *sink,
                             int64_t *again_ns)
{
    if (h->rest.len)
        return decode(h, sink);
    allm_status status = more(h, again_ns, sink);
    if (status == ALLM_EVENT) {
        h->feed.begun = true;
        return ALLM_OK;
    }
    if (status == ALLM_OK)
        h->state = ENDING;
    if (status < 0)
        return sink->status == ALLM_ERR_NOMEM ? status : cut_off(h, sink);
    if (status != ALLM_AGAIN || !h->settled)
        return status;
    int64_t limit = h->settled_ns + (int64_t)GRACE_MS * 1000000;
    if (now(h) >= limit) {
        h->state = ENDING;
        return ALLM_OK;
    }
    *again_ns = *again_ns < limit ? *again_ns : limit;
    return ALLM_AGAIN;
}

static allm_status end(struct http_feed *h, struct allm_sink *sink)
{
    hang_up(h);
    if (!h->decoding_on)
        decoder_init(&h->decoding, h->env.mem, h->feed.adapter, h->feed.call,
                     h->feed.state, false);
    h->decoding_on = true;
    allm_status status = decoder_end(&h->decoding, sink);
    if (status == ALLM_OK || sink->ended)
        h->state = OVER;
    return status;
}

/* --------------------------------------------------------------------- feed --- */

static allm_status step(struct http_feed *h, struct allm_sink *sink,
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
        return end(h, sink);
    case OVER:
        break;
    }
    return ALLM_OK;
}

static allm_status http_next(struct feed *f, struct allm_sink *sink,
                             int64_t *again_ns)
{
    struct http_feed *h = of(f);
    while (h->state != OVER) {
        allm_status status = step(h, sink, again_ns);
        if (status < 0 || status == ALLM_AGAIN)
            return status;
        if (sink->first)
            return ALLM_EVENT;
    }
    return ALLM_OK;
}

static void http_close(struct feed *f)
{
    struct http_feed *h = of(f);
    hang_up(h);
    if (h->decoding_on)
        decoder_release(&h->decoding);
    arena_release(&h->wire);
}

static const struct feed_ops http_ops = { http_next, http_close };

/* Encode the request.  False: the sink says why. */
static bool encode(struct http_feed *h, struct allm_sink *sink)
{
    const allm_adapter *a = h->feed.adapter;
    http_init(&h->http, &h->wire, sink);
    allm_status status = a->encode(h->feed.call, &h->http);
    if (sink->failure || sink->status < 0)
        return false;
    if (status < 0)
        fail(sink, status, "invalid_request",
             "the adapter could not encode the request");
    else if (h->http.broken || h->http.body.broken)
        sink->status = ALLM_ERR_NOMEM;
    else if (!h->http.url)
        fail(sink, ALLM_ERR_ENGINE, "invalid_engine",
             "the adapter gave no address; set base_url");
    else
        return true;
    return false;
}

struct feed *feed_http(struct arena *a, const allm_call *call,
                       const struct feed_env *env, struct allm_sink *sink)
{
    const allm_adapter *adapter = env->row->adapter;
    struct http_feed *h = arena_zero(a, sizeof *h);
    void *state = arena_zero(a, adapter->state_size + 1);
    if (!h || !state) {
        sink->status = ALLM_ERR_NOMEM;
        return NULL;
    }
    h->feed = (struct feed){ .ops = &http_ops,
                             .adapter = adapter,
                             .call = call,
                             .state = state };
    h->env = *env;
    arena_init(&h->wire, env->mem);
    if (!env->transport)
        fail(sink, ALLM_ERR_ENGINE, "invalid_engine",
             "no transport: this build of the library has no HTTP client; "
             "give the engine one");
    else if (!adapter->encode)
        fail(sink, ALLM_ERR_ENGINE, "invalid_engine",
             "the adapter has no encode");
    else if (encode(h, sink))
        return &h->feed;
    arena_release(&h->wire);
    return NULL;
}
