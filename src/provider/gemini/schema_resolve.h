/*
 * schema_resolve.h - replace references in a schema by their targets
 *
 * Gemini supports neither "$ref" nor "allOf" nor "oneOf".  Resolving a schema
 * results in a plain one, or in a list of choices in "anyOf".
 */
#pragma once

#include "base/buf.h"
#include "provider/gemini/schema_losses.h"

enum { GEMINI_SCHEMA_DEPTH = 32 };      /* maximum nesting */

/* The references that led to a schema. */
struct gemini_trail {
    const allm_json *target;
    const struct gemini_trail *up;
};

/* The state of adapting a schema. */
struct gemini_adapting {
    struct arena *arena;
    const allm_json *root;
    struct build out;
    struct buf path;            /* the current position in the schema */
    struct gemini_schema_losses losses;
    size_t nodes, depth;
    bool ordered;
    bool broken;                /* out of memory */
};

/* A schema inside it. */
struct gemini_node {
    const allm_json *schema;
    const struct gemini_trail *trail;
    bool nullable;
};

/* Replace references, "allOf", "oneOf" and an "anyOf" with fewer than two
 * choices by equivalent keywords. */
void gemini_schema_resolve(struct gemini_adapting *s, struct gemini_node *n);

/* A schema that satisfies both, as far as Gemini can express it; where they
 * contradict each other, the second one counts.  Never NULL. */
const allm_json *gemini_schema_combine(struct gemini_adapting *s,
                                       const allm_json *one,
                                       const allm_json *two);

/* The schema without a keyword.  Never NULL. */
const allm_json *gemini_schema_without(struct gemini_adapting *s,
                                       const allm_json *schema,
                                       const char *keyword);

/* Report that the keyword at the current position is not sent. */
void gemini_schema_lose(struct gemini_adapting *s, const char *keyword);
