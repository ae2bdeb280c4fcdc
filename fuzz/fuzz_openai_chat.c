/*
 * fuzz_openai_chat.c - any bytes as an answer of /chat/completions
 *
 * Two bytes choose the quirks and where to cut; the rest is the body.  Fed
 * whole and cut it gives the same events: a start at most once and first, an
 * end or an error at most once and last, calls between their start and end.
 */
#include "data/event.h"
#include "provider/decoder.h"
#include "provider/openai_chat.h"
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct play {
    struct arena events, life;
    struct allm_sink sink;
    struct decoding decoding;
    struct buf *told;
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
    }
    demand(status >= 0 || p->sink.failure);
    if (status < 0)
        buf_text(p->told, p->sink.failure->message);
    p->over = p->over || status < 0 || p->sink.ended;
    arena_reset(&p->events);
}

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

static bool is_document(struct slice body)
{
    while (body.len && (unsigned char)*body.ptr <= ' ')
        body = slice_skip(body, 1);
    return body.len && (*body.ptr == '{' || *body.ptr == '[');
}

/* Pieces of 1 to `most` bytes. */
static void decode(struct slice body, const allm_call *call, size_t most,
                   struct buf *told)
{
    struct play p = { .told = told };
    allm_status status = ALLM_EVENT;
    arena_init(&p.events, mem_default());
    arena_init(&p.life, mem_default());
    sink_init(&p.sink, &p.events, &p.life);
    void *state = arena_zero(&p.life, openai_chat_adapter.state_size);
    demand(state);
    decoder_init(&p.decoding, mem_default(), &openai_chat_adapter, call, state,
                 is_document(body));
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const allm_call call = { .size = sizeof call,
                             .provider = "p",
                             .model = "m",
                             .request_id = "r",
                             .quirks = (uint64_t)data[0] << 4,
                             .adapter_opts = json_empty_object() };
    struct slice body = { (const char *)data + 2, size - 2 };
    struct arena a;
    struct buf whole, cut;
    arena_init(&a, mem_default());
    buf_init(&whole, &a, SIZE_MAX - 1);
    buf_init(&cut, &a, SIZE_MAX - 1);
    decode(body, &call, size, &whole);
    decode(body, &call, data[1] % 32 + (size_t)1, &cut);
    demand(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    arena_release(&a);
    return 0;
}
