/* utf8_pieces.h - texts that come in pieces, made UTF-8 */
#ifndef PROVIDER_UTF8_PIECES_H
#define PROVIDER_UTF8_PIECES_H

#include "base/arena.h"
#include "base/utf8.h"

/*
 * A text that is cut into pieces by somebody who counts bytes or UTF-16 units:
 * a character that is cut at the end of a piece is held back until the next.
 * What cannot become UTF-8 is replaced by U+FFFD.  Zeroed at first.
 */
struct utf8_pieces {
    char held[4];
    size_t len;
};

/* What can be told now: the piece itself if it is well, else text in the
 * arena (ptr NULL: no memory). */
struct slice utf8_pieces_odd(struct utf8_pieces *m, struct arena *a,
                             struct slice piece);

static inline struct slice utf8_pieces_take(struct utf8_pieces *m,
                                            struct arena *a, struct slice piece)
{
    if (m->len || !utf8_valid(piece, NULL))
        return utf8_pieces_odd(m, a, piece);
    return piece.ptr ? piece : SLICE("");
}

/* At the end: U+FFFD for what is held, or nothing. */
struct slice utf8_pieces_end(struct utf8_pieces *m);

#endif
