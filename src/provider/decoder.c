/*
 * decoder.c - decode the bytes of a body into events
 *
 *      bytes --wire/sse, ndjson or whole--> frame --adapter->decode--> events
 */
#include "provider/decoder.h"

#include "base/status.h"

#include <stdint.h>

void decoder_init(struct decoding *d, struct mem mem,
                  const allm_adapter *adapter, const allm_call *call,
                  void *state, bool whole)
{
    d->adapter = adapter;
    d->call = call;
    d->state = state;
    d->framing = whole ? ALLM_FRAMING_WHOLE : adapter->framing;
    d->bytes = d->frames = 0;
    d->limit = DECODER_BODY_LIMIT;
    d->ended = d->looked = false;
    skeleton_init(&d->skeleton);
    arena_init(&d->arena, mem);
    buf_init(&d->whole, &d->arena, d->limit);
    if (d->framing == ALLM_FRAMING_SSE)
        sse_init(&d->sse, mem, 0, 0);
    else
        ndjson_init(&d->ndjson, mem, 0);
}

void decoder_release(struct decoding *d)
{
    if (d->framing == ALLM_FRAMING_SSE)
        sse_release(&d->sse);
    else
        ndjson_release(&d->ndjson);
    skeleton_forget(&d->skeleton);
    arena_release(&d->arena);
}

void decoder_rest(struct decoding *d)
{
    skeleton_forget(&d->skeleton);
}

void decoder_limit(struct decoding *d, size_t bytes)
{
    d->limit = bytes;
    buf_init(&d->whole, &d->arena, bytes);
}

static allm_status body_fail(struct allm_sink *sink, allm_status kind,
                             const char *reason, const char *sentence)
{
    allm_error e = STATUS_ERROR(kind, reason, sentence);
    return allm_sink_fail(sink, &e, true);
}

/* The status of a function of the dialect; an error in the sink overrides
 * it. */
static allm_status decode_outcome(const struct allm_sink *sink,
                                  allm_status status)
{
    if (sink->status < 0 || status < 0)
        return sink->status < 0 ? sink->status : status;
    return sink->failure ? sink->failure->kind : ALLM_OK;
}

static allm_status frame_decode(struct decoding *d, struct slice name,
                                struct slice data, bool cut,
                                struct allm_sink *sink)
{
    const allm_frame frame = { .size = sizeof frame,
                               .name_len = name.len,
                               .name = name.ptr ? name.ptr : "",
                               .data_len = data.len,
                               .data = data.ptr,
                               .whole = d->framing == ALLM_FRAMING_WHOLE,
                               .cut = cut };
    d->frames++;
    sink->skeleton = d->framing == ALLM_FRAMING_WHOLE ? NULL : &d->skeleton;
    allm_status status = d->adapter->decode(d->state, d->call, &frame, sink);
    sink->skeleton = NULL;
    d->ended = d->ended || sink->ended;
    return decode_outcome(sink, status);
}

/* The status of a result other than a frame. */
static allm_status cut_failed(enum wire_result r, struct allm_sink *sink)
{
    if (r == WIRE_NOMEM)
        return sink->status = ALLM_ERR_NOMEM;
    if (r == WIRE_TOO_LONG)
        return sink_malformed(sink,
                              "a line or an event of the response is longer "
                              "than 16 MiB");
    return ALLM_OK;
}

static enum wire_result frame_cut(struct decoding *d, struct slice *in,
                                  struct sse_frame *frame)
{
    if (d->framing == ALLM_FRAMING_SSE)
        return in ? sse_next(&d->sse, in, frame) : sse_end(&d->sse, frame);
    *frame = (struct sse_frame){ .kind = SSE_EVENT, .unended = !in };
    return in ? ndjson_next(&d->ndjson, in, &frame->data)
              : ndjson_end(&d->ndjson, &frame->data);
}

/* Decode frames until one yields an event.  `in` is NULL if the body has ended:
 * then decode the rest. */
static allm_status frames_decode(struct decoding *d, struct slice *in,
                                 struct allm_sink *sink, bool *content)
{
    struct sse_frame frame;
    enum wire_result r = WIRE_END;
    while (!d->ended && (r = frame_cut(d, in, &frame)) == WIRE_FRAME) {
        if (frame.kind == SSE_KEEPALIVE)
            continue;
        if (frame.kind == SSE_ERROR)
            frame.name = SLICE("error");
        sink->idle = false;
        allm_status status = frame_decode(d, frame.name, frame.data,
                                          frame.unended, sink);
        *content = *content || !sink->idle;
        if (status < 0)
            return status;
        if (sink->first || d->ended)
            return ALLM_EVENT;
        if (sink->life && sink->life != sink->arena)
            arena_reset(sink->arena);   /* no event points into it */
    }
    return cut_failed(r, sink);
}

/* Does the body begin like a web page?  Networks that require a log-in send one
 * instead of the response. */
static bool is_page(struct decoding *d, struct slice in)
{
    while (!d->looked && in.len && slice_space(*in.ptr))
        in = slice_skip(in, 1);
    bool page = !d->looked && in.len && *in.ptr == '<';
    d->looked = d->looked || in.len;
    return page;
}

allm_status decoder_feed(struct decoding *d, struct slice *in,
                         struct allm_sink *sink, bool *content)
{
    size_t before = in->len;
    allm_status status;
    if (is_page(d, *in))
        return sink_malformed(sink,
                              "the response is a web page; check whether a "
                              "proxy or a log-in page is between this machine "
                              "and the provider");
    if (d->framing == ALLM_FRAMING_WHOLE) {
        buf_add(&d->whole, *in);
        *in = slice_skip(*in, in->len);
        *content = true;
        status = !d->whole.broken ? ALLM_OK
                 : d->whole.over  ? ALLM_OK
                                  : (sink->status = ALLM_ERR_NOMEM);
    } else if (d->ended) {
        *in = slice_skip(*in, in->len);
        return ALLM_OK;
    } else {
        status = frames_decode(d, in, sink, content);
    }
    d->bytes += before - in->len;
    if (status >= 0 && (d->bytes > d->limit || d->whole.over))
        return sink_malformed(sink, d->limit == DECODER_BODY_LIMIT
                                        ? "the response is longer than 256 MiB"
                                        : "it is longer than 25 MB");
    return status;
}

static allm_status document_end(struct decoding *d, struct allm_sink *sink)
{
    struct slice all = buf_slice(&d->whole);
    if (d->ended || all.len == 0)
        return ALLM_OK;
    d->ended = true;
    return frame_decode(d, SLICE(""), all, false, sink);
}

/* Let the dialect finish.  A body without content is never a success. */
static allm_status body_finish(struct decoding *d, struct allm_sink *sink)
{
    allm_status status = ALLM_OK;
    if (d->adapter->finish)
        status = d->adapter->finish(d->state, d->call, sink);
    status = decode_outcome(sink, status);
    if (status == ALLM_OK && !d->frames && !sink->first)
        return body_fail(sink, ALLM_ERR_STREAM, "truncated",
                         "the response ended before any content "
                         "arrived");
    return status;
}

allm_status decoder_end(struct decoding *d, struct allm_sink *sink)
{
    bool content = false;
    allm_status status = d->framing == ALLM_FRAMING_WHOLE
                             ? document_end(d, sink)
                             : frames_decode(d, NULL, sink, &content);
    if (status < 0)
        return status;
    return sink->first ? ALLM_EVENT : body_finish(d, sink);
}
