/* finish.c - map Gemini's finish reasons to ours */
#include "provider/gemini/finish.h"

#include "base/buf.h"
#include "json/json.h"

static const struct finish_word finish_reasons[] = {
    { "STOP", ALLM_FINISH_STOP },
    { "MAX_TOKENS", ALLM_FINISH_LENGTH },
    { "SAFETY", ALLM_FINISH_CONTENT_FILTER },
    { "RECITATION", ALLM_FINISH_CONTENT_FILTER },
    { "LANGUAGE", ALLM_FINISH_CONTENT_FILTER },
    { "BLOCKLIST", ALLM_FINISH_CONTENT_FILTER },
    { "PROHIBITED_CONTENT", ALLM_FINISH_CONTENT_FILTER },
    { "SPII", ALLM_FINISH_CONTENT_FILTER },
    { "MODEL_ARMOR", ALLM_FINISH_CONTENT_FILTER },
    { "IMAGE_SAFETY", ALLM_FINISH_CONTENT_FILTER },
    { "IMAGE_PROHIBITED_CONTENT", ALLM_FINISH_CONTENT_FILTER },
    { "IMAGE_RECITATION", ALLM_FINISH_CONTENT_FILTER },
    { "MALFORMED_FUNCTION_CALL", ALLM_FINISH_ERROR },
    { "MALFORMED_RESPONSE", ALLM_FINISH_ERROR },
    { "UNEXPECTED_TOOL_CALL", ALLM_FINISH_ERROR },
    { "TOO_MANY_TOOL_CALLS", ALLM_FINISH_ERROR },
    { "MISSING_THOUGHT_SIGNATURE", ALLM_FINISH_ERROR },
    { NULL, ALLM_FINISH_OTHER },
};

/* The names by number; some servers send numbers. */
static const char *const finish_numbers[] = {
    GEMINI_FINISH_VAGUE, "STOP", "MAX_TOKENS", "SAFETY", "RECITATION",
    "OTHER", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
    "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL",
};

static const char *const block_numbers[] = {
    GEMINI_FINISH_NO_BLOCK, "SAFETY", "OTHER", "BLOCKLIST",
    "PROHIBITED_CONTENT", "IMAGE_SAFETY",
};

static struct slice name_of(const allm_json *v, struct arena *a,
                            const char *const *names, size_t count)
{
    int64_t n;
    if (allm_json_type_of(v) != ALLM_JSON_INT || !allm_json_int64(v, &n))
        return json_slice(v);
    if (n >= 0 && (uint64_t)n < count)
        return slice_of(names[n]);
    struct buf text = buf_in(a, 64);
    buf_int(&text, n);
    return buf_slice(&text);
}

struct slice gemini_finish_word(const allm_json *v, struct arena *a)
{
    return name_of(v, a, finish_numbers,
                   sizeof finish_numbers / sizeof *finish_numbers);
}

struct slice gemini_finish_block(const allm_json *v, struct arena *a)
{
    return name_of(v, a, block_numbers,
                   sizeof block_numbers / sizeof *block_numbers);
}

allm_finish gemini_finish_of(struct slice name)
{
    return finish_of(finish_reasons, name);
}
