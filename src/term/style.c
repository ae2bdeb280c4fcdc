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

static bool is_one_of(const char *variable, const char *words)
{
    const char *value = getenv(variable);
    size_t n = value ? strlen(value) : 0;
    for (const char *at = words; n && (at = strstr(at, value)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* Does the terminal say that it is one of those that show links?  (A terminal
 * within tmux or screen may be any.) */
static bool knows_links(void)
{
    const char *vte = getenv("VTE_VERSION");
    if (is_set("TMUX") || is_set("STY"))
        return false;
    return (vte && strtol(vte, NULL, 10) >= 5000) || is_set("WT_SESSION") ||
           is_one_of("TERM_PROGRAM", "iTerm.app WezTerm vscode ghostty Hyper "
                                     "mintty rio") ||
           is_one_of("TERM", "xterm-kitty alacritty foot foot-extra contour "
                             "wezterm xterm-ghostty rio");
}

bool style_links_wanted(const char *choice, bool is_terminal)
{
    if (choice && !strcmp(choice, "on"))
        return true;
    return is_terminal && !(choice && !strcmp(choice, "off")) && knows_links();
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

void style_link(struct bytes *out, const char *url, size_t len)
{
    bytes_text(out, "\033]8;;");
    for (size_t i = 0; i < len; i++)
        if (url[i] > ' ' && url[i] < 0x7f && url[i] != '\\')
            bytes_byte(out, url[i]);
        else
            bytes_format(out, "%%%02X", (unsigned)(unsigned char)url[i]);
    bytes_text(out, "\033\\");
}

void style_mark(struct bytes *text, unsigned style)
{
    bytes_byte(text, '\0');
    bytes_byte(text, (char)style);
}

void style_mark_link(struct bytes *text, unsigned style,
                     const struct bytes *url)
{
    style_mark(text, style | STYLE_LINK);
    bytes_add(text, bytes_string(url), url->len + 1);
}

size_t style_read(const char *text, size_t len, struct style_mark *mark)
{
    *mark = (struct style_mark){ .style = (unsigned char)text[1], .url = "" };
    if (!(mark->style & STYLE_LINK))
        return 2;
    const char *end = memchr(text + 2, '\0', len - 2);
    mark->url = text + 2;
    mark->url_len = end ? (size_t)(end - mark->url) : 0;
    return mark->url_len + 3;
}

size_t style_columns(const char *text, size_t len)
{
    struct style_mark m;
    size_t width = 0;
    while (len) {
        const char *mark = memchr(text, '\0', len);
        size_t n = mark ? (size_t)(mark - text) : len;
        width += glyph_width(text, n);
        n += mark ? style_read(mark, len - n, &m) : 0;
        text += n;
        len -= n;
    }
    return width;
}

/* The length of an escape sequence. */
static size_t sequence_length(const char *text, size_t len)
{
    char last = len > 1 && text[1] == ']' ? '\\' : 'm';
    const char *end = memchr(text, last, len);
    return end ? (size_t)(end - text) + 1 : len;
}

size_t style_width(const char *text, size_t len)
{
    size_t width = 0, at = 0;
    while (at < len) {
        const char *escape = memchr(text + at, '\033', len - at);
        size_t end = escape ? (size_t)(escape - text) : len;
        width += glyph_width(text + at, end - at);
        at = escape ? end + sequence_length(escape, len - end) : len;
    }
    return width;
}
