/*
 * fuzz_sse.c - any bytes as server-sent events: splits must not matter
 *
 * Three bytes select the limits and where to split; the rest is the text.
 * Whole and split, it gives the same frames, which keep the limits; at the end
 * the parser holds no bytes.
 */
#include "wire/sse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct limits {
    size_t line, event;
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void tell(struct buf *out, struct slice s)
{
    buf_uint(out, s.len);
    buf_byte(out, ':');
    buf_add(out, s);
}

static void tell_frame(struct buf *out, const struct sse_frame *f,
                       struct limits l)
{
    demand(f->kind != SSE_EVENT || f->data.len);
    demand(f->kind == SSE_KEEPALIVE ||
           f->name.len + f->data.len + f->id.len <= l.event);
    demand(f->kind != SSE_KEEPALIVE || !f->unended);
    buf_uint(out, (uint64_t)f->kind);
    buf_byte(out, f->unended ? '!' : ' ');
    tell(out, f->name);
    tell(out, f->data);
    tell(out, f->id);
}

/* Each piece is a separate block, so a sanitizer finds reads beyond its end. */
static enum wire_result feed(struct sse *s, struct slice piece, struct limits l,
                             struct buf *out)
{
    struct mem m = mem_default();
    char *block = mem_alloc(m, piece.len);
    demand(block);
    if (piece.len)
        memcpy(block, piece.ptr, piece.len);
    struct slice in = { block, piece.len };
    struct sse_frame f;
    enum wire_result result;
    while ((result = sse_next(s, &in, &f)) == WIRE_FRAME) {
        tell_frame(out, &f, l);
        memset(block, '?', piece.len - in.len);     /* used bytes may change */
    }
    demand(result == WIRE_TOO_LONG || (result == WIRE_MORE && in.len == 0));
    mem_free(m, block, piece.len);
    return result;
}

static void end(struct sse *s, struct limits l, struct buf *out)
{
    struct sse_frame f;
    enum wire_result result;
    while ((result = sse_end(s, &f)) == WIRE_FRAME)
        tell_frame(out, &f, l);
    demand(result == WIRE_END || result == WIRE_TOO_LONG);
    demand(result != WIRE_END || arena_held(&s->arena) == 0);
    buf_uint(out, (uint64_t)result);
}

/* Pieces of 1 to `most` bytes. */
static void tell_cut(struct slice text, struct limits l, size_t most,
                     struct buf *out)
{
    struct sse s;
    sse_init(&s, mem_default(), l.line, l.event);
    enum wire_result result = WIRE_MORE;
    for (size_t n = most; text.len && result == WIRE_MORE; n = n % most + 1) {
        size_t len = n < text.len ? n : text.len;
        result = feed(&s, (struct slice){ text.ptr, len }, l, out);
        text = slice_skip(text, len);
    }
    end(&s, l, out);
    sse_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct limits l = { data[0] ? data[0] : 4096, data[1] ? data[1] : 4096 };
    struct slice text = { (const char *)data + 3, size - 3 };
    struct arena a;
    struct buf whole, cut;
    arena_init(&a, mem_default());
    buf_init(&whole, &a, SIZE_MAX - 1);
    buf_init(&cut, &a, SIZE_MAX - 1);
    tell_cut(text, l, size, &whole);            /* in one piece */
    tell_cut(text, l, data[2] % 32 + (size_t)1, &cut);
    demand(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    arena_release(&a);
    return 0;
}
