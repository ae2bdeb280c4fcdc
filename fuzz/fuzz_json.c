/*
 * fuzz_json.c - any text: our reader must agree with yyjson's
 *
 * Both accept the same texts, except those that we reject on purpose (depth,
 * long numbers), and read the same values, except numbers that we keep as text.
 * An accepted value can be written, and reads back as the same value.  An error
 * has a position in the text.
 */
#include "base/buf.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/val.h"
#include "json/write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* Equal, except that we may keep a number as text. */
static void same_value(const yyjson_val *ours, const yyjson_val *theirs)
{
    if (val_type(ours) == YYJSON_TYPE_RAW)
        return;
    if (val_type(theirs) == YYJSON_TYPE_NUM) {
        double a = allm_json_number(val_json(ours));
        double b = allm_json_number(val_json(theirs));
        demand(a == b);         /* -0 is an integer to them, a double to us */
        return;
    }
    demand(val_type(ours) == val_type(theirs));
    demand(val_len(ours) == val_len(theirs) || val_len(theirs) == 0);
    if (val_type(ours) == YYJSON_TYPE_STR)
        demand(slice_eq(val_slice(ours), val_slice(theirs)));
    if (val_holds(ours))
        demand(val_span(ours) == val_span(theirs));
}

static void same_values(const yyjson_val *ours, const yyjson_val *theirs)
{
    size_t n = val_span(theirs);
    for (size_t i = 0; i < n; i++)
        same_value(&ours[i], &theirs[i]);
}

static void read_back(struct arena *a, const allm_json *v,
                      struct json_limits limits)
{
    struct buf out;
    const allm_error *error;
    for (uint32_t flags = 0; flags <= ALLM_JSON_PRETTY;
         flags += ALLM_JSON_PRETTY) {
        buf_init(&out, a, SIZE_MAX / 2);
        demand(json_write(&out, v, flags));
        const allm_json *again = json_parse(a, buf_slice(&out), limits, &error);
        demand(again && allm_json_equal(v, again));
    }
    demand(allm_json_equal(v, json_copy(a, v)));
}

static void explained(const allm_error *e, size_t size)
{
    uint64_t offset = SIZE_MAX, line = 0, column = 0;
    demand(e && e->kind == ALLM_ERR_VALIDATION && *e->message);
    demand(allm_json_uint64(allm_json_get(e->metadata, "offset"), &offset));
    demand(allm_json_uint64(allm_json_get(e->metadata, "line"), &line));
    demand(allm_json_uint64(allm_json_get(e->metadata, "column"), &column));
    demand(offset <= size && line > 0 && column > 0);
    demand(allm_json_count(e->errors) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_limits limits;
    struct arena a;
    const allm_error *error = NULL;
    struct slice text = { (const char *)data, size };
    json_limits_from(&limits, NULL);
    arena_init(&a, mem_default());
    yyjson_alc alc = val_allocator(&a);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)data, size,
                                       YYJSON_READ_BIGNUM_AS_RAW, &alc, NULL);
    const allm_json *v = json_parse(&a, text, limits, &error);
    if (v) {
        demand(doc != NULL);
        same_values(val_of(v), doc->root);
        read_back(&a, v, limits);
    } else {
        explained(error, size);
        const allm_json *word = allm_json_at(allm_json_at(error->errors, 0), 1);
        demand(!doc || !json_is(word, "malformed"));
    }
    arena_release(&a);
    return 0;
}
