/* schema_check.h - check a value against a schema and record its faults */
#pragma once

#include "json/schema_parts.h"

/* A value that is being checked. */
struct spot {
    const struct place *place;
    const allm_json *value;
    unsigned kinds;
    bool is_name;               /* the value is the key of a member */
};

/* A schema that is being applied; `up` is the one that led to it. */
struct frame {
    const struct frame *up;
    const struct node *node;
    const struct spot *spot;
    size_t trail;               /* length of the trail at its start */
};

struct check {
    const struct allm_json_schema *schema;
    struct arena scratch;       /* for the whole check */
    struct arena temp;          /* for a rule that applies no schemas */
    const struct frame *frame;
    size_t depth;
    size_t quiet;               /* not 0: faults are not recorded */
    size_t budget;
    struct fault *faults;
    size_t count, cap, limit;
    size_t explaining;          /* the number of nested explanations */
    bool more;                  /* there are faults beyond the limit */
    bool over;                  /* nothing more is checked */
    bool nomem;

    /* What has been evaluated, for unevaluatedItems and unevaluatedProperties:
     * positions of members or items of the current value, or TRAIL_ALL. */
    uint32_t *trail;
    size_t trail_count, trail_cap;
};

enum { TRAIL_ALL = UINT32_MAX };

/* The faults of a value as JSON, in the arena; NULL: out of memory. */
const allm_json *check_value(const allm_json_schema *schema,
                             const allm_json *value, struct arena *a);

/* Is a value valid against a schema?  Faults are recorded. */
bool check_node(struct check *k, const struct node *n, const struct spot *s);

/* The same for a member, given by its key, or an item of s. */
bool check_member(struct check *k, const struct node *n, const struct spot *s,
                  const allm_json *key);
bool check_item(struct check *k, const struct node *n, const struct spot *s,
                size_t index, const allm_json *item);

/* The same, without recording faults. */
bool check_quietly(struct check *k, const struct node *n, const struct spot *s);

/* Record a fault; always false. */
bool check_fault(struct check *k, const struct rule *r, const struct spot *s,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for another keyword than that of the rule. */
bool check_fault_beside(struct check *k, const struct rule *r,
                        const char *keyword, const struct spot *s,
                        const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A value, or a string, shortened for messages; "" while faults are not
 * recorded. */
const char *check_brief(struct check *k, const allm_json *v);
const char *check_brief_text(struct check *k, struct slice text);

/* The same with its type: string "abc". */
const char *check_brief_typed(struct check *k, const allm_json *v);

/* Types in words: string or null. */
const char *check_kinds(struct check *k, unsigned kinds);

/*
 * No schema is valid: the first fault of the closest one, in words, and its
 * number.
 */
const char *check_explain(struct check *k, const struct node_list *list,
                          const struct spot *s, size_t *closest);

/* Subtract work from the budget.  False: the check is over. */
bool check_spend(struct check *k, size_t steps);

/* Abort the check for lack of memory; always false. */
bool check_out_of_memory(struct check *k);

/* Does the text match? */
bool check_match(struct check *k, const struct pattern *p, struct slice text);

/* The outermost schema on the way here with this dynamic anchor, or NULL. */
const struct node *check_dynamic(const struct check *k, struct slice anchor);

void trail_add(struct check *k, uint32_t number);

/*
 * Add those numbers below n that the current schema has not added.  They start
 * at the returned index, in order.
 */
size_t trail_add_rest(struct check *k, size_t n);
