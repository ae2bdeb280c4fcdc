/*
 * calls.h - assemble tool calls from pieces
 *
 * Providers send a call in pieces and identify it by an index, by an id, by
 * both or by neither, and not always correctly.  This module finds the call of
 * each piece and emits the events of the call: started once its name is known,
 * a delta for each piece of its arguments, completed at the end.
 */
#pragma once

#include "base/buf.h"
#include "provider/sink.h"
#include "provider/utf8_pieces.h"

enum { CALLS_MOST = 128 };      /* per response: more is a malfunction */

/* Matches brackets, to see whether the text so far is a complete JSON object
 * or array. */
struct calls_scan {
    size_t depth;
    bool in_text, escaped, closed;
    bool invalid;               /* closed, but not valid JSON */
};

struct calls_slot {
    struct calls_slot *next;
    const char *id;             /* ours, unique; NULL: not yet */
    struct slice wire_id;       /* as received; ptr NULL: none received */
    const char *name;           /* NULL: not yet */
    int64_t index;
    uint64_t frame;             /* the last one with a piece of it */
    struct buf raw;             /* the arguments so far */
    size_t emitted;             /* bytes of `raw` emitted in deltas */
    struct utf8_pieces pieces;
    struct calls_scan scan;
    const allm_json *state;     /* the provider's own; or NULL */
    allm_tool_call *closed;     /* the completed call; NULL: not yet */
    bool has_index, started, custom;
};

struct calls {
    struct arena *life;
    struct calls_slot *first, **end, *last;
    size_t count;               /* of started calls */
    size_t made;                /* of all slots */
    uint64_t nonce;             /* of the stream, for our own ids */
    uint64_t frame;             /* the dialect counts its frames here */
};

/* A piece of a call; members that were not received are zero. */
struct calls_piece {
    bool has_index;
    int64_t index;
    struct slice id, name;
    struct slice text;          /* of the arguments */
    const allm_json *object;    /* or the complete arguments as a value */
    const allm_json *state;     /* to be sent back with the call */
    bool custom;                /* the text is plain input, not JSON */
};

/* Calls are stored in `life`, which lives as long as the response. */
void calls_init(struct calls *c, struct arena *life, const allm_call *call);

/* Add a piece to its call.  Returns the slot, or NULL if there is none.  If
 * memory runs out, the sink's status is set; a call beyond CALLS_MOST sets the
 * sink's failure. */
struct calls_slot *calls_add(struct calls *c, allm_sink *sink,
                             const struct calls_piece *piece);

/* For dialects that know the call of a piece. */
struct calls_slot *calls_open(struct calls *c, struct slice id,
                              struct slice name, allm_sink *sink);
void calls_append(struct calls *c, struct calls_slot *slot, struct slice text,
                  allm_sink *sink);

/* Replace the arguments received so far with the complete arguments, without a
 * delta. */
void calls_replace(struct calls *c, struct calls_slot *slot, struct slice text,
                   allm_sink *sink);

/* The provider reports that this call is complete: emit it at once, if it has a
 * name.  Pieces that arrive later are ignored. */
void calls_close(struct calls *c, struct calls_slot *slot, allm_sink *sink);

/* There are no more pieces: emit what was held back, and start calls whose name
 * or id never arrived. */
void calls_flush(struct calls *c, allm_sink *sink);

/* Then complete every call that is not closed, in the order of their first
 * pieces.  The list has c->count calls, for the message; NULL: out of
 * memory. */
const allm_tool_call *const *calls_end(struct calls *c, allm_sink *sink);

/* Do the arguments of a call end in the middle of their JSON? */
bool calls_cut(const struct calls *c);
