/*
 * line.c - the text of the line editor, and its editing operations
 *
 * Invariants
 *   (1) at <= text.len.
 *   (2) `at` is never inside a character.
 */
#include "term/line.h"

#include "term/entity.h"
#include "term/glyph.h"

#include <string.h>

enum { MANY_LINES = 20 };

static const char *text_of(const struct line *l)
{
    return bytes_string(&l->text);
}

/* Remember the text before it changes. */
static void save_state(struct line *l, bool typing)
{
    bool same_word = typing && l->typing;
    l->typing = typing;
    if (same_word)
        return;
    if (l->undo_count == LINE_UNDO) {
        bytes_release(&l->undo[0].text);
        memmove(l->undo, l->undo + 1, (LINE_UNDO - 1) * sizeof *l->undo);
        l->undo_count--;
    }
    struct line_state *s = &l->undo[l->undo_count++];
    *s = (struct line_state){ .at = l->at };
    bytes_add(&s->text, text_of(l), l->text.len);
}

void line_undo(struct line *l)
{
    if (!l->undo_count)
        return;
    struct line_state *s = &l->undo[--l->undo_count];
    bytes_release(&l->text);
    l->text = s->text;
    l->at = s->at;
    l->typing = false;
}

void line_set(struct line *l, const char *text, size_t len)
{
    save_state(l, false);
    bytes_clear(&l->text);
    bytes_add(&l->text, text, len);
    l->at = len;
}

void line_reset(struct line *l)
{
    while (l->undo_count)
        bytes_release(&l->undo[--l->undo_count].text);
    while (l->fold_count)
        bytes_release(&l->folds[--l->fold_count]);
    bytes_clear(&l->text);
    l->at = 0;
    l->typing = false;
}

void line_release(struct line *l)
{
    line_reset(l);
    bytes_release(&l->text);
    bytes_release(&l->killed);
}

static void insert_text(struct line *l, const char *bytes, size_t len)
{
    bytes_splice(&l->text, l->at, 0, bytes, len);
    l->at += len;
}

void line_type(struct line *l, const char *bytes, size_t len)
{
    save_state(l, *bytes != ' ' && *bytes != '\n');
    insert_text(l, bytes, len);
}

size_t line_count(const char *text, size_t len)
{
    size_t n = 1;
    for (size_t i = 0; i + 1 < len; i++)
        n += text[i] == '\n';
    return n;
}

void line_paste(struct line *l, const char *bytes, size_t len)
{
    save_state(l, false);
    if (line_count(bytes, len) <= MANY_LINES || l->fold_count == LINE_FOLDS) {
        insert_text(l, bytes, len);
        return;
    }
    char mark[4];
    size_t n = entity_encode((uint32_t)(LINE_FOLD_POINT + l->fold_count), mark);
    bytes_add(&l->folds[l->fold_count++], bytes, len);
    insert_text(l, mark, n);
}

const struct bytes *line_fold(const struct line *l, const char *text,
                              size_t len)
{
    size_t at = 0;
    uint32_t c = len ? glyph_point(text, len, &at) : 0;
    return c >= LINE_FOLD_POINT && c < LINE_FOLD_POINT + l->fold_count
               ? &l->folds[c - LINE_FOLD_POINT]
               : NULL;
}

void line_expand(const struct line *l, struct bytes *out)
{
    for (size_t i = 0, end; i < l->text.len; i = end) {
        const struct bytes *fold;
        end = i;
        glyph_point(l->text.ptr, l->text.len, &end);
        fold = line_fold(l, l->text.ptr + i, end - i);
        if (fold)
            bytes_add(out, fold->ptr, fold->len);
        else
            bytes_add(out, l->text.ptr + i, end - i);
    }
}

void line_replace(struct line *l, size_t from, const char *bytes, size_t len)
{
    save_state(l, false);
    bytes_splice(&l->text, from, l->at - from, bytes, len);
    l->at = from + len;
}

/* Delete the bytes from..to, and move the cursor there. */
static void delete_range(struct line *l, size_t from, size_t to)
{
    if (from == to)
        return;
    save_state(l, false);
    bytes_splice(&l->text, from, to - from, NULL, 0);
    l->at = from;
}

static void kill_range(struct line *l, size_t from, size_t to)
{
    if (from == to)
        return;
    bytes_clear(&l->killed);
    bytes_add(&l->killed, l->text.ptr + from, to - from);
    delete_range(l, from, to);
}

static bool is_blank(const struct line *l, size_t at)
{
    char c = l->text.ptr[at];
    return c == ' ' || c == '\n' || c == '\t';
}

static size_t word_begin(const struct line *l)
{
    size_t at = l->at;
    while (at && is_blank(l, at - 1))
        at--;
    while (at && !is_blank(l, at - 1))
        at--;
    return at;
}

static size_t word_end(const struct line *l)
{
    size_t at = l->at;
    while (at < l->text.len && is_blank(l, at))
        at++;
    while (at < l->text.len && !is_blank(l, at))
        at++;
    return at;
}

static size_t row_begin(const struct line *l, size_t at)
{
    while (at && l->text.ptr[at - 1] != '\n')
        at--;
    return at;
}

static size_t row_end(const struct line *l, size_t at)
{
    while (at < l->text.len && l->text.ptr[at] != '\n')
        at++;
    return at;
}

/* Go to a line, as far to the right as the cursor is now. */
static void go_to_row(struct line *l, size_t begin)
{
    size_t from = row_begin(l, l->at), end = row_end(l, begin);
    size_t columns = glyph_width(l->text.ptr + from, l->at - from), width = 0;
    l->at = begin;
    while (l->at < end && width < columns) {
        size_t next = glyph_next(l->text.ptr, end, l->at);
        width += glyph_width(l->text.ptr + l->at, next - l->at);
        l->at = next;
    }
}

bool line_up(struct line *l)
{
    size_t begin = row_begin(l, l->at);
    if (begin)
        go_to_row(l, row_begin(l, begin - 1));
    return begin > 0;
}

bool line_down(struct line *l)
{
    size_t end = row_end(l, l->at);
    if (end == l->text.len)
        return false;
    go_to_row(l, end + 1);
    return true;
}

void line_home(struct line *l)
{
    l->at = row_begin(l, l->at);
}

void line_end(struct line *l)
{
    l->at = row_end(l, l->at);
}

void line_left(struct line *l)
{
    if (l->at)
        l->at = glyph_before(l->text.ptr, l->at);
}

void line_right(struct line *l)
{
    if (l->at < l->text.len)
        l->at = glyph_next(l->text.ptr, l->text.len, l->at);
}

void line_word_left(struct line *l)
{
    l->at = word_begin(l);
}

void line_word_right(struct line *l)
{
    l->at = word_end(l);
}

void line_backspace(struct line *l)
{
    if (l->at)
        delete_range(l, glyph_before(l->text.ptr, l->at), l->at);
}

void line_delete(struct line *l)
{
    if (l->at < l->text.len)
        delete_range(l, l->at, glyph_next(l->text.ptr, l->text.len, l->at));
}

void line_kill_begin(struct line *l)
{
    kill_range(l, row_begin(l, l->at), l->at);
}

void line_kill_end(struct line *l)
{
    size_t end = row_end(l, l->at);
    if (end == l->at && end < l->text.len)
        end++; /* the line end itself */
    kill_range(l, l->at, end);
}

void line_kill_word(struct line *l)
{
    kill_range(l, word_begin(l), l->at);
}

void line_kill_next(struct line *l)
{
    kill_range(l, l->at, word_end(l));
}

void line_yank(struct line *l)
{
    if (!l->killed.len)
        return;
    save_state(l, false);
    insert_text(l, l->killed.ptr, l->killed.len);
}
