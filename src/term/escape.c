/* escape.c - make text from outside harmless for a terminal */
#include "term/escape.h"

#include "term/glyph.h"

bool escape_is_unsafe(uint32_t c)
{
    return (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) ||
           c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool escape_is_invalid(uint32_t c, size_t count)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    return c < least[count] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff);
}

void escape_end(struct escape *e, struct bytes *out)
{
    for (int i = 0; i < e->count; i++)
        bytes_format(out, "\\x%02x", (unsigned char)e->held[i]);
    e->count = 0;
}

static void end_point(struct escape *e, struct bytes *out)
{
    size_t at = 0;
    uint32_t c = glyph_point(e->held, (size_t)e->count, &at);
    if (escape_is_invalid(c, (size_t)e->count)) {
        escape_end(e, out);
        return;
    }
    if (escape_is_unsafe(c) && !(e->returns && c == '\r'))
        bytes_format(out, "\\u%04x", (unsigned)c);
    else
        bytes_add(out, e->held, (size_t)e->count);
    e->count = 0;
}

static void feed_byte(struct escape *e, unsigned char c, struct bytes *out)
{
    if (e->count && (c & 0xc0) != 0x80)
        escape_end(e, out);
    if (!e->count)
        e->want = (int)glyph_length((char)c);
    e->held[e->count++] = (char)c;
    if (!e->want)
        escape_end(e, out);
    else if (e->count == e->want)
        end_point(e, out);
}

void escape_feed(struct escape *e, const char *text, size_t len,
                 struct bytes *out)
{
    for (size_t at = 0; at < len;) {
        size_t n = 0;
        while (!e->count && at + n < len && text[at + n] >= ' ' &&
               text[at + n] < 0x7f)
            n++;
        bytes_add(out, text + at, n);
        at += n;
        if (at < len)
            feed_byte(e, (unsigned char)text[at++], out);
    }
}

void escape_text(const char *text, size_t len, struct bytes *out)
{
    struct escape e = { .count = 0 };
    escape_feed(&e, text, len, out);
    escape_end(&e, out);
}
