/*
 * rope.c - a text in pieces: some are in a buffer, some are borrowed
 *
 * Invariants
 *   (1) The loans are in the order of their places in the text.
 *   (2) A reader is in a loan only if it has read the text before it.
 */
#include "base/rope.h"

enum { FIRST_LOANS = 32 };

static bool has_room(struct rope_loans *l, struct arena *a)
{
    if (l->count < l->cap)
        return true;
    size_t cap = l->cap ? l->cap * 2 : FIRST_LOANS;
    struct rope_loan *more = arena_resize(a, l->loan, l->cap * sizeof *more,
                                          cap * sizeof *more);
    if (!more)
        return false;
    l->loan = more;
    l->cap = cap;
    return true;
}

void rope_borrow(struct rope_loans *l, struct buf *text, struct slice bytes)
{
    if (text->broken)
        return;
    if (bytes.len > text->limit - text->len) {
        text->broken = text->over = true;
        return;
    }
    if (!has_room(l, text->arena)) {
        text->broken = true;
        return;
    }
    l->loan[l->count++] = (struct rope_loan){ text->len, bytes };
    l->len += bytes.len;
    text->limit -= bytes.len;
}

struct rope rope_of(const struct rope_loans *l, const struct buf *text)
{
    return (struct rope){ buf_slice(text), l->loan, l->count,
                          text->len + l->len };
}

struct rope rope_of_slice(struct slice text)
{
    return (struct rope){ text, NULL, 0, text.len };
}

/* Take at most n bytes of what follows the first *from bytes of a piece. */
static struct slice take_part(struct slice piece, size_t *from, size_t n)
{
    struct slice part = slice_skip(piece, *from);
    part.len = part.len < n ? part.len : n;
    *from += part.len;
    return part;
}

/* The next piece, at most n bytes of it; empty only if n is 0 or at the end. */
static struct slice take_piece(struct rope_reader *r, size_t n)
{
    const struct rope *rope = &r->rope;
    struct slice text = rope->text;
    while (r->loan < rope->count) {
        const struct rope_loan *loan = &rope->loan[r->loan];
        text.len = loan->at;
        if (r->in_text < text.len)
            return take_part(text, &r->in_text, n);
        if (r->in_loan < loan->bytes.len)
            return take_part(loan->bytes, &r->in_loan, n);
        r->loan++;
        r->in_loan = 0;
    }
    return take_part(rope->text, &r->in_text, n);
}

size_t rope_read(struct rope_reader *r, char *to, size_t n)
{
    size_t left = n;
    while (left) {
        struct slice piece = take_piece(r, left);
        if (!piece.len)
            break;
        to = slice_put(to, piece);
        left -= piece.len;
    }
    r->done += n - left;
    return n - left;
}

bool rope_seek(struct rope_reader *r, size_t offset)
{
    struct rope_reader fresh = { .rope = r->rope, .done = offset };
    if (offset > r->rope.len)
        return false;
    for (size_t left = offset; left;)
        left -= take_piece(&fresh, left).len;
    *r = fresh;
    return true;
}
