/* entity.c - the character references of HTML */
#include "term/entity.h"

#include "term/entity_table.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 32, MOST_DIGITS = 7 }; /* CounterClockwiseContourIntegral */

static bool is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') ||
           (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

static bool is_alphanumeric(char c)
{
    return is_digit(c, false) || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static uint32_t digit_value(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

size_t entity_encode(uint32_t point, char bytes[4])
{
    uint32_t c = point;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(heads[n] | c);
    return n;
}

/* What follows "&#". */
static enum entity_found read_number(const char *text, size_t len,
                                     struct entity *e)
{
    bool hex = len > 2 && (text[2] | 0x20) == 'x';
    size_t at = hex ? 3 : 2, digits = 0;
    uint32_t value = 0;
    for (; at < len && is_digit(text[at], hex); at++, digits++)
        if (digits < MOST_DIGITS)
            value = value * (hex ? 16 : 10) + digit_value(text[at]);
    if (digits > (hex ? MOST_DIGITS - 1 : MOST_DIGITS))
        return ENTITY_NONE;
    if (at == len)
        return ENTITY_CUT;
    if (!digits || text[at] != ';')
        return ENTITY_NONE;
    bool valid = value && value <= 0x10ffff &&
                 (value < 0xd800 || value > 0xdfff);
    e->count = entity_encode(valid ? value : 0xfffd, e->bytes);
    e->len = at + 1;
    return ENTITY_WHOLE;
}

/* What a name stands for; NULL: it is unknown. */
static const char *find_name(const char *name, size_t len)
{
    size_t low = 0, high = entity_count;
    while (low < high) {
        size_t at = (low + high) / 2;
        const char *found = (const char *)entity_text + entity_start[at];
        int order = strncmp(found, name, len);
        if (!order && found[len])
            order = 1;
        if (!order)
            return found + len + 1;
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return NULL;
}

enum entity_found entity_read(const char *text, size_t len, struct entity *e)
{
    size_t at = 1;
    if (len > 1 && text[1] == '#')
        return read_number(text, len, e);
    while (at < len && is_alphanumeric(text[at]))
        at++;
    if (at > LONGEST)
        return ENTITY_NONE;
    if (at == len)
        return ENTITY_CUT;
    const char *bytes = text[at] == ';' ? find_name(text + 1, at - 1) : NULL;
    if (!bytes)
        return ENTITY_NONE;
    e->count = strlen(bytes);
    memcpy(e->bytes, bytes, e->count);
    e->len = at + 1;
    return ENTITY_WHOLE;
}
