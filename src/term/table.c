/*
 * table.c - lay out a table
 *
 *      name  | count
 *      ------+------
 *      apple |    12
 *
 * A column is as wide as its widest cell.  If the table is wider than the line,
 * the widest columns are cut down to one common width, and their cells wrapped.
 */
#include "term/table.h"

#include "term/inline.h"
#include "term/mem.h"

#include <string.h>

enum { BETWEEN = 3, NARROWEST = 3 };

struct cell {
    size_t at, len; /* styled text in `text` */
};

struct table {
    struct wrap *wrap;
    bool links;
    size_t columns, rows;
    struct bytes text;
    struct cell *cells; /* row by row */
    size_t *widths;     /* of the columns */
    char *aligns;       /* l, r or c */
    struct bytes line;  /* scratch */
};

/* The next cell of a row, without the spaces around it; *at is behind it. */
static bool next_cell(const char *row, size_t len, size_t *at, size_t *from,
                      size_t *to)
{
    size_t i = *at;
    while (!*at && i < len && row[i] == ' ')
        i++;
    if (!*at && i < len && row[i] == '|')
        i++;
    *from = i;
    while (i < len && row[i] != '|')
        i += row[i] == '\\' ? 2 : 1;
    i = i > len ? len : i;
    bool ended = i < len;
    *to = i;
    while (*from < *to && row[*from] == ' ')
        ++*from;
    while (*to > *from && row[*to - 1] == ' ')
        --*to;
    bool found = ended || *to > *from;
    *at = i + 1;
    return found;
}

size_t table_cells(const char *line, size_t len)
{
    size_t at = 0, from, to, n = 0;
    while (at < len && next_cell(line, len, &at, &from, &to))
        n++;
    return n;
}

static void read_cell(struct table *t, struct cell *cell, const char *text,
                      size_t len, bool head)
{
    struct inline_text in = { .color = t->wrap->color, .links = t->links };
    bytes_clear(&t->line);
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\\' || i + 1 == len || text[i + 1] != '|')
            bytes_byte(&t->line, text[i]);
    cell->at = t->text.len;
    inline_begin(&in, head ? STYLE_BOLD : 0);
    inline_feed(&in, bytes_string(&t->line), t->line.len, &t->text);
    if (inline_end(&in, &t->text))
        bytes_byte(&t->text, '\\');
    inline_release(&in);
    cell->len = t->text.len - cell->at;
}

static void read_row(struct table *t, size_t row, const char *line, size_t len)
{
    size_t at = 0, from, to;
    for (size_t i = 0; i < t->columns && at < len; i++) {
        struct cell *cell = &t->cells[row * t->columns + i];
        if (!next_cell(line, len, &at, &from, &to))
            break;
        read_cell(t, cell, line + from, to - from, !row);
        size_t width = style_columns(t->text.ptr + cell->at, cell->len);
        if (width > t->widths[i])
            t->widths[i] = width;
    }
}

static void read_aligns(struct table *t, const char *line, size_t len)
{
    size_t at = 0, from, to;
    for (size_t i = 0; i < t->columns; i++) {
        t->aligns[i] = 'l';
        if (!next_cell(line, len, &at, &from, &to) || from == to)
            continue;
        bool left = line[from] == ':', right = line[to - 1] == ':';
        t->aligns[i] = left && right ? 'c' : right ? 'r' : 'l';
    }
}

/* The sum of the widths, none above `most`. */
static size_t total_width(const struct table *t, size_t most)
{
    size_t sum = 0;
    for (size_t i = 0; i < t->columns; i++)
        sum += t->widths[i] < most ? t->widths[i] : most;
    return sum;
}

/* Cut the widest columns until all fit. */
static void shrink_columns(struct table *t, size_t room)
{
    size_t low = NARROWEST, high = room;
    while (low < high) {
        size_t most = (low + high + 1) / 2;
        if (total_width(t, most) <= room)
            low = most;
        else
            high = most - 1;
    }
    size_t sum = total_width(t, low), spare = room > sum ? room - sum : 0;
    for (size_t i = 0; i < t->columns; i++) {
        bool cut = t->widths[i] > low;
        t->widths[i] = cut ? low + (spare > 0) : t->widths[i];
        spare -= cut && spare;
    }
}

static void add_spaces(struct bytes *out, size_t n)
{
    while (n--)
        bytes_byte(out, ' ');
}

/* Wrap a cell to the width of its column, into lines. */
static void wrap_cell(const struct table *t, const struct cell *cell,
                      size_t column, struct bytes *out)
{
    struct wrap w = { .out = out, .limit = t->widths[column],
                      .color = t->wrap->color };
    wrap_text(&w, bytes_string(&t->text) + cell->at, cell->len);
    wrap_end(&w);
    wrap_release(&w);
}

/* Append the n-th line of a wrapped cell, padded. */
static bool add_line(struct table *t, const struct bytes *cell, size_t *at,
                     size_t column)
{
    const char *text = bytes_string(cell) + *at;
    size_t left = cell->len - *at;
    const char *end = left ? memchr(text, '\n', left) : NULL;
    size_t len = end ? (size_t)(end - text) : left;
    size_t width = style_width(text, len);
    size_t pad = t->widths[column] > width ? t->widths[column] - width : 0;
    size_t before = t->aligns[column] == 'r'   ? pad
                    : t->aligns[column] == 'c' ? pad / 2
                                               : 0;
    if (column)
        bytes_text(&t->line, t->wrap->color ? " \xe2\x94\x82 " : " | ");
    add_spaces(&t->line, before);
    bytes_add(&t->line, text, len);
    add_spaces(&t->line, pad - before);
    *at += end ? len + 1 : len;
    return *at < cell->len;
}

static void put_line(struct table *t)
{
    while (t->line.len && t->line.ptr[t->line.len - 1] == ' ')
        t->line.len--;
    wrap_raw(t->wrap, bytes_string(&t->line), t->line.len);
    wrap_line(t->wrap);
}

static void write_row(struct table *t, size_t row)
{
    struct bytes *cells = term_alloc(t->columns * sizeof *cells);
    size_t *at = term_alloc(t->columns * sizeof *at);
    bool more = true;
    for (size_t i = 0; i < t->columns; i++)
        wrap_cell(t, &t->cells[row * t->columns + i], i, &cells[i]);
    while (more) {
        more = false;
        bytes_clear(&t->line);
        for (size_t i = 0; i < t->columns; i++)
            more |= add_line(t, &cells[i], &at[i], i);
        put_line(t);
    }
    for (size_t i = 0; i < t->columns; i++)
        bytes_release(&cells[i]);
    term_free(cells);
    term_free(at);
}

static void write_ruler(struct table *t)
{
    bool color = t->wrap->color;
    const char *dash = color ? "\xe2\x94\x80" : "-";
    bytes_clear(&t->line);
    for (size_t i = 0; i < t->columns; i++) {
        if (i)
            bytes_text(&t->line,
                       color ? "\xe2\x94\x80\xe2\x94\xbc\xe2\x94\x80" : "-+-");
        for (size_t k = 0; k < t->widths[i]; k++)
            bytes_text(&t->line, dash);
    }
    put_line(t);
}

static size_t count_rows(const char *rows, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += rows[i] == '\n';
    return n;
}

static void read_rows(struct table *t, const char *rows, size_t len)
{
    for (size_t at = 0, line = 0; at < len; line++) {
        const char *end = memchr(rows + at, '\n', len - at);
        size_t n = end ? (size_t)(end - rows) - at : len - at;
        if (line == 1)
            read_aligns(t, rows + at, n);
        else
            read_row(t, line ? line - 1 : 0, rows + at, n);
        at += n + 1;
    }
}

bool table_write(struct wrap *w, bool links, const char *rows, size_t len)
{
    const char *second = (const char *)memchr(rows, '\n', len) + 1;
    const char *end = memchr(second, '\n', len - (size_t)(second - rows));
    struct table t = { .wrap = w, .links = links,
                       .rows = count_rows(rows, len) - 1 };
    size_t room = w->limit > w->start ? w->limit - w->start : 0;
    t.columns = table_cells(second, (size_t)(end - second));
    if (t.columns * (NARROWEST + BETWEEN) > room + BETWEEN)
        return false;
    room -= BETWEEN * (t.columns - 1);
    t.cells = term_alloc(t.rows * t.columns * sizeof *t.cells);
    t.widths = term_alloc(t.columns * sizeof *t.widths);
    t.aligns = term_alloc(t.columns);
    read_rows(&t, rows, len);
    shrink_columns(&t, room);
    for (size_t i = 0; i < t.rows; i++) {
        write_row(&t, i);
        if (!i)
            write_ruler(&t);
    }
    bytes_release(&t.text);
    bytes_release(&t.line);
    term_free(t.cells);
    term_free(t.widths);
    term_free(t.aligns);
    return true;
}
