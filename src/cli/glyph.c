/* glyph.c - UTF-8 characters, and their width in terminal columns */
#include "cli/glyph.h"

#include <stdint.h>

struct range {
    uint32_t from, to;
};

/* Marks and joiners: no column of their own. */
static const struct range narrow[] = {
    { 0x0300, 0x036f }, { 0x0483, 0x0489 },   { 0x0591, 0x05bd },
    { 0x0610, 0x061a }, { 0x064b, 0x065f },   { 0x0900, 0x0902 },
    { 0x093c, 0x093c }, { 0x0941, 0x0948 },   { 0x094d, 0x094d },
    { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a },   { 0x0e47, 0x0e4e },
    { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },   { 0x200b, 0x200f },
    { 0x20d0, 0x20f0 }, { 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f },
    { 0xfeff, 0xfeff }, { 0x1f3fb, 0x1f3ff }, { 0xe0100, 0xe01ef },
};

/* East Asian characters and emoji: two columns. */
static const struct range wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },
    { 0x2614, 0x2615 },   { 0x26a1, 0x26a1 },   { 0x2705, 0x2705 },
    { 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x2753, 0x2755 },
    { 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x2b50, 0x2b50 },
    { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },
    { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },
    { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
    { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
    { 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7eb }, { 0x1f90c, 0x1f9ff },
    { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

static int is_in_ranges(const struct range *r, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= r[i].from && c <= r[i].to)
            return 1;
    return 0;
}

static size_t width_of(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (is_in_ranges(narrow, sizeof narrow / sizeof *narrow, c))
        return 0;
    return is_in_ranges(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

static int is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Decode the character at *at, and move *at to its end. */
static uint32_t read_character(const char *text, size_t len, size_t *at)
{
    unsigned char first = (unsigned char)text[(*at)++];
    uint32_t c = first < 0x80   ? first
                 : first < 0xe0 ? first & 0x1fu
                 : first < 0xf0 ? first & 0x0fu
                                : first & 0x07u;
    while (*at < len && is_continuation(text[*at]))
        c = c << 6 | ((unsigned char)text[(*at)++] & 0x3fu);
    return c;
}

size_t glyph_next(const char *text, size_t len, size_t at)
{
    if (at >= len)
        return len;
    read_character(text, len, &at);
    while (at < len) {
        size_t end = at;
        if (width_of(read_character(text, len, &end)))
            break;
        at = end;
    }
    return at;
}

size_t glyph_before(const char *text, size_t at)
{
    size_t end = at;
    while (at) {
        size_t begin;
        do {
            at--;
        } while (at && is_continuation(text[at]));
        begin = at;
        if (width_of(read_character(text, end, &begin)))
            break;
        end = at;
    }
    return at;
}

size_t glyph_width(const char *text, size_t len)
{
    size_t at = 0, width = 0;
    while (at < len)
        width += width_of(read_character(text, len, &at));
    return width;
}
