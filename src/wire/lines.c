/*
 * lines.c - split a stream of bytes into lines
 *
 *      in --lines_next--> line                       complete in the input
 *      in --lines_keep--> piece --lines_next--> line     split by the network
 *
 * Invariants
 *   (1) piece contains no line end.
 *   (2) Bytes are copied only if their line was split.
 *   (3) A CR ends its line at once; whether an LF follows is known when the
 *       next byte arrives, however late (S2 of the contract).
 *   (4) No byte is searched twice for the same end: the positions of the next
 *       LF and CR are recorded, and valid until they are passed.
 */
#include "wire/lines.h"

#define BOM SLICE("\xEF\xBB\xBF")

void lines_init(struct lines *l, struct arena *arena, enum lines_kind kind,
                size_t limit)
{
    *l = (struct lines){ .kind = kind };
    buf_init(&l->piece, arena, limit ? limit : WIRE_LIMIT);
}

/* Nothing is known about an input that is not the rest of the last one. */
static void look_at(struct lines *l, struct slice in)
{
    if (in.len == l->left)
        return;
    l->lf = SIZE_MAX;
    l->cr = l->kind == LINES_ANY ? SIZE_MAX : 0;
}

/*
 * The next position of a byte, counted from the end of the input, which does
 * not move; 0: it does not occur.  Searched only if it was passed: keeps (4).
 */
static size_t find_byte(size_t from_end, char byte, struct slice in)
{
    if (from_end <= in.len)
        return from_end;
    if (in.len && *in.ptr == byte)
        return in.len;          /* as in the blank line of every event */
    const char *p = in.len ? memchr(in.ptr, byte, in.len) : NULL;
    return p ? (size_t)(in.ptr + in.len - p) : 0;
}

/* The offset of the next line's end; in.len if there is none. */
static size_t find_end(struct lines *l, struct slice in)
{
    l->lf = find_byte(l->lf, '\n', in);
    l->cr = find_byte(l->cr, '\r', in);
    return in.len - (l->lf > l->cr ? l->lf : l->cr);
}

/* Skip the LF of a CRLF whose CR has ended the previous line: keeps (3). */
static void skip_lf(struct lines *l, struct slice *in)
{
    if (!l->after_cr || in->len == 0)
        return;
    l->after_cr = false;
    if (*in->ptr == '\n')
        *in = slice_skip(*in, 1);
}

static enum wire_result lines_fault(const struct lines *l)
{
    return l->piece.over ? WIRE_TOO_LONG : WIRE_NOMEM;
}

/* Append to the piece, or begin a new one. */
static bool add_piece(struct lines *l, struct slice bytes)
{
    if (l->borrowed)
        buf_clear(&l->piece);
    l->borrowed = false;
    buf_add(&l->piece, bytes);
    return !l->piece.broken;
}

/* Join the kept piece and the rest of the line, if it was split: keeps (2). */
static enum wire_result join_line(struct lines *l, struct slice *line)
{
    if (lines_empty(l)) {
        if (line->len <= l->piece.limit)
            return WIRE_FRAME;
        return WIRE_TOO_LONG;
    }
    if (!add_piece(l, *line))
        return lines_fault(l);
    *line = buf_slice(&l->piece);
    l->borrowed = true;
    return WIRE_FRAME;
}

enum wire_result lines_next(struct lines *l, struct slice *in,
                            struct slice *line)
{
    look_at(l, *in);
    skip_lf(l, in);
    size_t n = find_end(l, *in);
    l->left = n;
    if (n == in->len)
        return WIRE_MORE;
    *line = (struct slice){ in->ptr, n };
    l->after_cr = in->ptr[n] == '\r';
    *in = slice_skip(*in, n + 1);
    l->left = in->len;

    enum wire_result result = join_line(l, line);
    if (l->started)
        return result;
    l->started = true;
    if (result == WIRE_FRAME && slice_starts(*line, BOM))
        *line = slice_skip(*line, BOM.len);
    return result;
}

enum wire_result lines_keep(struct lines *l, struct slice *in)
{
    if (in->len && !add_piece(l, *in))
        return lines_fault(l);
    *in = slice_skip(*in, in->len);
    l->left = 0;
    return WIRE_MORE;
}

void lines_forget(struct lines *l)
{
    buf_init(&l->piece, l->piece.arena, l->piece.limit);
    l->borrowed = false;
}
