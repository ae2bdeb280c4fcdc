/* lines.h - split a stream of bytes into lines */
#pragma once

#include "base/buf.h"

/* The result of every parser here.  The last two are final: the stream is
 * lost. */
enum wire_result {
    WIRE_MORE,                  /* all of the input is used; call with more */
    WIRE_FRAME,                 /* a frame is borrowed until the next call */
    WIRE_END,                   /* nothing is left, and no input will follow */
    WIRE_TOO_LONG,              /* a limit is exceeded */
    WIRE_NOMEM
};

/* The limit of a line and of an event, unless the caller gives another one:
 * images and signatures are sent in one line. */
enum { WIRE_LIMIT = 16 * 1024 * 1024 };

enum lines_kind {
    LINES_LF,                   /* only LF ends a line */
    LINES_ANY                   /* LF, CR and CRLF do */
};

/*
 * The memory belongs to the owner's arena.  A byte order mark at the very
 * start is not part of the first line, but counts towards its limit.
 */
struct lines {
    struct buf piece;           /* of a split line, or of a borrowed one */
    size_t left;                /* of the input, after the last line */
    size_t lf, cr;              /* the next ones, from the input's end */
    enum lines_kind kind;
    bool borrowed;              /* by the caller: the next call reuses piece */
    bool after_cr;              /* an LF that follows belongs to that CR */
    bool started;
};

/* A limit of 0 means WIRE_LIMIT. */
void lines_init(struct lines *l, struct arena *arena, enum lines_kind kind,
                size_t limit);

/*
 * Remove the next complete line, without its end, from *in.  It is in the
 * input or, if it was split, in our memory; either way until lines_keep().
 * WIRE_MORE: the line is not complete, and *in is untouched; call lines_keep()
 * then.
 */
enum wire_result lines_next(struct lines *l, struct slice *in,
                            struct slice *line);

/*
 * Does a line begin here of which no byte is kept, and is every line end from
 * here on known to be an LF? Then a caller may split lines itself instead of
 * calling lines_next(), and reports with lines_passed() what it removed.
 */
static inline bool lines_plain(const struct lines *l, struct slice in)
{
    return in.len == l->left && !l->cr && !l->after_cr && l->started &&
           (l->borrowed || !l->piece.len);
}

static inline void lines_passed(struct lines *l, struct slice rest)
{
    l->left = rest.len;
}

/* Right after a line: is the next one blank and complete?  Then it is removed.
 * A fast path, as a blank line follows every event. */
static inline bool lines_blank(struct lines *l, struct slice *in)
{
    if (l->after_cr || !in->len || *in->ptr != '\n')
        return false;
    *in = slice_skip(*in, 1);
    l->left = in->len;
    return true;
}

/* Keep the rest of the input until more arrives.  WIRE_MORE, or a failure. */
enum wire_result lines_keep(struct lines *l, struct slice *in);

/* True if no bytes of an unfinished line are kept. */
static inline bool lines_empty(const struct lines *l)
{
    return l->borrowed || l->piece.len == 0;
}

/* The arena was reset or released: drop the memory, keep the state. */
void lines_forget(struct lines *l);
