/*
 * wrap.c - lay out styled text in lines of a given width
 *
 * A line can break at spaces, and before and after a character of two columns.
 * A word that is wider than a line is broken anywhere.
 */
#include "term/wrap.h"

#include "term/glyph.h"

#include <limits.h>
#include <string.h>

static const struct style_mark no_style = { .url = "" };

static bool is_linked(const struct wrap *w, const struct style_mark *m)
{
    return m->url_len == w->link.len &&
           !memcmp(m->url, bytes_string(&w->link), m->url_len);
}

static void set_style(struct wrap *w, const struct style_mark *m)
{
    unsigned style = m->style & ~(unsigned)STYLE_LINK;
    if (w->color && style != w->style)
        style_sequence(w->out, style);
    w->style = style;
    if (is_linked(w, m))
        return;
    style_link(w->out, m->url, m->url_len);
    bytes_clear(&w->link);
    bytes_add(&w->link, m->url, m->url_len);
}

/* Write styled text; returns its columns. */
static size_t put_styled(struct wrap *w, const char *text, size_t len)
{
    struct style_mark m;
    size_t width = 0;
    while (len) {
        const char *mark = memchr(text, '\0', len);
        size_t n = mark ? (size_t)(mark - text) : len;
        bytes_add(w->out, text, n);
        width += glyph_width(text, n);
        if (mark) {
            n += style_read(mark, len - n, &m);
            set_style(w, &m);
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
    w->column = put_styled(w, bytes_string(&w->first), w->first.len);
    bytes_clear(&w->first);
    bytes_add(&w->first, bytes_string(&w->rest), w->rest.len);
}

static void end_line(struct wrap *w)
{
    set_style(w, &no_style);
    bytes_byte(w->out, '\n');
    w->open = false;
    w->column = 0;
}

/* The spaces before a word; underlined, or part of a link, only if both
 * neighbours are. */
static void put_spaces(struct wrap *w)
{
    struct style_mark m, plain = no_style;
    style_read(w->word.ptr, w->word.len, &m); /* a word begins with a mark */
    bool linked = is_linked(w, &m);
    if (linked) {
        plain.url = m.url;
        plain.url_len = m.url_len;
    }
    if ((m.style & ~(unsigned)STYLE_LINK) != w->style || !linked)
        set_style(w, &plain);
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
    bool wide = width == 2;
    if (w->word_width &&
        (wide || w->wide || w->word_width + width > line_room(w)))
        wrap_flush(w);
    bool changes = !w->word_width || w->word_style != w->text_style;
    if (changes && w->text_style & STYLE_LINK)
        style_mark_link(&w->word, w->text_style, &w->text_link);
    else if (changes)
        style_mark(&w->word, w->text_style);
    w->word_style = w->text_style;
    w->glyph = w->word.len;
    w->glyph_width = width;
    w->wide = wide;
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
    bool begins = len == 1 || !extends_glyph(w, text, len);
    if (begins)
        begin_glyph(w, width ? width : 1);
    bytes_add(&w->word, text, len);
    if (begins || !width)
        return;
    width = glyph_width(w->word.ptr + w->glyph, w->word.len - w->glyph);
    if (width > w->glyph_width) {
        w->word_width += width - w->glyph_width;
        w->glyph_width = width;
    }
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

static size_t take_mark(struct wrap *w, const char *text, size_t len)
{
    struct style_mark m;
    size_t n = style_read(text, len, &m);
    w->text_style = m.style;
    if (m.url_len) {
        bytes_clear(&w->text_link);
        bytes_add(&w->text_link, m.url, m.url_len);
        w->word_style = UINT_MAX;
    }
    return n;
}

void wrap_text(struct wrap *w, const char *text, size_t len)
{
    while (len) {
        size_t n = 1;
        if (!*text) {
            n = take_mark(w, text, len);
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
    w->start = style_columns(bytes_string(first), first->len);
}

void wrap_release(struct wrap *w)
{
    bytes_release(&w->first);
    bytes_release(&w->rest);
    bytes_release(&w->link);
    bytes_release(&w->text_link);
    bytes_release(&w->word);
}
