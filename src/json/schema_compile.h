/* schema_compile.h - the state of a compilation: nodes, references, faults */
#pragma once

#include "json/schema_parts.h"

struct pending {                /* a reference to be resolved */
    struct pending *next;
    const struct rule *rule;
    struct ref *ref;
};

struct compiler {
    struct allm_json_schema *schema;
    struct arena *arena;        /* the schema's */
    struct arena scratch;
    struct node *first, **last; /* nodes to be compiled */
    struct pending *pending, **last_pending;
    struct node **known;        /* nodes by source: a hash table */
    size_t known_count, known_cap;
    struct resource *resources;
    size_t names;
    struct compile_fault *faults, **last_fault;
    size_t fault_count;
};

void compile_init(struct compiler *c, struct allm_json_schema *schema);

/* NULL, or what was wrong, in the schema's home. */
const allm_error *compile_release(struct compiler *c);

/* Out of memory, or too many names to continue. */
bool compile_is_over(const struct compiler *c);

/* Remove the next node to be compiled, or the next reference to be resolved;
 * NULL if there is none. */
struct node *compile_next(struct compiler *c);
const struct pending *compile_next_ref(struct compiler *c);

/* Report a fault of this rule, or at this place. */
void compile_fault(struct compiler *c, const struct rule *r, const char *reason,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void compile_fault_at(struct compiler *c, const struct place *place,
                      const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A string in quotes, shortened for a message. */
const char *compile_quote(struct compiler *c, struct slice text);

/* Zeroed memory for the schema's life.  NULL: the compilation fails. */
void *compile_alloc(struct compiler *c, size_t size);

const struct place *compile_place(struct compiler *c, const struct place *up,
                                  struct slice key, size_t index);

/*
 * The node of a schema at a place, under this keyword; it will be compiled.
 * NULL: it is not a schema (a fault), or out of memory.
 */
struct node *compile_node(struct compiler *c, const char *keyword,
                          const struct place *place, struct resource *resource,
                          const allm_json *source);

/* The node of a value that is already known as a schema, or NULL. */
struct node *compile_known(const struct compiler *c, const allm_json *source);

/* Resolve it when all names are known. */
void compile_later(struct compiler *c, const struct rule *r, struct ref *ref);

/* A rule of the same schema that is earlier in the table, or NULL. */
const struct rule *compile_sibling(const struct rule *r, const char *name);
