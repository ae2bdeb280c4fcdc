/*
 * thinking.h - how much a model is asked to think
 *
 *      "thinking"           an option in the provider's own words, or
 *      "reasoning_effort"   one of none, minimal, low, medium, high, xhigh, max
 *
 * Some models are given a budget of tokens, others an effort; some always think.
 * Which is which is a matter of their names: model_rules.h.
 */
#ifndef PROVIDER_ANTHROPIC_THINKING_H
#define PROVIDER_ANTHROPIC_THINKING_H

#include "provider/extra.h"

struct anthropic_thinking {
    const allm_json *given;     /* "thinking" as the caller has it; or NULL */
    const char *type;           /* of "thinking"; NULL: it is not written */
    int64_t budget;             /* 0: none */
    const char *effort;         /* NULL: none */
    bool shown;                 /* thoughts are asked for */
    int64_t room;               /* tokens that thoughts probably take */
    bool settled;               /* the room is known */
    bool on;                    /* there will be thoughts: no temperature */
    int64_t max_tokens;         /* for the answer: thoughts and text */
};

/* NULL, or an error in the arena. */
const allm_error *anthropic_thinking_plan(struct anthropic_thinking *t,
                                          const struct extra *x,
                                          struct arena *a);

/* Write the member, if it is on. */
void anthropic_thinking_write(const struct anthropic_thinking *t,
                              struct emit *e);

#endif
