/*
 * calls.h - tool calls put together from pieces
 *
 * Providers cut a call into pieces and name it by an index, by an id, by both
 * or by neither, and not always truly.  Here the pieces find their call, and
 * the events of it are put: started once its name is known, a delta for each
 * piece of its arguments, completed at the end.
 */
#ifndef PROVIDER_CALLS_H
#define PROVIDER_CALLS_H

#include "base/buf.h"
#include "provider/sink.h"
#include "provider/utf8_pieces.h"

enum { CALLS_MOST = 128 };      /* in one answer: more is a model gone astray */

/* Is the text read so far a whole JSON object or array?  By its brackets. */
struct calls_scan {
    size_t depth;
    bool in_text, escaped, closed;
    bool odd;                   /* closed, and yet no JSON */
};

struct calls_slot {
    struct calls_slot *next;
    const char *id;             /* ours, unlike all others; NULL: not yet */
    struct slice wire_id;       /* as it came; ptr NULL: none came */
    const char *name;           /* NULL: not yet */
    int64_t index;
    uint64_t frame;             /* in which it was last spoken of */
    struct buf raw;             /* the arguments so far */
    size_t told;                /* how much of it the deltas have told */
    struct utf8_pieces mend;
    struct calls_scan scan;
    const allm_json *state;     /* the provider's own; or NULL */
    allm_tool_call *closed;     /* as it was told as a whole; NULL: not yet */
    bool has_index, started, custom;
};

struct calls {
    struct arena *life;
    struct calls_slot *first, **end, *last;
    size_t count;               /* of those that were started */
    size_t made;                /* of all, for ids of ours */
    uint64_t nonce;             /* of the stream, for ids of ours */
    uint64_t frame;             /* the dialect counts its frames here */
};

/* A piece of a call; what did not come is zero. */
struct calls_piece {
    bool has_index;
    int64_t index;
    struct slice id, name;
    struct slice text;          /* of the arguments */
    const allm_json *object;    /* the arguments as a value, at once */
    const allm_json *state;     /* to be sent back with the call */
    bool custom;                /* the text is no JSON: input as it is */
};

/* What lives as long as the answer is in `life`. */
void calls_init(struct calls *c, struct arena *life, const allm_call *call);

/* Lack of memory is told by the sink's status, a call beyond CALLS_MOST by its
 * failure.  The slot; or NULL where there is none. */
struct calls_slot *calls_add(struct calls *c, allm_sink *sink,
                             const struct calls_piece *given);

/* For dialects that know where a piece belongs. */
struct calls_slot *calls_open(struct calls *c, struct slice id,
                              struct slice name, allm_sink *sink);
void calls_append(struct calls *c, struct calls_slot *slot, struct slice text,
                  allm_sink *sink);

/* All of the arguments, in the place of the pieces that came: no delta tells
 * them. */
void calls_replace(struct calls *c, struct calls_slot *slot, struct slice text,
                   allm_sink *sink);

/* The provider says that this call is whole: so it is told at once, if it can
 * be named.  Should more come nevertheless, it is told again. */
void calls_close(struct calls *c, struct calls_slot *slot, allm_sink *sink);

/* There are no more pieces: tell what was held back, and begin calls whose
 * name or id never came. */
void calls_flush(struct calls *c, allm_sink *sink);

/* Then tell every call that is not closed as a whole, in the order of their
 * first pieces.  The
 * list has c->count calls, for the message; NULL: no memory. */
const allm_tool_call *const *calls_end(struct calls *c, allm_sink *sink);

/* Did the text of a call end in the middle of its JSON? */
bool calls_cut(const struct calls *c);

#endif
