/*
 * fuzz_ndjson.c - any bytes as JSON lines: splits must not matter
 *
 * Two bytes select the limit and where to split; the rest is the text.  Whole
 * and split, it gives the same lines, none of them blank or too long; at the
 * end the parser holds no bytes.
 */
#include "wire/ndjson.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void tell(struct buf *out, struct slice line, size_t limit)
{
    demand(line.len > 0 && line.len <= limit);
    demand(!memchr(line.ptr, '\n', line.len));
    buf_uint(out, line.len);
    buf_byte(out, ':');
    buf_add(out, line);
}

/* Each piece is a separate block, so a sanitizer finds reads beyond its end. */
static enum wire_result feed(struct ndjson *n, struct slice piece, size_t limit,
                             struct buf *out)
{
    struct mem m = mem_default();
    char *block = mem_alloc(m, piece.len);
    demand(block);
    if (piece.len)
        memcpy(block, piece.ptr, piece.len);
    struct slice in = { block, piece.len }, line;
    enum wire_result result;
    while ((result = ndjson_next(n, &in, &line)) == WIRE_FRAME) {
        tell(out, line, limit);
        memset(block, '?', piece.len - in.len);     /* used bytes may change */
    }
    demand(result == WIRE_TOO_LONG || (result == WIRE_MORE && in.len == 0));
    mem_free(m, block, piece.len);
    return result;
}

/* Pieces of 1 to `most` bytes. */
static void tell_cut(struct slice text, size_t limit, size_t most,
                     struct buf *out)
{
    struct ndjson n;
    struct slice line;
    ndjson_init(&n, mem_default(), limit);
    enum wire_result result = WIRE_MORE;
    for (size_t k = most; text.len && result == WIRE_MORE; k = k % most + 1) {
        size_t len = k < text.len ? k : text.len;
        result = feed(&n, (struct slice){ text.ptr, len }, limit, out);
        text = slice_skip(text, len);
    }
    while ((result = ndjson_end(&n, &line)) == WIRE_FRAME)
        tell(out, line, limit);
    demand(result == WIRE_END || result == WIRE_TOO_LONG);
    demand(result != WIRE_END || arena_held(&n.arena) == 0);
    buf_uint(out, (uint64_t)result);
    ndjson_release(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t limit = data[0] ? data[0] : 4096;
    struct slice text = { (const char *)data + 2, size - 2 };
    struct arena a;
    struct buf whole, cut;
    arena_init(&a, mem_default());
    buf_init(&whole, &a, SIZE_MAX - 1);
    buf_init(&cut, &a, SIZE_MAX - 1);
    tell_cut(text, limit, size, &whole);        /* in one piece */
    tell_cut(text, limit, data[1] % 32 + (size_t)1, &cut);
    demand(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    arena_release(&a);
    return 0;
}
