/*
 * fuzz_codec.c - any bytes as a document: decoded, or rejected with a reason
 *
 * A decoded document can be encoded; decoding and encoding that again gives the
 * same bytes.  The plain form is JSON, too.  The first byte selects the type of
 * a document without a tag.
 */
#include "allm.h"
#include "base/slice.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
    "Message",       "Tool",           "ToolCall",
    "Request",       "Response",       "Thread",
    "Session",       "StepResult",     "ChatResult",
    "Usage",         "Engine",         "ModelRef",
    "Image",         "ImageRequest",   "ImageResponse",
    "ImageUsage",    "TextPart",       "ImagePart",
    "Error.ToolError", "Error.ValidationError",
};

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

static void check_refusal(const allm_error *e)
{
    demand(e->kind == ALLM_ERR_VALIDATION);
    demand(e->message && *e->message);
    demand(allm_json_count(e->errors) == 1);
}

static void check_tagged(const allm_codec *c)
{
    allm_text *once = allm_codec_json(c, ALLM_FORM_TAGGED);
    struct slice text = text_of(once);
    allm_codec *again = allm_codec_decode(text.ptr, text.len, NULL, NULL);
    demand(!allm_codec_error(again));
    demand(allm_codec_type(again) == allm_codec_type(c));
    allm_text *twice = allm_codec_json(again, ALLM_FORM_TAGGED);
    demand(slice_eq(text_of(twice), text));
    allm_text_free(twice);
    allm_codec_free(again);
    allm_text_free(once);
}

static void check_plain(const allm_codec *c)
{
    allm_text *t = allm_codec_json(c, ALLM_FORM_PLAIN);
    struct slice text = text_of(t);
    allm_json *v = allm_json_parse(text.ptr, text.len, NULL);
    demand(!allm_json_error(v));
    allm_json_free(v);
    allm_text_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *as = types[data[0] % (sizeof types / sizeof *types)];
    allm_codec *c = allm_codec_decode((const char *)data + 1, size - 1, as,
                                      ALLM(json_opts, .max_depth = 120));
    if (allm_codec_error(c)) {
        check_refusal(allm_codec_error(c));
    } else {
        check_tagged(c);
        check_plain(c);
    }
    allm_codec_free(c);
    return 0;
}
