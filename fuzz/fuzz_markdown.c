/*
 * fuzz_markdown.c - any bytes as Markdown: splits must not matter
 *
 * Three bytes select the width, the colours and where to split; the rest is the
 * text.  Whole and split it gives the same output, in which every escape
 * sequence is one of ours, and none without colours.
 */
#include "term/markdown.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_output(const struct bytes *out, bool color)
{
    for (size_t i = 0; i < out->len; i++) {
        unsigned char c = (unsigned char)out->ptr[i];
        demand(c >= ' ' || c == '\n' || c == '\t' || (c == 033 && color));
        if (c != 033)
            continue;
        size_t n = strspn(out->ptr + i + 1, "[0;123469");
        bool link = !strncmp(out->ptr + i, "\033]8;;", 5);
        if (link)
            n = strcspn(out->ptr + i + 5, "\033\n") + 5;
        demand(link ? !strncmp(out->ptr + i + n, "\033\\", 2)
                    : n >= 2 && out->ptr[i + 1 + n] == 'm');
        i += link ? n + 1 : 0;
    }
}

static void render(const char *text, size_t len, size_t piece,
                   const uint8_t *how, struct bytes *out)
{
    struct markdown *m = markdown_new(how[0], how[1] % 3);
    for (size_t at = 0; at < len; at += piece)
        markdown_feed(m, text + at, len - at < piece ? len - at : piece, out);
    markdown_end(m, out);
    markdown_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes whole = { NULL, 0, 0 }, split = { NULL, 0, 0 };
    if (size < 3)
        return 0;
    const char *text = (const char *)data + 3;
    render(text, size - 3, size, data, &whole);
    render(text, size - 3, 1u + data[2] % 32, data, &split);
    demand(whole.len == split.len &&
           !memcmp(bytes_string(&whole), bytes_string(&split), whole.len));
    check_output(&whole, data[1] % 3 > 0);
    bytes_release(&whole);
    bytes_release(&split);
    return 0;
}
