/*
 * dialect.h - any bytes as an answer in a dialect: shared by all targets
 *
 * Two bytes select the quirks and where to split; the rest is the body.  Whole
 * and split, it gives the same events: a start at most once and first, an end
 * or an error once and last, calls between their start and their end.  The
 * answer can be sent back as JSON.
 */
#pragma once

#include "data/event.h"
#include "provider/decoder.h"
#include "provider/http.h"
#include "json/json.h"
#include "json/parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct play {
    const allm_adapter *adapter;
    struct arena events, life;
    struct allm_sink sink;
    struct decoding decoding;
    struct buf *told;
    allm_message *message;      /* of the answer; or NULL */
    size_t seen, open;
    bool over;
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_order(struct play *p, const allm_event *e)
{
    demand(!p->over);
    demand(
        (e->type == ALLM_EV_MESSAGE_STARTED) ==
        (p->seen == 0 && e->type != ALLM_EV_ERROR && e->type != ALLM_EV_USAGE));
    p->seen++;
    p->open += e->type == ALLM_EV_TOOL_CALL_STARTED;
    if (e->type == ALLM_EV_TOOL_CALL_COMPLETED)
        demand(p->open-- > 0);
    p->over = e->type == ALLM_EV_ERROR || e->type == ALLM_EV_MESSAGE_COMPLETED;
    demand(e->type != ALLM_EV_MESSAGE_COMPLETED || p->open == 0);
}

static void take(struct play *p, allm_status status)
{
    allm_event *e;
    while ((e = sink_take(&p->sink))) {
        size_t len;
        check_order(p, e);
        allm_text *line = allm_event_json(e);
        const char *bytes = allm_text_bytes(line, &len);
        demand(bytes != NULL);
        buf_add(p->told, (struct slice){ bytes, len });
        allm_text_free(line);
        if (e->type == ALLM_EV_MESSAGE_COMPLETED)
            p->message = allm_message_new(e->message);
    }
    demand(status >= 0 || p->sink.failure);
    if (status < 0)
        buf_text(p->told, p->sink.failure->message);
    p->over = p->over || status < 0 || p->sink.ended;
    arena_reset(&p->events);
}

/* A separate block, so a sanitizer finds reads beyond its end. */
static void feed(struct play *p, struct slice piece)
{
    bool content = false;
    struct mem m = mem_default();
    char *block = mem_alloc(m, piece.len);
    demand(block);
    memcpy(block, piece.ptr, piece.len);
    struct slice in = { block, piece.len };
    while (in.len && !p->over)
        take(p, decoder_feed(&p->decoding, &in, &p->sink, &content));
    mem_free(m, block, piece.len);
}

static bool is_document(const allm_adapter *adapter, struct slice body)
{
    while (body.len && (unsigned char)*body.ptr <= ' ')
        body = slice_skip(body, 1);
    return adapter->framing == ALLM_FRAMING_SSE && body.len &&
           (*body.ptr == '{' || *body.ptr == '[');
}

/* Pieces of 1 to `most` bytes; the message of the answer, or NULL. */
static allm_message *decode(const allm_adapter *adapter, struct slice body,
                            const allm_call *call, size_t most,
                            struct buf *told)
{
    struct play p = { .adapter = adapter, .told = told };
    allm_status status = ALLM_EVENT;
    arena_init(&p.events, mem_default());
    arena_init(&p.life, mem_default());
    sink_init(&p.sink, &p.events, &p.life);
    void *state = arena_zero(&p.life, adapter->state_size);
    demand(state);
    decoder_init(&p.decoding, mem_default(), adapter, call, state,
                 is_document(adapter, body));
    for (size_t n = most; body.len && !p.over; n = n % most + 1) {
        size_t len = n < body.len ? n : body.len;
        feed(&p, (struct slice){ body.ptr, len });
        body = slice_skip(body, len);
    }
    while (status == ALLM_EVENT && !p.over) {
        status = decoder_end(&p.decoding, &p.sink);
        take(&p, status);
    }
    demand(p.over);
    decoder_release(&p.decoding);
    arena_release(&p.events);
    arena_release(&p.life);
    return p.message;
}

/* The answer goes back with the next request. */
static void send_back(const allm_adapter *adapter, const allm_call *asked,
                      const allm_message *m)
{
    struct arena a;
    struct allm_sink sink;
    struct allm_http http;
    allm_http_view view;
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_call call = *asked;
    allm_request r = { .size = sizeof r, .message_count = 1, .messages = &m };
    call.request = &r;
    arena_init(&a, mem_default());
    sink_init(&sink, &a, NULL);
    http_init(&http, &a, &sink);
    demand(adapter->encode(&call, &http) == ALLM_OK);
    json_limits_from(&limits, NULL);
    limits.max_depth = 1000;    /* the answer is nested deeper than before */
    demand(http_view(&http, &view));
    demand(json_parse(&a, (struct slice){ view.body, view.body_len }, limits,
                      &error) != NULL);
    arena_release(&a);
}

static int fuzz_dialect(const allm_adapter *adapter, allm_call call,
                        const uint8_t *data, size_t size)
{
    struct arena a;
    struct buf whole, cut;
    if (size < 3)
        return 0;
    call.size = sizeof call;
    call.model = "m";
    call.request_id = "r";
    call.base_url = "http://x";
    call.adapter_opts = json_empty_object();
    struct slice body = { (const char *)data + 2, size - 2 };
    arena_init(&a, mem_default());
    buf_init(&whole, &a, SIZE_MAX - 1);
    buf_init(&cut, &a, SIZE_MAX - 1);
    allm_message *m = decode(adapter, body, &call, size, &whole);
    allm_message_free(
        decode(adapter, body, &call, data[1] % 32 + (size_t)1, &cut));
    demand(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    if (m)
        send_back(adapter, &call, m);
    allm_message_free(m);
    arena_release(&a);
    return 0;
}

/* A target: one line.  The quirks are bits from `shift` on. */
#define FUZZ_DIALECT(dialect, provider_, shift)                             \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)            \
    {                                                                       \
        const allm_call call = {                                            \
            .provider = provider_,                                          \
            .quirks = size ? (uint64_t)data[0] << (shift) : 0,              \
        };                                                                  \
        return fuzz_dialect(&(dialect), call, data, size);                  \
    }
