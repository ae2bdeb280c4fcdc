/* fuzz_record.c - records that anybody may have written into a database */
#include "store/record.h"
#include "json/parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice find_blob(void *ud, const char *hash)
{
    (void)hash;
    return *(struct slice *)ud;
}

/* What was read is packed and read again: it must be the same. */
static void check_round(struct arena *a, const allm_json *v)
{
    struct buf text;
    struct emit e;
    struct record_blobs blobs = { .arena = a };
    const struct json_limits limits = { .max_bytes = SIZE_MAX / 2,
                                        .max_depth = UINT32_MAX };
    const allm_error *error = NULL;
    buf_init(&text, a, SIZE_MAX / 2);
    emit_init(&e, &text);
    record_pack(&e, v, &blobs);
    const allm_json *packed = json_parse(a, buf_slice(&text), limits, &error);
    struct slice bytes = blobs.count ? blobs.list[0].bytes
                                     : (struct slice){ NULL, 0 };
    const allm_json *back =
        packed ? record_unpack(a, packed, find_blob, &bytes, &error) : NULL;
    if (blobs.count < 2 && (!back || !allm_json_equal(v, back)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct slice text = { (const char *)data, size }, blob = { "abc", 3 };
    struct record out;
    struct record_blobs found = { .arena = &a };
    const allm_error *error = NULL;
    arena_init(&a, mem_default());
    record_find_blobs(text, &found);
    struct backend_record row = { .seq = 7, .body = text, .sum = "" };
    if (!record_read(&a, &row, &out)) {
        record_unpack(&a, out.json, find_blob, &blob, &error);
        check_round(&a, out.json);
    }
    record_check(&a, "", 7, 1, &row);
    arena_release(&a);
    return 0;
}
