/*
 * model_rules.h - what a request depends on in the name of its model
 *
 * All rules that look at a name are rows of one table, model_rules.c; where
 * each of them comes from is in docs/models.md.
 */
#ifndef PROVIDER_MODEL_RULES_H
#define PROVIDER_MODEL_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum model_rule {
    /* OpenAI */
    MODEL_RESPONSES     = 1 << 0,   /* is asked by /responses */
    MODEL_NEW_TOKENS    = 1 << 1,   /* "max_completion_tokens" */
    MODEL_PLAIN         = 1 << 2,   /* has no reasoning to be sent sealed */
    MODEL_REASONS       = 1 << 3,   /* no sampling parameters, unless its
                                       effort is "none" */
    MODEL_EFFORT_NONE   = 1 << 4,   /* which it is if nobody says another */
    MODEL_NO_RETENTION  = 1 << 5,   /* refuses "prompt_cache_retention" */

    /* Anthropic */
    MODEL_ADAPTIVE      = 1 << 6,   /* an effort, where others have a budget */
    MODEL_XHIGH         = 1 << 7,   /* knows the effort "xhigh" */
    MODEL_HIDES         = 1 << 8,   /* shows its thoughts only if asked to */
    MODEL_THINKS        = 1 << 9,   /* without being asked to */
    MODEL_BETWEEN       = 1 << 10,  /* "between_tools" is the least */
    MODEL_NOT_FORCED    = 1 << 11,  /* no call can be demanded */
    MODEL_ONE_SAMPLER   = 1 << 12,  /* temperature or top_p, not both */

    /* several */
    MODEL_NO_SAMPLING   = 1 << 13,  /* refuses sampling parameters */
    MODEL_STOPS         = 1 << 14,  /* can be told not to think */
    MODEL_LEVELS        = 1 << 15,  /* levels of thinking, by name */
    MODEL_MINIMAL       = 1 << 16,  /* "minimal" is one of them */
    MODEL_BUDGET        = 1 << 17,  /* a budget of tokens for thinking */

    /* what is no conversation */
    MODEL_BASE64        = 1 << 18,  /* images as base64 only; no variations */
    MODEL_GENERATES     = 1 << 19,  /* images, but does not edit them */
    MODEL_FIXED_SIZE    = 1 << 20   /* vectors cannot be shortened */
};

/*
 * The rules of a model; 0: none, or nobody knows the name (or it is NULL).  A
 * version that is newer than all known ones has the rules of the newest.  What
 * stands in front of a name (a vendor, a region, "ft:") does not matter.
 */
uint32_t model_rules(const char *model);

/* Would it refuse temperature and its like?  The effort may be NULL. */
bool model_rules_no_sampling(uint32_t rules, const char *effort);

#endif
