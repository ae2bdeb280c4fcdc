/* style.c - colours and other styles of a terminal, and styled text */
#include "term/style.h"

#include "term/glyph.h"

#include <stdlib.h>
#include <string.h>

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool style_wanted(const char *choice, bool is_terminal)
{
    const char *term = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
    if (choice && !strcmp(choice, "off"))
        return false;
    if (choice && !strcmp(choice, "on"))
        return true;
    if (is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return is_terminal && term && *term && strcmp(term, "dumb") != 0;
}

void style_sequence(struct bytes *out, unsigned style)
{
    static const char *const codes[] = { ";1", ";2", ";3", ";4", ";9", ";36" };
    bytes_text(out, "\033[0");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (style & 1u << i)
            bytes_text(out, codes[i]);
    bytes_byte(out, 'm');
}

void style_mark(struct bytes *text, unsigned style)
{
    bytes_byte(text, '\0');
    bytes_byte(text, (char)style);
}

size_t style_width(const char *text, size_t len)
{
    size_t width = 0, at = 0;
    while (at < len) {
        const char *escape = memchr(text + at, '\033', len - at);
        size_t end = escape ? (size_t)(escape - text) : len;
        width += glyph_width(text + at, end - at);
        const char *m = escape ? memchr(escape, 'm', len - end) : NULL;
        at = m ? (size_t)(m - text) + 1 : len;
    }
    return width;
}
