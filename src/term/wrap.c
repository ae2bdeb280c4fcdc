/*
 * wrap.c - lay out styled text in lines of a given width
 *
 * A line can break at spaces, and before and after a character of two columns.
 * A word that is wider than a line is broken anywhere.
 */
#include "term/wrap.h"

#include "term/glyph.h"

#include <string.h>

static void set_style(struct wrap *w, unsigned style)
{
    if (w->color && style != w->style)
        style_sequence(w->out, style);
    w->style = style;
}

/* Write styled text; returns its columns. */
static size_t put_styled(struct wrap *w, const char *text, size_t len)
{
    size_t width = 0;
    while (len) {
        const char *mark = memchr(text, '\0', len);
        size_t n = mark ? (size_t)(mark - text) : len;
        bytes_add(w->out, text, n);
        width += glyph_width(text, n);
        if (mark && n + 1 < len) {
            set_style(w, (unsigned char)mark[1]);
            n += 2;
        }
        text += n;
        len -= n;
    }
    return width;
}

static void begin_line(struct wrap *w)
{
    if (w->open)
        return;
    w->open = true;
    w->start = put_styled(w, bytes_string(&w->first), w->first.len);
    w->column = w->start;
    bytes_clear(&w->first);
    bytes_add(&w->first, bytes_string(&w->rest), w->rest.len);
}

static void end_line(struct wrap *w)
{
    set_style(w, 0);
    bytes_byte(w->out, '\n');
    w->open = false;
    w->column = 0;
}

/* The spaces before a word; underlined only if both neighbours are. */
static void put_spaces(struct wrap *w)
{
    bool changes = w->word.len && !w->word.ptr[0] &&
                   (unsigned char)w->word.ptr[1] != w->style;
    if (changes)
        set_style(w, 0);
    for (; w->spaces; w->spaces--) {
        bytes_byte(w->out, ' ');
        w->column++;
    }
}

void wrap_flush(struct wrap *w)
{
    if (!w->word_width)
        return;
    if (w->open && w->column > w->start &&
        w->column + w->spaces + w->word_width > w->limit)
        end_line(w);
    begin_line(w);
    if (w->column > w->start)
        put_spaces(w);
    put_styled(w, w->word.ptr, w->word.len);
    w->column += w->word_width;
    bytes_clear(&w->word);
    w->word_width = w->glyph = w->glyph_width = w->spaces = 0;
}

/* The columns of a line without its prefix. */
static size_t line_room(const struct wrap *w)
{
    return w->limit > w->start + 1 ? w->limit - w->start : 1;
}

/* A new glyph of this width follows: the line may break before it. */
static void begin_glyph(struct wrap *w, size_t width)
{
    if (w->word_width && (width == 2 || w->glyph_width == 2 ||
                          w->word_width + width > line_room(w)))
        wrap_flush(w);
    if (!w->word_width || w->word_style != w->text_style)
        style_mark(&w->word, w->text_style);
    w->word_style = w->text_style;
    w->glyph = w->word.len;
    w->glyph_width = width;
    w->word_width += width;
}

/* Does the code point belong to the last glyph of the word? */
static bool extends_glyph(const struct wrap *w, const char *text, size_t len)
{
    char joined[128];
    size_t n = w->word.len - w->glyph;
    if (!w->glyph_width || n + len > sizeof joined)
        return false;
    memcpy(joined, w->word.ptr + w->glyph, n);
    memcpy(joined + n, text, len);
    return glyph_next(joined, n + len, 0) == n + len;
}

static void add_point(struct wrap *w, const char *text, size_t len)
{
    size_t at = 0;
    size_t width = len == 1 ? 1 : glyph_columns(glyph_point(text, len, &at));
    if (len == 1 || !extends_glyph(w, text, len))
        begin_glyph(w, width ? width : 1);
    else if (w->glyph_width < 2 && width == w->glyph_width) {
        w->word_width++; /* the second letter of a flag */
        w->glyph_width = 2;
    }
    bytes_add(&w->word, text, len);
}

static void add_space(struct wrap *w)
{
    wrap_flush(w);
    if (w->text_style & STYLE_CODE)
        w->spaces++;
    else
        w->spaces = 1;
}

static size_t point_length(const char *text, size_t len)
{
    size_t at = 0;
    if ((unsigned char)*text < 0x80)
        return 1;
    glyph_point(text, len, &at);
    return at;
}

void wrap_text(struct wrap *w, const char *text, size_t len)
{
    while (len) {
        size_t n = 1;
        if (!*text && len > 1) {
            n = 2;
            w->text_style = (unsigned char)text[1];
        } else if (*text == ' ' || *text == '\n' || *text == '\t') {
            add_space(w);
        } else {
            n = point_length(text, len);
            add_point(w, text, n);
        }
        text += n;
        len -= n;
    }
}

void wrap_raw(struct wrap *w, const char *text, size_t len)
{
    wrap_flush(w);
    begin_line(w);
    w->column += put_styled(w, text, len);
}

void wrap_end(struct wrap *w)
{
    wrap_flush(w);
    if (w->open)
        end_line(w);
    bytes_clear(&w->word);
    w->spaces = 0;
}

void wrap_line(struct wrap *w)
{
    wrap_flush(w);
    begin_line(w);
    wrap_end(w);
}

void wrap_prefix(struct wrap *w, const struct bytes *first,
                 const struct bytes *rest)
{
    bytes_clear(&w->first);
    bytes_add(&w->first, bytes_string(first), first->len);
    bytes_clear(&w->rest);
    bytes_add(&w->rest, bytes_string(rest), rest->len);
}

void wrap_release(struct wrap *w)
{
    bytes_release(&w->first);
    bytes_release(&w->rest);
    bytes_release(&w->word);
}
