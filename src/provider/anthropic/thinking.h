/*
 * thinking.h - decide how much the model is to think
 *
 *      "thinking"           an option in the provider's own format, or
 *      "reasoning_effort"   one of none, minimal, low, medium, high, xhigh and
 *                           max, or a number of tokens
 *
 * Some models take a token budget, others an effort; some always think.  Their
 * names decide: see model_rules.h.
 */
#pragma once

#include "provider/extra.h"

struct anthropic_thinking {
    const allm_json *caller_thinking;   /* the option "thinking"; or NULL */
    const char *type;           /* of "thinking"; NULL: do not write it */
    int64_t budget;             /* 0: none */
    const char *effort;         /* NULL: none */
    bool summarized;            /* request thoughts in the response */
    int64_t room;               /* tokens that thoughts probably need */
    bool room_known;            /* do not use the default room */
    bool on;                    /* will think: send no temperature */
    int64_t max_tokens;         /* for the response: thoughts and text */
};

/* Returns NULL, or an error in the arena. */
const allm_error *anthropic_thinking_plan(struct anthropic_thinking *t,
                                          const struct extra *x,
                                          struct arena *a);

/* Write the member "thinking", if there is one. */
void anthropic_thinking_write(const struct anthropic_thinking *t,
                              struct emit *e);
