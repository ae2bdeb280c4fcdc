/*
 * edit_text.c - the text of the line editor, and its editing operations
 *
 * Invariants
 *   (1) at <= line.len, and a NUL follows the line.
 *   (2) `at` is never inside a character.
 */
#include "cli/edit_text.h"

#include "cli/history.h"
#include "term/glyph.h"

#include <string.h>

/* Replace the text; false: it does not fit; an error was printed. */
static bool set_text(struct input *line, const char *bytes, size_t len)
{
    line->len = 0;
    return input_append(line, bytes, len);
}

bool edit_text_reset(struct edit_text *t)
{
    t->at = t->back = 0;
    t->pasting = t->full = false;
    return set_text(&t->line, "", 0);
}

void edit_text_insert(struct edit_text *t, const char *bytes, size_t len)
{
    size_t tail = t->line.len - t->at;
    t->full = t->full || !input_append(&t->line, bytes, len);
    if (t->full)
        return;
    memmove(t->line.ptr + t->at + len, t->line.ptr + t->at, tail);
    memcpy(t->line.ptr + t->at, bytes, len);
    t->at += len;
}

/* Delete the bytes from..to, and move the cursor there. */
static void delete_range(struct edit_text *t, size_t from, size_t to)
{
    memmove(t->line.ptr + from, t->line.ptr + to, t->line.len - to + 1);
    t->line.len -= to - from;
    t->at = from;
}

static bool is_blank(const struct edit_text *t, size_t at)
{
    return t->line.ptr[at] == ' ' || t->line.ptr[at] == '\n' ||
           t->line.ptr[at] == '\t';
}

static size_t word_begin(const struct edit_text *t)
{
    size_t at = t->at;
    while (at && is_blank(t, at - 1))
        at--;
    while (at && !is_blank(t, at - 1))
        at--;
    return at;
}

static size_t word_end(const struct edit_text *t)
{
    size_t at = t->at;
    while (at < t->line.len && is_blank(t, at))
        at++;
    while (at < t->line.len && !is_blank(t, at))
        at++;
    return at;
}

void edit_text_home(struct edit_text *t)
{
    t->at = 0;
}

void edit_text_end(struct edit_text *t)
{
    t->at = t->line.len;
}

void edit_text_left(struct edit_text *t)
{
    t->at = glyph_before(t->line.ptr, t->at);
}

void edit_text_right(struct edit_text *t)
{
    t->at = glyph_next(t->line.ptr, t->line.len, t->at);
}

void edit_text_word_left(struct edit_text *t)
{
    t->at = word_begin(t);
}

void edit_text_word_right(struct edit_text *t)
{
    t->at = word_end(t);
}

void edit_text_backspace(struct edit_text *t)
{
    delete_range(t, glyph_before(t->line.ptr, t->at), t->at);
}

void edit_text_delete(struct edit_text *t)
{
    delete_range(t, t->at, glyph_next(t->line.ptr, t->line.len, t->at));
}

void edit_text_kill_begin(struct edit_text *t)
{
    delete_range(t, 0, t->at);
}

void edit_text_kill_end(struct edit_text *t)
{
    delete_range(t, t->at, t->line.len);
}

void edit_text_kill_word(struct edit_text *t)
{
    delete_range(t, word_begin(t), t->at);
}

void edit_text_kill_next(struct edit_text *t)
{
    delete_range(t, t->at, word_end(t));
}

static void show_history_line(struct edit_text *t, const char *line)
{
    t->full = !set_text(&t->line, line, strlen(line));
    t->at = t->line.len;
}

void edit_text_older(struct edit_text *t)
{
    const char *line = history_at(t->back + 1);
    if (!line)
        return;
    if (!t->back && !set_text(&t->draft, t->line.ptr, t->line.len))
        return;
    t->back++;
    show_history_line(t, line);
}

void edit_text_newer(struct edit_text *t)
{
    if (!t->back)
        return;
    t->back--;
    show_history_line(t, t->back ? history_at(t->back) : t->draft.ptr);
}
