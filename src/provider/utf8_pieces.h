/* utf8_pieces.h - make a text that arrives in pieces valid UTF-8 */
#pragma once

#include "base/arena.h"
#include "base/utf8.h"

/*
 * A text whose pieces may be split inside a character, between bytes or UTF-16
 * units: an incomplete character at the end of a piece is held back until the
 * next piece.  Invalid bytes are replaced by U+FFFD.  It begins zeroed.
 */
struct utf8_pieces {
    char held[4];
    size_t len;
};

/* The valid text up to the end of the piece: the piece itself if it is valid,
 * else a text in the arena (ptr NULL: out of memory). */
struct slice utf8_pieces_repair(struct utf8_pieces *m, struct arena *a,
                                struct slice piece);

static inline struct slice utf8_pieces_take(struct utf8_pieces *m,
                                            struct arena *a, struct slice piece)
{
    if (m->len || !utf8_valid(piece, NULL))
        return utf8_pieces_repair(m, a, piece);
    return piece.ptr ? piece : SLICE("");
}

/* At the end: U+FFFD if bytes are held back, else empty. */
struct slice utf8_pieces_end(struct utf8_pieces *m);
