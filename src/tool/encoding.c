/* encoding.c - the output of an encoder: a string, or why there is none */
#include "tool/encoding.h"

void allm_encoding_text(allm_encoding *out, const char *text, size_t len)
{
    if (!out || out->has_text || out->why)
        return;
    if (!text) {
        out->why = "the encoder passed NULL as its text";
        return;
    }
    buf_add(&out->text, slice_given(text, len));
    out->has_text = true;
}

void allm_encoding_fail(allm_encoding *out, const char *why)
{
    if (!out || out->has_text || out->why)
        return;
    out->why = arena_text(out->text.arena, why ? why : "no reason given");
}
