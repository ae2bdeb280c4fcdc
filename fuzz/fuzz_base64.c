/*
 * fuzz_base64.c - any bytes, as a text to decode and as bytes to encode
 *
 * A decoded text encodes to the same text; a rejected text leaves the buffer
 * unchanged; encoded bytes decode to the same bytes.
 */
#include "base/base64.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void decode_and_encode(struct arena *a, struct slice text)
{
    struct buf bytes, again;
    buf_init(&bytes, a, text.len);
    buf_init(&again, a, text.len);
    struct buf before = bytes;
    if (!base64_take(&bytes, text)) {
        demand(bytes.len == 0 && bytes.cap == before.cap && !bytes.broken);
        return;
    }
    base64_add(&again, buf_slice(&bytes));
    demand(!again.broken && slice_eq(buf_slice(&again), text));
}

static void encode_and_decode(struct arena *a, struct slice bytes)
{
    struct buf text, url, again;
    buf_init(&text, a, (bytes.len + 2) / 3 * 4);
    buf_init(&url, a, (bytes.len * 4 + 2) / 3);
    buf_init(&again, a, bytes.len);
    base64_add(&text, bytes);
    base64_add_url(&url, bytes);
    demand(!text.broken && !url.broken);
    demand(text.len == text.limit && url.len == url.limit);
    demand(base64_take(&again, buf_slice(&text)));
    demand(slice_eq(buf_slice(&again), bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice s = { (const char *)data, size };
    struct arena a;
    arena_init(&a, mem_default());
    decode_and_encode(&a, s);
    encode_and_decode(&a, s);
    arena_release(&a);
    return 0;
}
