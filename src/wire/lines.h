/* lines.h - cut a stream of bytes into lines */
#ifndef WIRE_LINES_H
#define WIRE_LINES_H

#include "base/buf.h"

/* What every cutter here answers.  The last two stay: the stream is lost. */
enum wire_result {
    WIRE_MORE,                  /* all of the input is used; bring more */
    WIRE_FRAME,                 /* one is lent, until the next call */
    WIRE_END,                   /* nothing is left, and nothing will come */
    WIRE_TOO_LONG,              /* a limit is broken */
    WIRE_NOMEM
};

/* For a line and for an event, where the caller names no other limit: images
 * and signatures travel in one line. */
enum { WIRE_LIMIT = 16 * 1024 * 1024 };

enum lines_kind {
    LINES_LF,                   /* only LF ends a line */
    LINES_ANY                   /* LF, CR and CRLF do */
};

/*
 * Memory is the owner's arena.  A byte order mark at the very start is not
 * part of the first line, but counts for its limit.
 */
struct lines {
    struct buf piece;           /* of a line that was cut, or that is lent */
    size_t left;                /* of the input, after the last cut */
    size_t lf, cr;              /* the next ones, from the input's end */
    enum lines_kind kind;
    bool lent;                  /* piece was given out; it may be overwritten */
    bool after_cr;              /* an LF that comes now belongs to that CR */
    bool started;
};

/* A limit of 0 is WIRE_LIMIT. */
void lines_init(struct lines *l, struct arena *arena, enum lines_kind kind,
                size_t limit);

/*
 * Cut the next whole line, without its end, off *in.  It lies in the input, or
 * in our memory if it was cut; both until lines_keep().  WIRE_MORE: its end
 * is not there, and *in is untouched; call lines_keep() then.
 */
enum wire_result lines_next(struct lines *l, struct slice *in,
                            struct slice *line);

/*
 * Does a line begin here of which no byte is kept, and is every line end from
 * here on known to be an LF?  Then who finds one need not ask lines_next(), but
 * tells by lines_passed() what was cut off.
 */
static inline bool lines_plain(const struct lines *l, struct slice in)
{
    return in.len == l->left && !l->cr && !l->after_cr && l->started &&
           (l->lent || !l->piece.len);
}

static inline void lines_passed(struct lines *l, struct slice rest)
{
    l->left = rest.len;
}

/* Right after a line: is the next one blank, and there?  Then it is cut off,
 * the short way, for a blank line stands behind every event. */
static inline bool lines_blank(struct lines *l, struct slice *in)
{
    if (l->after_cr || !in->len || *in->ptr != '\n')
        return false;
    *in = slice_skip(*in, 1);
    l->left = in->len;
    return true;
}

/* Keep what is left of the input until more comes.  WIRE_MORE, or why not. */
enum wire_result lines_keep(struct lines *l, struct slice *in);

/* True if no bytes of an unfinished line are kept. */
static inline bool lines_empty(const struct lines *l)
{
    return l->lent || l->piece.len == 0;
}

/* The arena was reset or released: begin anew with memory, not with state. */
void lines_forget(struct lines *l);

#endif
