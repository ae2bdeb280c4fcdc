/*
 * fuzz_event.c - any bytes as an event: parsed, or rejected with a reason
 *
 * A parsed event is written as an object that begins with its type; parsing
 * that again gives the same event.
 */
#include "allm.h"
#include "base/slice.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static struct slice text_of(const allm_text *t)
{
    struct slice s;
    s.ptr = allm_text_bytes(t, &s.len);
    demand(s.ptr != NULL);
    return s;
}

static void check_event(const allm_event *e)
{
    allm_text *once = allm_event_json(e);
    struct slice text = text_of(once);
    demand(slice_starts(text, SLICE("{\"type\":\"")));
    allm_event *again = allm_event_parse(text.ptr, text.len);
    demand(!allm_event_error(again) && again->type == e->type &&
           again->seq == e->seq);
    allm_text *twice = allm_event_json(again);
    demand(slice_eq(text_of(twice), text));
    allm_text_free(twice);
    allm_event_free(again);
    allm_text_free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    allm_event *e = allm_event_parse((const char *)data, size);
    const allm_error *error = allm_event_error(e);
    if (error)
        demand(error->kind == ALLM_ERR_VALIDATION &&
               allm_json_count(error->errors) == 1 && !e->type);
    else
        check_event(e);
    allm_event_free(e);
    return 0;
}
