/*
 * fuzz_gemini.c - any bytes as an answer of streamGenerateContent
 *
 * The first byte chooses where to cut; the rest is the body.  Fed whole and
 * cut it gives the same events, the last of which ends the answer; and what
 * was answered can be sent back as JSON.
 */
#include "provider/decoder.h"
#include "provider/gemini.h"
#include "provider/http.h"
#include "json/json.h"
#include "json/parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct arena events, life, log;
    struct allm_sink sink;
    struct decoding decoding;
    struct buf lines;
    allm_message *message;      /* of the answer; or NULL */
    bool over, failed;
};

static const allm_call no_call = { .size = sizeof(allm_call),
                                   .provider = "gemini",
                                   .model = "m",
                                   .base_url = "http://x" };

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void tell(struct run *r, const allm_event *event)
{
    size_t len = 0;
    demand(!r->message);        /* nothing follows the end */
    allm_text *line = allm_event_json(event);
    const char *bytes = allm_text_bytes(line, &len);
    demand(bytes != NULL);
    buf_add(&r->lines, (struct slice){ bytes, len });
    buf_byte(&r->lines, '\n');
    allm_text_free(line);
    if (event->type == ALLM_EV_MESSAGE_COMPLETED)
        r->message = allm_message_new(event->message);
    r->failed = r->failed || event->type == ALLM_EV_ERROR;
}

static void take(struct run *r, allm_status status)
{
    allm_event *event;
    while ((event = sink_take(&r->sink)))
        tell(r, event);
    demand(status >= 0 || r->sink.failure);
    r->failed = r->failed || status < 0;
    r->over = r->over || status < 0 || r->sink.ended;
    arena_reset(&r->events);
}

static void feed(struct run *r, struct slice body, size_t step)
{
    allm_status status = ALLM_EVENT;
    while (body.len && !r->over) {
        bool content = false;
        size_t n = step < body.len ? step : body.len;
        struct slice piece = { body.ptr, n };
        while (piece.len && !r->over)
            take(r, decoder_feed(&r->decoding, &piece, &r->sink, &content));
        body = slice_skip(body, n);
    }
    while (status == ALLM_EVENT && !r->over) {
        status = decoder_end(&r->decoding, &r->sink);
        take(r, status);
    }
    demand(r->failed || r->message);
}

static bool is_document(struct slice body)
{
    while (body.len && strchr(" \t\r\n", *body.ptr) && *body.ptr)
        body = slice_skip(body, 1);
    return body.len && (*body.ptr == '{' || *body.ptr == '[');
}

static void begin(struct run *r, struct slice body)
{
    *r = (struct run){ .over = false };
    arena_init(&r->events, mem_default());
    arena_init(&r->life, mem_default());
    arena_init(&r->log, mem_default());
    buf_init(&r->lines, &r->log, SIZE_MAX - 1);
    sink_init(&r->sink, &r->events, &r->life);
    void *state = arena_zero(&r->life, gemini_adapter.state_size);
    demand(state != NULL);
    decoder_init(&r->decoding, mem_default(), &gemini_adapter, &no_call, state,
                 is_document(body));
}

static void end(struct run *r)
{
    decoder_release(&r->decoding);
    allm_message_free(r->message);
    arena_release(&r->events);
    arena_release(&r->life);
    arena_release(&r->log);
}

/* The answer goes back with the next request. */
static void send_back(const allm_message *m)
{
    struct arena a;
    struct allm_sink sink;
    struct allm_http http;
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_call call = no_call;
    allm_request r = { .size = sizeof r, .message_count = 1, .messages = &m };
    call.request = &r;
    arena_init(&a, mem_default());
    sink_init(&sink, &a, NULL);
    http_init(&http, &a, &sink);
    demand(gemini_adapter.encode(&call, &http) == ALLM_OK);
    json_limits_from(&limits, NULL);
    limits.max_depth = 1000;    /* the answer stands deeper than it did */
    demand(json_parse(&a, buf_slice(&http.body), limits, &error) != NULL);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run whole, cut;
    if (size < 1)
        return 0;
    struct slice body = { (const char *)data + 1, size - 1 };
    begin(&whole, body);
    begin(&cut, body);
    feed(&whole, body, size);
    feed(&cut, body, data[0] % 32 + (size_t)1);
    demand(slice_eq(buf_slice(&whole.lines), buf_slice(&cut.lines)));
    if (whole.message)
        send_back(whole.message);
    end(&whole);
    end(&cut);
    return 0;
}
