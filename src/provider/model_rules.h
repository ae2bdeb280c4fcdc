/*
 * model_rules.h - rules for requests that depend on the name of the model
 *
 * All rules that look at a name are rows of one table in model_rules.c;
 * docs/models.md has the source of each row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum model_rule {
    /* OpenAI */
    MODEL_RESPONSES     = 1 << 0,   /* uses /responses */
    MODEL_NEW_TOKENS    = 1 << 1,   /* "max_completion_tokens" */
    MODEL_PLAIN         = 1 << 2,   /* has no encrypted reasoning */
    MODEL_REASONS       = 1 << 3,   /* rejects sampling parameters, unless its
                                       effort is "none" */
    MODEL_EFFORT_NONE   = 1 << 4,   /* its default effort is "none" */
    MODEL_NO_RETENTION  = 1 << 5,   /* rejects "prompt_cache_retention" */

    /* Anthropic */
    MODEL_ADAPTIVE      = 1 << 6,   /* has an effort instead of a budget */
    MODEL_XHIGH         = 1 << 7,   /* accepts the effort "xhigh" */
    MODEL_HIDES         = 1 << 8,   /* returns reasoning only on request */
    MODEL_THINKS        = 1 << 9,   /* reasons by default */
    MODEL_BETWEEN       = 1 << 10,  /* "none" becomes "between_tools" */
    MODEL_NOT_FORCED    = 1 << 11,  /* cannot be forced to call a tool */
    MODEL_ONE_SAMPLER   = 1 << 12,  /* temperature or top_p, not both */

    /* several providers */
    MODEL_NO_SAMPLING   = 1 << 13,  /* rejects sampling parameters */
    MODEL_STOPS         = 1 << 14,  /* reasoning can be disabled */
    MODEL_LEVELS        = 1 << 15,  /* has named levels of reasoning */
    MODEL_MINIMAL       = 1 << 16,  /* "minimal" is one of them */
    MODEL_BUDGET        = 1 << 17,  /* has a token budget for reasoning */

    /* models for images and embeddings */
    MODEL_BASE64        = 1 << 18,  /* images as base64 only; no variations */
    MODEL_GENERATES     = 1 << 19,  /* generates images, cannot edit them */
    MODEL_FIXED_SIZE    = 1 << 20   /* vectors cannot be shortened */
};

/*
 * The rules of a model; 0: none, or the name is unknown or NULL.  A version
 * that is newer than all known ones has the rules of the newest.  A prefix of
 * the name (a vendor, a region, "ft:") is ignored.
 */
uint32_t model_rules(const char *model);

/* Does the model reject temperature and other sampling parameters at this
 * effort, which may be NULL? */
bool model_rules_no_sampling(uint32_t rules, const char *effort);
