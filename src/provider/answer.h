/*
 * answer.h - one answer of a model as it grows
 *
 * What all dialects share: they read frames and say here what they found; the
 * events come out in the order that everybody may rely on:
 *
 *      message_started
 *      text_delta, reasoning_delta, reasoning_completed, tool_call_started,
 *      tool_call_delta, ...
 *      reasoning_completed?  text_completed?  tool_call_completed*  usage?
 *      message_completed                     or, in place of it, error
 *
 * and nothing after the last.  What is kept lives as long as the attempt.
 * Lack of memory is told by the sink's status, once, at the end of a call.
 */
#ifndef PROVIDER_ANSWER_H
#define PROVIDER_ANSWER_H

#include "provider/calls.h"

struct answer_note;
struct build;

/* Zeroed at first: it may be the state of a dialect, or a part of it. */
struct answer {
    const allm_call *call;
    allm_sink *sink;            /* of this call of the dialect */
    struct arena *life;
    struct buf text, thought, refusal;
    struct utf8_pieces text_mend, thought_mend, refusal_mend;
    struct calls calls;
    allm_usage usage;           /* without its two values */
    struct buf extra, tool_usage;   /* these, as JSON texts; empty: none */
    bool has_usage;
    const char *id, *model;
    allm_finish finish;         /* NONE: no word came yet */
    const char *raw_finish;
    struct answer_note *notes;
    struct answer_note *elements, *last_element;
    const allm_json *state;     /* the message's provider_state; or NULL */
    bool opened, started, over;
    bool incomplete;            /* the provider says that something is missing */
    bool spoke, thought_once;   /* there was text, reasoning */
};

/* First thing in decode() and finish().  False: the answer is over, and
 * nothing is to be done. */
bool answer_open(struct answer *a, const allm_call *call, allm_sink *sink);

/* The first sign of a message; the functions below imply it. */
void answer_start(struct answer *a);

/* What the provider sent, as it came. */
void answer_raw(struct answer *a, const allm_json *chunk);
void answer_text(struct answer *a, struct slice piece);
void answer_refusal(struct answer *a, struct slice piece);

/* Reasoning; at the end of one thought its provider state (or NULL), which
 * makes one of a thought without text, too.  The last thought ends by itself. */
void answer_thought(struct answer *a, struct slice piece);
void answer_thought_end(struct answer *a, const allm_json *state);

/* A piece of a tool call; see calls.h. */
struct calls_slot *answer_call(struct answer *a,
                               const struct calls_piece *piece);

/* The first that is not empty counts. */
void answer_id(struct answer *a, struct slice id);
void answer_model(struct answer *a, struct slice model);

/* Field by field: what is set counts, the last one wins. */
void answer_usage(struct answer *a, const allm_usage *usage);

/* The last one counts; the word is the provider's own. */
void answer_finish(struct answer *a, allm_finish finish, struct slice word);

/*
 * A member of the response's metadata: the last value counts, or the elements
 * of lists come one behind the other.
 */
void answer_note(struct answer *a, const char *key, const allm_json *value);
void answer_gather(struct answer *a, const char *key, const allm_json *list);
void answer_gather_one(struct answer *a, const char *key,
                       const allm_json *value);
void answer_warn(struct answer *a, const char *name);

/* The value that was built, usually in the arena of the events; NULL: no
 * memory, which the sink's status reports. */
const allm_json *answer_build(struct answer *a, struct build *b);

/*
 * What must be sent back to the provider with the message, or with a call or a
 * thought: the members of `fields` behind "provider" and "model", by which
 * history.h knows who may have it.  In the attempt's memory; NULL: none.
 */
const allm_json *answer_stamp(struct answer *a, const allm_json *fields);
void answer_state(struct answer *a, const allm_json *fields);

/* Anything to show, or to act on? */
bool answer_is_empty(const struct answer *a);

/* The protocol's end.  All return what decode() may return. */
allm_status answer_close(struct answer *a);

/* The answer failed: an error event, and nothing after it. */
allm_status answer_fail(struct answer *a, const allm_error *error);
allm_status answer_malformed(struct answer *a, const char *sentence);

/* The body ended before the protocol did. */
allm_status answer_truncated(struct answer *a, const char *sentence);

/* A body that is no JSON after all fails: cut, or odd. */
allm_status answer_not_json(struct answer *a, struct slice body);

/* What is there of such a body if it was cut; NULL: it was not. */
const allm_json *answer_part(struct answer *a, struct slice body);

/* The document of a frame that says of itself to be an error: `v`, what it was
 * parsed to, if that is an object or a list; else {"error": its text}. */
const allm_json *answer_error_text(const struct answer *a, struct slice data,
                                   const allm_json *v);

/*
 * A value that is replaced while the answer grows.  As a text it takes the room
 * of the largest; as a value it would take that of all of them.  False: no
 * memory.  The value is in the arena; NULL: none, or no memory.
 */
bool answer_keep(struct buf *text, const allm_json *value);
const allm_json *answer_kept(struct arena *a, const struct buf *text);

#endif
