/* lines.c - count lines, and cut long ones */
#include "toolbox/lines.h"

#include "base/utf8.h"

enum { BLOCK = 128, BINARY_LOOK = 8000 };

/* Blocks of a known size: the compiler makes vectors of them. */
static size_t count_block(const char *p)
{
    unsigned char n = 0;
    for (size_t i = 0; i < BLOCK; i++)
        n = (unsigned char)(n + (p[i] == '\n'));
    return n;
}

size_t lines_ends(struct slice text)
{
    size_t n = 0;
    for (; text.len >= BLOCK; text = slice_skip(text, BLOCK))
        n += count_block(text.ptr);
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

size_t lines_count(struct slice text)
{
    bool open = text.len && text.ptr[text.len - 1] != '\n';
    return lines_ends(text) + open;
}

struct slice lines_bare(struct slice line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* The bytes of the first n characters. */
static size_t bytes_of(struct slice s, size_t n)
{
    struct slice rest = s;
    uint32_t point;
    while (n-- && rest.len)
        if (!utf8_take(&rest, &point))
            rest = slice_skip(rest, 1);
    return s.len - rest.len;
}

void lines_add(struct buf *out, struct slice line, size_t most)
{
    size_t len = line.len > most ? bytes_of(line, most) : line.len;
    struct slice rest = { line.ptr, len };
    while (rest.len) {
        struct slice piece = slice_take(&rest, '\0');
        buf_add(out, piece);
        if (piece.ptr + piece.len < line.ptr + len)
            buf_text(out, "\xEF\xBF\xBD");
    }
    if (len < line.len)
        buf_format(out, " [%zu characters more]",
                   utf8_count(slice_skip(line, len)));
}

bool lines_binary(struct slice start)
{
    size_t n = start.len < BINARY_LOOK ? start.len : BINARY_LOOK;
    return n && memchr(start.ptr, 0, n);
}
