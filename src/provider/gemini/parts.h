/*
 * parts.h - the parts of an answer, and what goes back of them
 *
 * A frame holds parts: text, thoughts, calls and what we know nothing of.
 * Signatures and what we know nothing of are kept, with the order of all of
 * them, since the model wants to see them again at the same place.
 */
#ifndef PROVIDER_GEMINI_PARTS_H
#define PROVIDER_GEMINI_PARTS_H

#include "provider/answer.h"
#include "provider/gemini/args.h"

struct gemini_part;

struct gemini_parts {           /* zeroed at first */
    struct answer *answer;      /* where everything is told */
    struct gemini_part *first, *last;
    struct calls_slot *open;    /* a call whose arguments still come */
    struct gemini_args args;    /* of that one */
};

void gemini_parts_read(struct gemini_parts *all, const allm_json *part);

/* There are no more. */
void gemini_parts_end(struct gemini_parts *all);

/*
 * What is to be sent back with the message: {"parts": [...]}, in the memory of
 * events.  NULL: text and calls say it all.
 *
 *      {"bytes": n, "thoughtSignature"?}   the next n bytes of the text
 *      {"call": true}                      the next call
 *      {"part": {...}}                     as it came
 *
 * A call has a state of its own: {"thoughtSignature"?, "id"?}.
 */
const allm_json *gemini_parts_state(const struct gemini_parts *all);

#endif
