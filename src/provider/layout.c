/* layout.c - the order of the text and the calls in a response */
#include "provider/layout.h"

#include "provider/history.h"

#include <stdint.h>

const allm_json *layout_of(const allm_call *call, const allm_message *m,
                           const char *name)
{
    const allm_json *own = history_state(call, m->provider_state);
    const allm_json *layout = allm_json_get(own, name);
    return allm_json_type_of(layout) == ALLM_JSON_ARRAY ? layout : NULL;
}

size_t layout_bytes(const allm_json *piece)
{
    uint64_t n = 0;
    allm_json_uint64(allm_json_get(piece, "bytes"), &n);
    return n > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)n;
}

bool layout_fits(const allm_json *layout, const allm_message *m,
                 enum layout_kind (*kind)(const allm_json *piece))
{
    size_t bytes = 0, calls = 0;
    if (m->parts)
        return false;
    for (const allm_json *p = NULL; (p = allm_json_next(layout, p));) {
        bytes += kind(p) == LAYOUT_TEXT ? layout_bytes(p) : 0;
        calls += kind(p) == LAYOUT_CALL;
        if (bytes > m->text_len)
            return false;
    }
    return bytes == m->text_len && calls == m->tool_call_count;
}
