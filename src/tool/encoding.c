/* encoding.c - where an encoder puts its text, or why it has none */
#include "tool/encoding.h"

void allm_encoding_text(allm_encoding *out, const char *text, size_t len)
{
    if (!out || out->told || out->why)
        return;
    if (!text) {
        out->why = "the encoder gave no text";
        return;
    }
    buf_add(&out->text, slice_given(text, len));
    out->told = true;
}

void allm_encoding_fail(allm_encoding *out, const char *why)
{
    if (!out || out->told || out->why)
        return;
    out->why = arena_text(out->text.arena, why ? why : "it did not say why");
}
