/* metadata.c - calls and errors in the metadata of a result */
#include "data/metadata.h"

#include "data/decode.h"
#include "data/encode.h"
#include "data/error.h"
#include "data/tool_call.h"
#include "json/build.h"

/* A value that does not fit is left in the metadata, where it came from. */
static bool has_memory(const struct decoder *d)
{
    return !d->error || d->error->kind != ALLM_ERR_NOMEM;
}

bool metadata_read_calls(struct allm_home *home, const allm_json *metadata,
                         const char *name, struct metadata_calls *out)
{
    struct decoder d;
    size_t count = 0;
    const void *const *calls = NULL;
    const allm_json *listed = allm_json_get(metadata, name);
    if (allm_json_count(listed) == 0)
        return true;
    decode_init(&d, home, home_arena(home));
    if (decode_list(&d, &tool_call_shape, listed, &count, &calls)) {
        out->count = count;
        out->calls = (const allm_tool_call *const *)calls;
    }
    return has_memory(&d);
}

bool metadata_read_error(struct allm_home *home, const allm_json *metadata,
                         const char *name, const allm_error **out)
{
    struct decoder d;
    const allm_json *value = allm_json_get(metadata, name);
    if (allm_json_type_of(value) != ALLM_JSON_OBJECT)
        return true;
    decode_init(&d, home, home_arena(home));
    const allm_error *error = decode_value(&d, &error_shape, value);
    if (error)
        *out = error;
    return has_memory(&d);
}

const allm_json *metadata_calls_json(struct arena *a, size_t count,
                                     const allm_tool_call *const *calls)
{
    struct build b = build_array_in(a);
    for (size_t i = 0; i < count; i++) {
        build_value(&b, encode_to_json(a, &tool_call_shape, calls[i],
                                       ALLM_FORM_TAGGED, NULL));
    }
    return build_finish(&b);
}
