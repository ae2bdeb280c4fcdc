/*
 * edit_text.c - the text of a line that is edited, and how it changes
 *
 * Invariants
 *   (1) at <= len <= EDIT_LONGEST, and bytes[len] is NUL.
 *   (2) `at` never stands inside a character.
 */
#include "cli/edit_text.h"

#include "cli/glyph.h"
#include "cli/history.h"

#include <string.h>

void edit_text_reset(struct edit_text *t)
{
    t->len = t->at = t->back = 0;
    t->pasting = false;
    t->bytes[0] = 0;
}

void edit_text_insert(struct edit_text *t, const char *bytes, size_t len)
{
    if (len > EDIT_LONGEST - t->len)
        return;
    memmove(t->bytes + t->at + len, t->bytes + t->at, t->len - t->at + 1);
    memcpy(t->bytes + t->at, bytes, len);
    t->at += len;
    t->len += len;
}

/* Take away from..to; the cursor stands there then. */
static void cut(struct edit_text *t, size_t from, size_t to)
{
    memmove(t->bytes + from, t->bytes + to, t->len - to + 1);
    t->len -= to - from;
    t->at = from;
}

/* ------------------------------------------------------------------- moving --- */

static bool is_blank(const struct edit_text *t, size_t at)
{
    return t->bytes[at] == ' ' || t->bytes[at] == '\n' || t->bytes[at] == '\t';
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
    while (at < t->len && is_blank(t, at))
        at++;
    while (at < t->len && !is_blank(t, at))
        at++;
    return at;
}

void edit_text_home(struct edit_text *t)
{
    t->at = 0;
}

void edit_text_end(struct edit_text *t)
{
    t->at = t->len;
}

void edit_text_left(struct edit_text *t)
{
    t->at = glyph_before(t->bytes, t->at);
}

void edit_text_right(struct edit_text *t)
{
    t->at = glyph_next(t->bytes, t->len, t->at);
}

void edit_text_word_left(struct edit_text *t)
{
    t->at = word_begin(t);
}

void edit_text_word_right(struct edit_text *t)
{
    t->at = word_end(t);
}

/* -------------------------------------------------------------- taking away --- */

void edit_text_backspace(struct edit_text *t)
{
    cut(t, glyph_before(t->bytes, t->at), t->at);
}

void edit_text_delete(struct edit_text *t)
{
    cut(t, t->at, glyph_next(t->bytes, t->len, t->at));
}

void edit_text_kill_begin(struct edit_text *t)
{
    cut(t, 0, t->at);
}

void edit_text_kill_end(struct edit_text *t)
{
    cut(t, t->at, t->len);
}

void edit_text_kill_word(struct edit_text *t)
{
    cut(t, word_begin(t), t->at);
}

void edit_text_kill_next(struct edit_text *t)
{
    cut(t, t->at, word_end(t));
}

/* ------------------------------------------------------------------ history --- */

static void show(struct edit_text *t, const char *line)
{
    t->len = strlen(line);
    memcpy(t->bytes, line, t->len + 1);
    t->at = t->len;
}

void edit_text_older(struct edit_text *t)
{
    const char *line = history_at(t->back + 1);
    if (!line)
        return;
    if (!t->back)
        memcpy(t->draft, t->bytes, t->len + 1);
    t->back++;
    show(t, line);
}

void edit_text_newer(struct edit_text *t)
{
    if (!t->back)
        return;
    t->back--;
    show(t, t->back ? history_at(t->back) : t->draft);
}
