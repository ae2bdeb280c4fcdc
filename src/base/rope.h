/*
 * rope.h - a text in pieces: some are in a buffer, some are borrowed
 *
 *      text    [{"messages":[  ,  ]}]
 *      loans                 ^  ^            (before these bytes)
 *                            A  B
 *      all     {"messages":[A,B]}
 *
 * Whoever makes a rope keeps the borrowed bytes alive and unchanged while it is
 * read.
 */
#pragma once

#include "base/buf.h"

struct rope_loan {
    size_t at;                  /* before this byte of the text */
    struct slice bytes;
};

/* All loans of a text that grows in a buffer.  It begins zeroed. */
struct rope_loans {
    struct rope_loan *loan;
    size_t count, cap;
    size_t len;                 /* of the borrowed bytes */
};

/* Append bytes without copying them: the buffer's limit counts them, too.  If
 * memory or the limit is exhausted, the buffer is broken. */
void rope_borrow(struct rope_loans *l, struct buf *text, struct slice bytes);

/* A finished text with its loans.  One without loans is a slice. */
struct rope {
    struct slice text;
    const struct rope_loan *loan;
    size_t count;
    size_t len;                 /* of all pieces */
};

struct rope rope_of(const struct rope_loans *l, const struct buf *text);
struct rope rope_of_slice(struct slice text);

/* Reads a rope from its start.  The other members begin zeroed. */
struct rope_reader {
    struct rope rope;
    size_t done;                /* bytes read: */
    size_t in_text;             /* ...of the text */
    size_t loan, in_loan;       /* ...of this loan; those before are read */
};

/* Copy the next bytes, at most n.  Returns how many; 0: that was all. */
size_t rope_read(struct rope_reader *r, char *to, size_t n);

/* Continue at this byte; false: the rope is shorter. */
bool rope_seek(struct rope_reader *r, size_t offset);

static inline size_t rope_left(const struct rope_reader *r)
{
    return r->rope.len - r->done;
}
