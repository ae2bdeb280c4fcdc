/*
 * answer.h - the response of a model while it arrives
 *
 * All dialects share this code.  They read frames and report the contents
 * here; the events come out in a fixed order that every caller can rely on:
 *
 *      message_started
 *      text_delta, reasoning_delta, reasoning_completed, tool_call_started,
 *      tool_call_delta, ...
 *      reasoning_completed?  text_completed?  tool_call_completed*  usage?
 *      message_completed                     or, instead of it, error
 *
 * and nothing after the last one.  Stored values live as long as the attempt.
 * If memory runs out, the status of the sink is ALLM_ERR_NOMEM.
 */
#pragma once

#include "provider/calls.h"
#include "provider/explain.h"
#include "provider/think.h"

struct answer_note;
struct build;

/* The state of a dialect, or a part of it.  It begins zeroed. */
struct answer {
    const allm_call *call;
    allm_sink *sink;            /* of the current call of decode or finish */
    struct arena *life;
    struct buf text, thought, refusal;
    struct utf8_pieces text_pieces, thought_pieces, refusal_pieces;
    struct calls calls;
    allm_usage usage;           /* without extra and tool_usage */
    struct buf extra, tool_usage;   /* as JSON text; empty: none */
    bool has_usage;
    const char *id, *model;
    allm_finish finish;         /* NONE: no finish reason has arrived */
    const char *raw_finish;
    struct answer_note *notes;
    struct answer_note *elements, *last_element;
    const allm_json *state;     /* the message's provider_state; or NULL */
    bool opened, started, over;
    bool incomplete;            /* the provider reports missing content */
    bool has_text, has_reasoning;
};

/* Call it first in decode() and finish().  False: the response is over, so
 * there is nothing to do. */
bool answer_open(struct answer *a, const allm_call *call, allm_sink *sink);

/* Emit message_started.  The functions below call it, too. */
void answer_start(struct answer *a);

/* Emit a chunk as received; add a piece to the text or to the refusal. */
void answer_raw(struct answer *a, const allm_json *chunk);
void answer_text(struct answer *a, struct slice piece);
void answer_refusal(struct answer *a, struct slice piece);

/* Add a piece of reasoning; end a reasoning block, with its provider state or
 * NULL.  A block with a state is emitted even if it has no text.
 * answer_close() ends the last block. */
void answer_thought(struct answer *a, struct slice piece);
void answer_thought_end(struct answer *a, const allm_json *state);

/* Add a piece of text with reasoning in it; at the end of the text, add the
 * bytes that are held back. */
void answer_tagged(struct answer *a, struct think *t, struct slice piece);
void answer_tagged_end(struct answer *a, struct think *t);

/* Add a piece of a tool call; see calls.h. */
struct calls_slot *answer_call(struct answer *a,
                               const struct calls_piece *piece);

/* Set the id or the model of the response; the first non-empty one counts. */
void answer_id(struct answer *a, struct slice id);
void answer_model(struct answer *a, struct slice model);

/* Update the usage: each field that is set replaces the previous value. */
void answer_usage(struct answer *a, const allm_usage *usage);

/* Set the finish reason; `word` is the provider's own.  The last one counts. */
void answer_finish(struct answer *a, allm_finish finish, struct slice word);

/* The response is complete: if no finish reason has arrived, derive one, and
 * warn. */
void answer_settle(struct answer *a);

/*
 * Set a member of the response's metadata (the last value counts), or append
 * to a member that is a list.
 */
void answer_note(struct answer *a, const char *key, const allm_json *value);
void answer_gather(struct answer *a, const char *key, const allm_json *list);
void answer_gather_one(struct answer *a, const char *key,
                       const allm_json *value);
void answer_warn(struct answer *a, const char *name);

/* The finished value, usually in the arena of the events.  NULL: out of memory,
 * which the status of the sink reports. */
const allm_json *answer_build(struct answer *a, struct build *b);

/*
 * The provider state of a message, a call or a reasoning block: the members of
 * `fields` after "provider" and "model", from which history.h decides to which
 * model the state may be sent back.  It lives as long as the attempt; NULL:
 * none.
 */
const allm_json *answer_stamp(struct answer *a, const allm_json *fields);
void answer_state(struct answer *a, const allm_json *fields);

/* Is there no text, reasoning, refusal or call? */
bool answer_is_empty(const struct answer *a);

/* The protocol has ended: emit the remaining events.  This function and the
 * next ones return a status for decode() to return. */
allm_status answer_close(struct answer *a);

/* The response failed: emit an error event, and nothing after it. */
allm_status answer_fail(struct answer *a, const allm_error *error);
/* The same with the error that a document of the provider describes. */
allm_status answer_fail_as(struct answer *a, const allm_json *document,
                           explain_reader *read);
allm_status answer_malformed(struct answer *a, const char *message);

/* The body ended before the protocol did. */
allm_status answer_truncated(struct answer *a, const char *message);
/* The same; with `message` only if some content arrived. */
allm_status answer_ended_early(struct answer *a, const char *message);

/* Fail with a body that is not JSON: as truncated if it is the beginning of a
 * JSON document, else as malformed. */
allm_status answer_not_json(struct answer *a, struct slice body);

/* The beginning of such a body as JSON; NULL: it is not truncated. */
const allm_json *answer_part(struct answer *a, struct slice body);

/* The document of a frame that is named "error": `v`, the parsed frame, if it
 * is an object or an array; else {"error": its text}. */
const allm_json *answer_error_text(const struct answer *a, struct slice data,
                                   const allm_json *v);

/*
 * Store a value that is replaced while the response arrives, and read it.  It
 * is stored as text, which takes the memory of the largest version; as a value
 * it would take the memory of all versions.  False: out of memory.  The value
 * is in the arena; NULL: none, or out of memory.
 */
bool answer_keep(struct buf *text, const allm_json *value);
const allm_json *answer_kept(struct arena *a, const struct buf *text);
