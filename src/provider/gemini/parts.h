/*
 * parts.h - read the parts of a response, and keep those to send back
 *
 * A frame contains parts: text, thoughts, calls and unknown ones.  Signatures
 * and unknown parts are kept, together with the order of all parts, because
 * they must be sent back in the same position.
 */
#pragma once

#include "provider/answer.h"
#include "provider/gemini/args.h"

struct gemini_part;

struct gemini_parts {           /* initially zero */
    struct answer *answer;      /* receives all events */
    struct gemini_part *first, *last;
    struct calls_slot *open;    /* a call with incomplete arguments */
    struct gemini_args args;    /* of the open call */
};

void gemini_parts_read(struct gemini_parts *all, const allm_json *part);

/* The response has ended. */
void gemini_parts_end(struct gemini_parts *all);

/*
 * The state to send back with the message: {"parts": [...]}, in the memory of
 * events.  NULL: text and calls are enough.
 *
 *      {"bytes": n, "thoughtSignature"?}   the next n bytes of the text
 *      {"call": true}                      the next call
 *      {"part": {...}}                     sent unchanged
 *
 * A call has its own state: {"thoughtSignature"?, "id"?}.
 */
const allm_json *gemini_parts_state(const struct gemini_parts *all);
