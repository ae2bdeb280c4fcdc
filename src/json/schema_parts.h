/*
 * schema_parts.h - the data structures of a compiled schema
 *
 *      schema --schema.c--> nodes, each with its rules
 *                |- schema_keywords.c: the one table of keywords
 *                |- schema_ref.c: $ref, $id, $anchor
 *                '- schema_compile.c: the state of a compilation
 *
 *      value --schema_check.c--> faults
 *                '- schema_value.c, _object.c, _array.c, _logic.c: the rules
 */
#pragma once

#include "base/home.h"
#include "json/pattern.h"
#include "json/schema_text.h"

#include <stdint.h>

enum {
    SCHEMA_MAX_DEPTH = 1000,        /* schemas inside schemas, in a check */
    SCHEMA_MAX_FAULTS = 1000,       /* reported by a check */
    SCHEMA_MAX_NAMES = 10000,       /* $id and $anchor in a schema */
    SCHEMA_BUDGET = 50000000,       /* work of a check: a schema costs 16 */
    SCHEMA_BUDGET_VALUE = 1000  /* additional work per value in the document */
};

struct check;
struct compiler;
struct rule;
struct spot;

struct keyword {
    const char *name;

    /* Check its form and prepare rule->parts. */
    void (*compile)(struct compiler *c, struct rule *r);

    /* Does it hold?  Called for values of these kinds only.  NULL: it checks
     * nothing by itself. */
    bool (*check)(struct check *k, const struct rule *r, const struct spot *s);
    unsigned kinds;
};

/* A keyword in a schema. */
struct rule {
    const struct keyword *keyword;
    struct node *node;
    const allm_json *value;
    const void *parts;          /* one of the structs below */
};

/* A schema: the document, or one inside it. */
struct node {
    const struct place *place;
    const char *keyword;        /* the one that it is under */
    const allm_json *source;
    struct resource *resource;
    struct rule *rules;         /* in the order of the table */
    size_t count;
    struct node *next;          /* in the compiler's queue */
};

/* A part of the document with a URI of its own. */
struct resource {
    struct resource *next;
    struct slice uri;           /* without fragment; "" if there is none */
    const struct node *root;
    struct anchor *anchors;
};

struct anchor {
    struct anchor *next;
    struct slice name;
    const struct node *node;
    bool dynamic;
};

struct allm_json_schema {
    struct allm_home *home;
    const allm_json *source;
    const struct node *root;
    bool tracks;                /* it has an unevaluated... keyword */
};

/* ----------------------------------------------------- parts of rules --- */

struct node_list {              /* prefixItems, allOf, anyOf, oneOf */
    size_t count;
    const struct node *nodes[];
};

struct node_entry {
    struct slice name;
    const struct node *node;
    const struct pattern *pattern;      /* patternProperties: of the name */
    const allm_json *names;             /* dependentRequired: no node */
};

struct node_map {               /* properties and similar */
    size_t count;
    struct node_entry entries[];    /* properties: in name_order() */
};

static inline int name_order(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

struct one_node {               /* items, not, and others with one schema */
    const struct node *node;
    const struct node_map *properties, *patterns;   /* next to it */
    size_t skip;                                    /* items before it */
};

struct condition {              /* if */
    const struct node *when, *then, *otherwise;
};

struct contains {
    const struct node *node;
    size_t min, max;
    bool has_min;
};

struct options {                /* enum */
    size_t count;
    unsigned kinds;             /* of all of them */
    struct option {
        uint64_t hash;
        const allm_json *value;
    } list[];                   /* sorted by hash */
};

struct ref {
    const struct node *target;
    struct slice dynamic;       /* the anchor to look for; ptr NULL: none */
};

struct limit {                  /* maxLength and similar */
    size_t count;
};

struct types {
    unsigned kinds;
};
