/*
 * block.c - the open blocks of a Markdown text, and how they are written
 *
 *      > - text        a quote, in it an item, in it a paragraph
 *      |   goes on     what is written: the markers once, then their width
 *
 * Invariants
 *   (1) A leaf is inside all open containers.
 *   (2) A container's marker is written before anything inside it.
 */
#include "term/block.h"

#include "term/glyph.h"
#include "term/table.h"

#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------- containers --- */

/* The first container whose marker is shown: deep ones leave half a line. */
static size_t first_visible(const struct blocks *b)
{
    size_t width = 0, i = b->count;
    while (i && width + b->open[i - 1].width <= b->wrap.limit / 2)
        width += b->open[--i].width;
    return i;
}

static void add_marker(struct bytes *out, const struct container *c, bool show)
{
    if (c->quote) {
        style_mark(out, STYLE_DIM);
        bytes_text(out, c->marker);
        style_mark(out, 0);
    } else if (show) {
        bytes_text(out, c->marker);
    } else {
        for (size_t i = 0; i < c->width; i++)
            bytes_byte(out, ' ');
    }
}

/* Set the prefixes for a leaf in the open containers. */
static void set_prefix(struct blocks *b)
{
    struct bytes first = { NULL, 0, 0 }, rest = { NULL, 0, 0 };
    for (size_t i = first_visible(b); i < b->count; i++) {
        add_marker(&first, &b->open[i], !b->open[i].shown);
        add_marker(&rest, &b->open[i], false);
        b->open[i].shown = true;
    }
    wrap_prefix(&b->wrap, &first, &rest);
    bytes_release(&first);
    bytes_release(&rest);
}

/* A line with only the markers of the containers that were shown before. */
static void write_blank(struct blocks *b)
{
    struct bytes prefix = { NULL, 0, 0 };
    for (size_t i = first_visible(b); i < b->count && b->open[i].shown; i++)
        if (b->open[i].quote)
            add_marker(&prefix, &b->open[i], true);
    wrap_prefix(&b->wrap, &prefix, &prefix);
    wrap_line(&b->wrap);
    bytes_release(&prefix);
}

static void write_styled(struct blocks *b)
{
    wrap_text(&b->wrap, bytes_string(&b->styled), b->styled.len);
    bytes_clear(&b->styled);
}

/* The lines of a table that has no columns, or too many. */
static void write_plain_table(struct blocks *b)
{
    const char *row = bytes_string(&b->table);
    while (*row) {
        size_t n = strcspn(row, "\n");
        wrap_raw(&b->wrap, row, n);
        wrap_line(&b->wrap);
        row += n + (row[n] == '\n');
    }
}

static void close_table(struct blocks *b)
{
    if (b->rows == 1 && !b->plain) {
        block_table_fail(b);
        wrap_end(&b->wrap);
        return;
    }
    if (!b->plain &&
        !table_write(&b->wrap, b->text.links, b->table.ptr, b->table.len))
        write_plain_table(b);
    bytes_clear(&b->table);
}

static void close_leaf(struct blocks *b)
{
    if (b->leaf == LEAF_TABLE)
        close_table(b);
    if (b->leaf == LEAF_PARAGRAPH && b->slash)
        wrap_text(&b->wrap, "\\", 1);
    if (b->leaf == LEAF_FENCE && !b->leaf_wrote)
        wrap_line(&b->wrap);
    if (b->leaf != LEAF_NONE)
        wrap_end(&b->wrap);
    b->leaf = LEAF_NONE;
    b->slash = b->hard = false;
    b->blanks = 0;
}

void block_close(struct blocks *b, size_t keep)
{
    if (b->leaf != LEAF_NONE)
        close_leaf(b);
    if (b->count > keep && !b->open[b->count - 1].shown) {
        set_prefix(b); /* an item without text */
        wrap_line(&b->wrap);
    }
    b->count = keep < b->count ? keep : b->count;
}

static struct container *open_container(struct blocks *b, size_t keep,
                                        char kind, const char *marker)
{
    block_close(b, keep);
    struct container *c = &b->open[b->count++];
    *c = (struct container){ .quote = kind == '>' };
    snprintf(c->marker, sizeof c->marker, "%s", marker);
    c->width = glyph_width(c->marker, strlen(c->marker));
    b->lists[b->count].kind = '\0';
    return c;
}

/* Separate it from the block before, if the source has a blank line. */
static void separate_blocks(struct blocks *b)
{
    if (b->blank && b->wrote)
        write_blank(b);
    b->blank = false;
    b->wrote = true;
}

void block_quote(struct blocks *b, size_t keep)
{
    open_container(b, keep, '>', b->wrap.color ? "\xe2\x94\x82 " : "> ");
    b->lists[b->count - 1].kind = '\0';
}

void block_item(struct blocks *b, size_t keep, const struct start_item *item)
{
    char marker[16];
    long number = item->number;
    if (b->lists[keep].kind == item->kind)
        number = b->lists[keep].number + 1;
    bool ordered = item->kind == '.' || item->kind == ')';
    if (ordered)
        snprintf(marker, sizeof marker, "%ld%c ", number, item->kind);
    else
        snprintf(marker, sizeof marker, "%s ",
                 b->wrap.color ? "\xe2\x80\xa2" : "-");
    struct container *c = open_container(b, keep, item->kind, marker);
    c->empty = item->blank;
    b->lists[keep].kind = item->kind;
    b->lists[keep].number = number;
}

/* ------------------------------------------------------------- leaves --- */

void block_begin(struct blocks *b, size_t keep, enum leaf leaf)
{
    block_close(b, keep);
    separate_blocks(b);
    set_prefix(b);
    for (size_t i = 0; i < b->count; i++)
        b->open[i].empty = false;
    b->lists[b->count].kind = '\0';
    b->leaf = leaf;
    b->leaf_wrote = false;
    inline_begin(&b->text, 0);
    bytes_clear(&b->tail);
}

void block_heading(struct blocks *b, size_t keep, size_t level)
{
    block_begin(b, keep, LEAF_HEADING);
    inline_begin(&b->text,
                 level == 1 ? STYLE_BOLD | STYLE_UNDERLINE : STYLE_BOLD);
    if (b->wrap.color)
        return;
    for (size_t i = 0; i < level; i++)
        bytes_byte(&b->styled, '#');
    bytes_byte(&b->styled, ' ');
    write_styled(b);
}

static void write_ruler(struct blocks *b, const char *dash, size_t columns)
{
    struct bytes line = { NULL, 0, 0 };
    style_mark(&line, STYLE_DIM);
    for (size_t i = 0; i < columns; i++)
        bytes_text(&line, dash);
    wrap_raw(&b->wrap, line.ptr, line.len);
    wrap_line(&b->wrap);
    bytes_release(&line);
}

void block_rule(struct blocks *b, size_t keep)
{
    block_begin(b, keep, LEAF_NONE);
    size_t room = b->wrap.limit < 40 ? b->wrap.limit / 2 : 20;
    if (b->wrap.color)
        write_ruler(b, "\xe2\x94\x80", room);
    else
        write_ruler(b, "-", 3);
}

void block_underline(struct blocks *b, char c)
{
    if (b->slash)
        wrap_text(&b->wrap, "\\", 1);
    b->slash = false;
    wrap_flush(&b->wrap);
    size_t columns = b->wrap.open ? b->wrap.column - b->wrap.start : 0;
    const char *dash = c == '=' ? "=" : "-";
    if (b->wrap.color)
        dash = c == '=' ? "\xe2\x95\x90" : "\xe2\x94\x80";
    block_close(b, b->count);
    write_ruler(b, dash, columns > 3 ? columns : 3);
}

void block_fence(struct blocks *b, const char *line, size_t len, size_t run)
{
    size_t from = run, to;
    while (from < len && line[from] == ' ')
        from++;
    for (to = from; to < len && line[to] != ' '; to++)
        ;
    if (b->wrap.color && from == to)
        return;
    style_mark(&b->styled, STYLE_DIM);
    if (!b->wrap.color)
        bytes_add(&b->styled, line, run);
    inline_unescape(line + from, to - from, &b->styled);
    wrap_raw(&b->wrap, b->styled.ptr, b->styled.len);
    bytes_clear(&b->styled);
    wrap_line(&b->wrap);
    b->leaf_wrote = true;
}

void block_code(struct blocks *b, const char *text, size_t len, bool code)
{
    for (; b->blanks; b->blanks--)
        wrap_line(&b->wrap);
    b->leaf_wrote = true;
    if (!len)
        return;
    style_mark(&b->styled, code ? STYLE_CODE : 0);
    if (b->leaf == LEAF_INDENTED && !b->wrap.color && !b->wrap.open)
        bytes_text(&b->styled, "    ");
    bytes_add(&b->styled, text, len);
    wrap_raw(&b->wrap, b->styled.ptr, b->styled.len);
    bytes_clear(&b->styled);
}

void block_code_end(struct blocks *b)
{
    b->leaf_wrote = true;
    wrap_line(&b->wrap);
}

/* --------------------------------------------------------------- text --- */

static void feed_text(struct blocks *b, const char *text, size_t len)
{
    inline_feed(&b->text, text, len, &b->styled);
}

/* Spaces at the end of a line mean something else, and so do the # of a
 * heading: they wait for what follows. */
void block_text(struct blocks *b, const char *text, size_t len)
{
    size_t end = len;
    bool heading = b->leaf == LEAF_HEADING;
    while (end && (text[end - 1] == ' ' || text[end - 1] == '\t' ||
                   (heading && text[end - 1] == '#')))
        end--;
    if (end) {
        feed_text(b, bytes_string(&b->tail), b->tail.len);
        bytes_clear(&b->tail);
        feed_text(b, text, end);
        b->leaf_wrote = true;
    }
    bytes_add(&b->tail, text + end, len - end);
    write_styled(b);
    if (b->tail.len && *b->tail.ptr != '#' && !b->text.held.len)
        wrap_flush(&b->wrap); /* the word is complete */
}

static size_t trimmed_length(const struct bytes *tail, size_t len)
{
    while (len && (tail->ptr[len - 1] == ' ' || tail->ptr[len - 1] == '\t'))
        len--;
    return len;
}

/* The # at the end of a heading are not part of it, if a space is before. */
static void end_heading(struct blocks *b)
{
    size_t len = trimmed_length(&b->tail, b->tail.len), from = len;
    while (from && b->tail.ptr[from - 1] == '#')
        from--;
    if (from < len && (from ? b->tail.ptr[from - 1] != '#' : !b->leaf_wrote))
        len = trimmed_length(&b->tail, from);
    feed_text(b, bytes_string(&b->tail), len);
    if (inline_end(&b->text, &b->styled))
        bytes_byte(&b->styled, '\\');
    write_styled(b);
    wrap_line(&b->wrap);
    b->leaf = LEAF_NONE;
}

void block_text_end(struct blocks *b)
{
    if (b->leaf == LEAF_HEADING) {
        end_heading(b);
        return;
    }
    b->hard = b->tail.len >= 2 && b->tail.ptr[b->tail.len - 1] == ' ' &&
              b->tail.ptr[b->tail.len - 2] == ' ';
    b->slash = inline_end(&b->text, &b->styled);
    if (b->slash && b->tail.len) { /* it was not the last character */
        bytes_byte(&b->styled, '\\');
        b->slash = false;
    }
    bytes_clear(&b->tail);
    write_styled(b);
    wrap_flush(&b->wrap);
}

void block_continue(struct blocks *b)
{
    if (b->slash || b->hard)
        wrap_end(&b->wrap);
    else
        wrap_text(&b->wrap, " ", 1);
    b->slash = b->hard = false;
}

/* ------------------------------------------------------------- tables --- */

void block_table_open(struct blocks *b, size_t keep)
{
    b->after_text = b->leaf == LEAF_PARAGRAPH;
    if (!b->after_text)
        block_begin(b, keep, LEAF_TABLE);
    b->leaf = LEAF_TABLE;
    b->rows = 0;
    b->plain = false;
}

void block_table_text(struct blocks *b, const char *line, size_t len)
{
    b->leaf = LEAF_PARAGRAPH;
    if (b->after_text)
        block_continue(b);
    block_text(b, line, len);
}

void block_table_fail(struct blocks *b)
{
    block_table_text(b, bytes_string(&b->table), b->table.len - 1);
    block_text_end(b);
    bytes_clear(&b->table);
}

bool block_table_begin(struct blocks *b, const char *line, size_t len)
{
    size_t columns;
    if (!start_table_row(line, len, &columns) ||
        columns != table_cells(b->table.ptr, b->table.len - 1) ||
        columns != table_cells(line, len))
        return false;
    if (b->after_text) {
        b->leaf = LEAF_PARAGRAPH; /* it ends above the table */
        block_begin(b, b->count, LEAF_TABLE);
    }
    block_table_row(b, line, len);
    return true;
}

void block_table_plain(struct blocks *b)
{
    if (!b->plain)
        write_plain_table(b);
    b->plain = true;
    bytes_clear(&b->table);
}

void block_table_row(struct blocks *b, const char *line, size_t len)
{
    if (b->plain) {
        wrap_raw(&b->wrap, line, len);
        wrap_line(&b->wrap);
        return;
    }
    bytes_add(&b->table, line, len);
    bytes_byte(&b->table, '\n');
    b->rows++;
    if (b->table.len > BLOCK_TABLE && b->rows > 1)
        block_table_plain(b);
}

void block_release(struct blocks *b)
{
    wrap_release(&b->wrap);
    inline_release(&b->text);
    bytes_release(&b->tail);
    bytes_release(&b->table);
    bytes_release(&b->styled);
}
