/*
 * view.c - draw the text of the line editor
 *
 *      > the first row, which is as wide as
 *        the terminal, continues here
 *               ^ the cursor, found by its row and column
 *
 * Rows are broken here, not by the terminal, so their number is certain.  If
 * there are more of them than the terminal has, those around the cursor are
 * shown.
 */
#include "term/view.h"

#include "term/escape.h"
#include "term/glyph.h"

#include <stdio.h>
#include <string.h>

/* Where drawing is, and what is drawn: rows first..last of the layout. */
struct pen {
    const struct view *v;
    const struct line *line;
    size_t indent;         /* columns of the prompt */
    size_t row, column;
    size_t first, last;
    struct bytes *screen;  /* NULL: only measure */
};

/* What to show instead of a character that controls the terminal, or of a
 * paste; NULL: the character itself. */
static const char *find_substitute(const struct line *l, const char *text,
                                   size_t len, char label[32])
{
    size_t at = 0;
    uint32_t c = glyph_point(text, len, &at);
    const struct bytes *fold = line_fold(l, text, len);
    if (fold) {
        snprintf(label, 32, "[%zu lines]", line_count(fold->ptr, fold->len));
        return label;
    }
    return c < ' ' || escape_is_unsafe(c) ? " " : NULL;
}

static bool is_visible(const struct pen *p)
{
    return p->screen && p->row >= p->first && p->row <= p->last;
}

static void next_row(struct pen *p)
{
    p->row++;
    p->column = p->indent;
    if (!is_visible(p) || p->row == p->first)
        return;
    bytes_text(p->screen, "\r\n");
    for (size_t i = 0; i < p->indent; i++)
        bytes_byte(p->screen, ' ');
}

/* What is drawn for a character. */
struct shown {
    char label[32];
    const char *text;
    size_t len, width;
};

static void choose_shown(const struct pen *p, const char *text, size_t len,
                         struct shown *s)
{
    const char *other = find_substitute(p->line, text, len, s->label);
    s->text = other ? other : text;
    s->len = other ? strlen(other) : len;
    s->width = glyph_width(s->text, s->len);
}

/* Draw the text, or measure it; returns the row of the cursor, and *column. */
static size_t draw_text(struct pen *p, size_t *column)
{
    const struct bytes *text = &p->line->text;
    size_t row = 0;
    *column = p->indent;
    for (size_t i = 0, end;; i = end) {
        struct shown s = { .width = 0 };
        bool glyph = i < text->len && text->ptr[i] != '\n';
        end = glyph ? glyph_next(text->ptr, text->len, i) : i + 1;
        if (glyph)
            choose_shown(p, text->ptr + i, end - i, &s);
        if (glyph && p->column > p->indent &&
            p->column + s.width >= p->v->columns)
            next_row(p); /* the cursor is where the character is */
        if (i == p->line->at) {
            row = p->row;
            *column = p->column;
        }
        if (i >= text->len)
            return row;
        if (!glyph)
            next_row(p);
        else if (is_visible(p))
            bytes_add(p->screen, s.text, s.len);
        p->column += s.width;
    }
}

/* Erase the drawing; the cursor is where the prompt was. */
static void erase_view(struct view *v, struct bytes *screen)
{
    if (v->cursor_row)
        bytes_format(screen, "\033[%zuA", v->cursor_row);
    bytes_text(screen, "\r\033[J");
    v->cursor_row = 0;
}

/* Move from the last row that was drawn to the cursor. */
static void place_cursor(const struct pen *p, size_t row, size_t column)
{
    size_t last = p->row < p->last ? p->row : p->last;
    if (last > row)
        bytes_format(p->screen, "\033[%zuA", last - row);
    bytes_byte(p->screen, '\r');
    if (column)
        bytes_format(p->screen, "\033[%zuC", column);
}

/* The end of the prompt that leaves room for a few characters. */
static const char *fit_prompt(const struct view *v, const char *prompt)
{
    size_t len = strlen(prompt);
    while (*prompt && glyph_width(prompt, len) + 4 > v->columns) {
        size_t n = glyph_next(prompt, len, 0);
        prompt += n;
        len -= n;
    }
    return prompt;
}

void view_draw(struct view *v, const char *prompt, const struct line *l,
               bool at_end, struct bytes *screen)
{
    size_t column, rows = v->rows ? v->rows : 1;
    prompt = fit_prompt(v, prompt);
    size_t indent = glyph_width(prompt, strlen(prompt));
    struct pen measure = { .v = v, .line = l, .indent = indent,
                           .column = indent };
    size_t row = draw_text(&measure, &column);
    struct pen p = { .v = v, .line = l, .indent = indent, .column = indent,
                     .screen = screen };
    p.first = row >= rows ? row - rows + 1 : 0;
    p.last = at_end ? measure.row : p.first + rows - 1;
    p.first = at_end ? 0 : p.first;
    erase_view(v, screen);
    if (!p.first)
        bytes_text(screen, prompt);
    for (size_t i = 0; i < indent && p.first; i++)
        bytes_byte(screen, ' ');
    draw_text(&p, &column);
    v->cursor_row = (at_end ? p.row : row) - p.first;
    if (!at_end)
        place_cursor(&p, row, column);
}
