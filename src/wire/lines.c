/*
 * lines.c - cut a stream of bytes into lines
 *
 *      in --lines_next--> line                       whole in the input
 *      in --lines_keep--> piece --lines_next--> line     cut by the network
 *
 * Invariants
 *   (1) piece has no line end in it, and no byte is searched twice.
 *   (2) Bytes are copied only if their line was cut.
 *   (3) A CR ends its line at once; whether an LF follows is seen when the
 *       next byte comes, however late (S2 of the contract).
 *   (4) Work per byte is bounded: see find_any_end().
 */
#include "wire/lines.h"

#define BOM SLICE("\xEF\xBB\xBF")

void lines_init(struct lines *l, struct arena *arena, enum lines_kind kind,
                size_t limit)
{
    *l = (struct lines){ .kind = kind };
    buf_init(&l->piece, arena, limit ? limit : WIRE_LIMIT);
}

/*
 * The offset of the first LF or CR, or len.  Both are searched in windows that
 * grow, for a text without LF must not be searched to its end for every line
 * that a CR ends: keeps (4).
 */
static size_t find_any_end(struct slice in)
{
    enum { FIRST = 512 };       /* most lines: one search of each */
    size_t at = 0;
    for (size_t window = FIRST; at < in.len; window *= 2) {
        const char *from = in.ptr + at;
        size_t n = in.len - at < window ? in.len - at : window;
        const char *lf = memchr(from, '\n', n);
        const char *cr = memchr(from, '\r', lf ? (size_t)(lf - from) : n);
        if (cr || lf)
            return (size_t)((cr ? cr : lf) - in.ptr);
        at += n;
    }
    return in.len;
}

static size_t find_end(const struct lines *l, struct slice in)
{
    if (l->kind == LINES_ANY)
        return find_any_end(in);
    const char *lf = in.len ? memchr(in.ptr, '\n', in.len) : NULL;
    return lf ? (size_t)(lf - in.ptr) : in.len;
}

/* The LF of a CRLF, the CR of which has ended the line before: keeps (3). */
static void skip_lf(struct lines *l, struct slice *in)
{
    if (!l->after_cr || in->len == 0)
        return;
    l->after_cr = false;
    if (*in->ptr == '\n')
        *in = slice_skip(*in, 1);
}

static enum wire_result fault(const struct lines *l)
{
    return l->piece.over ? WIRE_TOO_LONG : WIRE_NOMEM;
}

/* Append to the piece, or begin a new one. */
static bool add_piece(struct lines *l, struct slice bytes)
{
    if (l->lent)
        buf_clear(&l->piece);
    l->lent = false;
    buf_add(&l->piece, bytes);
    return !l->piece.broken;
}

/* Join what was kept and the rest of the line, if it was cut: keeps (2). */
static enum wire_result join(struct lines *l, struct slice *line)
{
    if (lines_empty(l)) {
        if (line->len <= l->piece.limit)
            return WIRE_FRAME;
        return WIRE_TOO_LONG;
    }
    if (!add_piece(l, *line))
        return fault(l);
    *line = buf_slice(&l->piece);
    l->lent = true;
    return WIRE_FRAME;
}

enum wire_result lines_next(struct lines *l, struct slice *in,
                            struct slice *line)
{
    skip_lf(l, in);
    size_t n = find_end(l, *in);
    if (n == in->len)
        return WIRE_MORE;
    *line = (struct slice){ in->ptr, n };
    l->after_cr = in->ptr[n] == '\r';
    *in = slice_skip(*in, n + 1);

    enum wire_result result = join(l, line);
    if (result == WIRE_FRAME && !l->started && slice_starts(*line, BOM))
        *line = slice_skip(*line, BOM.len);
    l->started = true;
    return result;
}

enum wire_result lines_keep(struct lines *l, struct slice *in)
{
    if (in->len && !add_piece(l, *in))
        return fault(l);
    *in = slice_skip(*in, in->len);
    return WIRE_MORE;
}

bool lines_empty(const struct lines *l)
{
    return l->lent || l->piece.len == 0;
}

void lines_forget(struct lines *l)
{
    buf_init(&l->piece, l->piece.arena, l->piece.limit);
    l->lent = false;
}
