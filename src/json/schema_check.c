/*
 * schema_check.c - check a value against a schema and record its faults
 *
 * check_node() applies the rules of a schema; a rule may apply other schemas,
 * to the same value or to parts of it.  The frames on the way form a list,
 * from the current one to the first:
 *
 *      frame --up--> frame --up--> frame
 *      node,spot     node,spot     root,value
 *
 * Invariants
 *   (1) No schema is applied to a value to which it is being applied already:
 *       that would never end, and aborts the check.
 *   (2) There are at most SCHEMA_MAX_DEPTH frames.
 *   (3) Trail entries from frame->trail on are about the frame's value.
 */
#include "json/schema_check.h"

#include "base/buf.h"
#include "json/build.h"
#include "json/json.h"
#include "json/schema_ref.h"
#include "json/val.h"

#include <stdlib.h>

enum {
    MESSAGE_LIMIT = 4096,
    MESSAGE_QUOTED = 300,       /* of a message inside another */
    NODE_COST = 16,
    FAULT_COST = 1000,          /* for its memory rather than its time */
    EXPLAINED_FAULTS = 50,      /* of a schema that is compared with others */
    EXPLAINED_DEPTH = 4         /* of explanations inside explanations */
};

struct fault {
    const allm_json *at;        /* its address gives the order */
    size_t number;
    size_t depth;               /* of its path */
    struct slice path, schema_path;
    const char *keyword, *message;
};

/* ------------------------------------------------------------- ending --- */

bool check_out_of_memory(struct check *k)
{
    k->over = k->nomem = true;
    return false;
}

static struct fault *add_fault(struct check *k)
{
    if (!arena_grow(&k->scratch, &k->faults, k->count, &k->cap, 16,
                    sizeof *k->faults)) {
        check_out_of_memory(k);
        return NULL;
    }
    struct fault *f = &k->faults[k->count];
    *f = (struct fault){ .number = k->count++ };
    return f;
}

static struct slice pointer_text(struct check *k, const struct place *p)
{
    struct buf b = buf_in(&k->scratch, PLACE_LONGEST);
    place_write(&b, p);
    if (b.broken)
        check_out_of_memory(k);
    return buf_slice(&b);
}

/* Abort the whole check; the reason is recorded even while faults are not. */
static bool give_up(struct check *k, const struct node *n, const struct spot *s,
                    const char *keyword, const char *message)
{
    struct fault *f = k->over ? NULL : add_fault(k);
    k->over = true;
    if (!f)
        return false;
    f->at = s->value;
    f->path = pointer_text(k, s->place);
    f->schema_path = pointer_text(k, n->place);
    f->keyword = keyword;
    f->message = message;
    return false;
}

bool check_spend(struct check *k, size_t steps)
{
    const struct frame *f = k->frame;
    if (f && !k->over && steps >= k->budget)
        give_up(k, f->node, f->spot, "too_complex",
                "checking takes too long: the schema branches too much for "
                "this value");
    k->budget -= steps < k->budget ? steps : k->budget;
    return !k->over;
}

/* ------------------------------------------------------------- faults --- */

/* Will the next fault be recorded? */
static bool is_heard(const struct check *k)
{
    return !k->quiet && !k->over && k->count < k->limit;
}

const char *check_brief_text(struct check *k, struct slice text)
{
    if (!is_heard(k))
        return "";
    struct buf b = buf_in(&k->scratch, MESSAGE_LIMIT);
    brief_write_text(&b, text);
    return buf_slice(&b).ptr;
}

const char *check_brief(struct check *k, const allm_json *v)
{
    if (!is_heard(k))
        return "";
    struct buf b = buf_in(&k->scratch, MESSAGE_LIMIT);
    brief_write(&b, v);
    return buf_slice(&b).ptr;
}

const char *check_brief_typed(struct check *k, const allm_json *v)
{
    unsigned kinds = kind_of(v);
    if (!is_heard(k))
        return "";
    struct buf b = buf_in(&k->scratch, MESSAGE_LIMIT);
    if (!(kinds & KIND_NULL)) {
        kind_write(&b, kinds & KIND_INTEGER ? KIND_INTEGER : kinds);
        buf_byte(&b, ' ');
    }
    brief_write(&b, v);
    return buf_slice(&b).ptr;
}

const char *check_kinds(struct check *k, unsigned kinds)
{
    if (!is_heard(k))
        return "";
    struct buf b = buf_in(&k->scratch, MESSAGE_LIMIT);
    kind_write(&b, kinds);
    return buf_slice(&b).ptr;
}

static const char *make_message(struct check *k, const struct spot *s,
                                const char *format, va_list args)
{
    struct buf b = buf_in(&k->scratch, MESSAGE_LIMIT);
    if (s->is_name)
        buf_text(&b, "property name: ");
    buf_vformat(&b, format, args);
    if (b.broken)
        check_out_of_memory(k);
    return buf_slice(&b).ptr;
}

static bool note_fault(struct check *k, const struct place *schema_place,
                       const char *keyword, const struct spot *s,
                       const char *format, va_list args)
{
    if (!is_heard(k)) {
        k->more |= !k->quiet && !k->over;
        return false;
    }
    struct fault *f = check_spend(k, FAULT_COST) ? add_fault(k) : NULL;
    if (!f)
        return false;
    f->at = s->value;
    f->depth = place_depth(s->place);
    f->path = pointer_text(k, s->place);
    f->schema_path = pointer_text(k, schema_place);
    f->keyword = keyword;
    f->message = make_message(k, s, format, args);
    return false;
}

bool check_fault(struct check *k, const struct rule *r, const struct spot *s,
                 const char *format, ...)
{
    const char *name = r->keyword->name;
    struct place place = { r->node->place, slice_of(name), 0 };
    va_list args;
    va_start(args, format);
    note_fault(k, &place, name, s, format, args);
    va_end(args);
    return false;
}

bool check_fault_beside(struct check *k, const struct rule *r,
                        const char *keyword, const struct spot *s,
                        const char *format, ...)
{
    struct place place = { r->node->place, slice_of(keyword), 0 };
    va_list args;
    va_start(args, format);
    note_fault(k, &place, keyword, s, format, args);
    va_end(args);
    return false;
}

/* A value is present where the schema is false. */
static bool fault_of_false(struct check *k, const struct node *n,
                           const struct spot *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note_fault(k, n->place, n->keyword, s, format, args);
    va_end(args);
    return false;
}

/* -------------------------------------------------------------- trail --- */

void trail_add(struct check *k, uint32_t number)
{
    if (!k->schema->tracks)
        return;
    if (k->trail_count == k->trail_cap) {
        size_t cap = k->trail_cap ? 2 * k->trail_cap : 64;
        uint32_t *more = arena_resize(&k->scratch, k->trail,
                                      k->trail_cap * sizeof *more,
                                      cap * sizeof *more);
        if (!more) {
            check_out_of_memory(k);
            return;
        }
        k->trail = more;
        k->trail_cap = cap;
    }
    k->trail[k->trail_count++] = number;
}

size_t trail_add_rest(struct check *k, size_t n)
{
    size_t end = k->trail_count;
    arena_reset(&k->temp);
    bool *seen = arena_zero(&k->temp, n + 1);
    if (!seen || !check_spend(k, n + (end - k->frame->trail))) {
        if (!seen)
            check_out_of_memory(k);
        return end;
    }
    for (size_t i = k->frame->trail; i < end; i++) {    /* by (3) */
        if (k->trail[i] == TRAIL_ALL)
            return end;
        if (k->trail[i] < n)
            seen[k->trail[i]] = true;
    }
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            trail_add(k, (uint32_t)i);
    return end;
}

/* -------------------------------------------------------------- nodes --- */

/* Is the schema already being applied to this very value? */
static bool goes_round(const struct check *k, const struct frame *f)
{
    for (const struct frame *u = k->frame; u && u->spot == f->spot; u = u->up)
        if (u->node == f->node)
            return true;
    return false;
}

static bool enter_frame(struct check *k, const struct frame *f)
{
    if (k->over)
        return false;
    if (goes_round(k, f))               /* keeps (1) */
        return give_up(k, f->node, f->spot, "endless",
                       "the schema refers to itself without end");
    if (k->depth >= SCHEMA_MAX_DEPTH)   /* keeps (2) */
        return give_up(k, f->node, f->spot, "too_deep",
                       "the value or the schema is nested too deeply");
    k->frame = f;
    k->depth++;
    return check_spend(k, NODE_COST);
}

static void leave_frame(struct check *k, const struct frame *f)
{
    if (k->frame != f)
        return;
    k->frame = f->up;
    k->depth--;
}

bool check_node(struct check *k, const struct node *n, const struct spot *s)
{
    if (allm_json_type_of(n->source) == ALLM_JSON_BOOL)
        return (allm_json_true(n->source) && check_spend(k, 1)) ||
               fault_of_false(k, n, s, "nothing is allowed here, got %s",
                              check_brief_typed(k, s->value));
    struct frame f = { k->frame, n, s, k->trail_count };
    bool ok = enter_frame(k, &f);
    for (size_t i = 0; i < n->count && !k->over; i++) {
        const struct rule *r = &n->rules[i];
        if (r->keyword->check && (r->keyword->kinds & s->kinds))
            ok = r->keyword->check(k, r, s) && ok;
        if (!ok && k->quiet)
            break;
    }
    leave_frame(k, &f);
    return ok && !k->over;
}

/* What the parts of a value add to the trail is not about the value. */
static bool check_part(struct check *k, const struct node *n,
                       const struct spot *part)
{
    size_t trail = k->trail_count;
    bool ok = check_node(k, n, part);
    k->trail_count = trail;
    return ok;
}

bool check_member(struct check *k, const struct node *n, const struct spot *s,
                  const allm_json *key)
{
    const allm_json *value = allm_json_value(key);
    struct place place = { s->place, json_slice(key), 0 };
    struct spot part = { &place, value, kind_of(value), false };
    return check_part(k, n, &part);
}

bool check_item(struct check *k, const struct node *n, const struct spot *s,
                size_t index, const allm_json *item)
{
    struct place place = { s->place, { NULL, 0 }, index };
    struct spot part = { &place, item, kind_of(item), false };
    return check_part(k, n, &part);
}

bool check_quietly(struct check *k, const struct node *n, const struct spot *s)
{
    size_t trail = k->trail_count;
    k->quiet++;
    bool ok = check_node(k, n, s);
    k->quiet--;
    if (!ok)
        k->trail_count = trail;
    return ok;
}

const struct node *check_dynamic(const struct check *k, struct slice anchor)
{
    const struct node *found = NULL;
    const struct resource *last = NULL;
    for (const struct frame *f = k->frame; f; f = f->up) {
        const struct resource *r = f->node->resource;
        const struct node *n = r != last ? ref_dynamic_anchor(r, anchor) : NULL;
        last = r;
        if (n)
            found = n;
    }
    return found;
}

bool check_match(struct check *k, const struct pattern *p, struct slice text)
{
    arena_reset(&k->temp);
    switch (pattern_match(p, text, &k->temp, &k->budget)) {
    case PATTERN_YES:
        return true;
    case PATTERN_NO:
        return false;
    case PATTERN_TOO_LONG:
        return check_spend(k, k->budget);  /* records it and ends the check */
    case PATTERN_NOMEM:
        return check_out_of_memory(k);
    }
    return false;
}

/* --------------------------------------------------------- explaining --- */

/* How far a fault is from what was meant: a wrong type, or a wrong tag in a
 * member, means that another schema was intended. */
static size_t distance(const struct fault *f, size_t depth)
{
    bool is_tag = !strcmp(f->keyword, "const") || !strcmp(f->keyword, "enum");
    bool is_type = !strcmp(f->keyword, "type");
    if (f->depth <= depth && (is_tag || is_type))
        return 10000;
    return f->depth == depth + 1 && is_tag ? 100 : 1;
}

static int by_order(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    if (x->at != y->at)         /* values are in memory as in the document */
        return (uintptr_t)x->at < (uintptr_t)y->at ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The distance of the faults from `start` on; moves the first of them there. */
static size_t weigh(struct check *k, size_t start, size_t depth)
{
    size_t sum = 0;
    for (size_t i = start; i < k->count; i++)
        sum += distance(&k->faults[i], depth);
    if (k->count > start)
        qsort(k->faults + start, k->count - start, sizeof *k->faults, by_order);
    return sum;
}

static const char *quote(struct check *k, const struct fault *f,
                         const struct spot *s)
{
    struct buf b = buf_in(&k->scratch, MESSAGE_LIMIT + PLACE_LONGEST);
    if (f->depth > place_depth(s->place)) {
        buf_text(&b, "at ");
        buf_add(&b, f->path);
        buf_text(&b, ": ");
    }
    buf_text(&b, f->message);
    brief_cut(&b, 0, MESSAGE_QUOTED);
    return buf_slice(&b).ptr;
}

/* Apply each schema and record its faults; returns the first fault of the
 * closest one, and which schema that is. */
static const char *compare_branches(struct check *k,
                                    const struct node_list *list,
                                    const struct spot *s, size_t *closest)
{
    size_t start = k->count, trail = k->trail_count;
    size_t least = SIZE_MAX, depth = place_depth(s->place);
    const char *words = "";
    for (size_t i = 0; i < list->count; i++) {
        check_node(k, list->nodes[i], s);
        k->trail_count = trail;
        if (k->over)
            break;              /* its fault must stay */
        size_t sum = weigh(k, start, depth);
        if (sum < least && k->count > start) {
            least = sum;
            words = quote(k, &k->faults[start], s);
            *closest = i;
        }
        k->count = start;
    }
    return words;
}

const char *check_explain(struct check *k, const struct node_list *list,
                          const struct spot *s, size_t *closest)
{
    size_t limit = k->limit;
    bool more = k->more;
    const char *words = "";
    *closest = 0;
    if (!is_heard(k) || k->explaining == EXPLAINED_DEPTH)
        return words;
    k->limit = k->count + EXPLAINED_FAULTS;
    k->explaining++;
    words = compare_branches(k, list, s, closest);
    k->explaining--;
    k->limit = limit;
    k->more = more;
    return words;
}

/* ------------------------------------------------------------ results --- */

static void build_fault(struct build *b, const struct fault *f)
{
    build_object(b);
    build_text_copy_at(b, "path", f->path);
    build_text_at(b, "keyword", slice_of(f->keyword));
    build_text_copy_at(b, "schema_path", f->schema_path);
    build_text_copy_at(b, "message", slice_of(f->message));
    build_end(b);
}

static const allm_json *build_faults(struct check *k, struct arena *a)
{
    if (k->count > 1)
        qsort(k->faults, k->count, sizeof *k->faults, by_order);
    struct build b = build_array_in(a);
    for (size_t i = 0; i < k->count; i++)
        build_fault(&b, &k->faults[i]);
    if (k->more)
        build_fault(&b, &(struct fault){ .path = SLICE(""),
                                         .schema_path = SLICE(""),
                                         .keyword = "too_many_errors",
                                         .message = "there are more errors; "
                                                    "these are the first" });
    return build_finish(&b);
}

const allm_json *check_value(const allm_json_schema *schema,
                             const allm_json *value, struct arena *a)
{
    struct check k = { .schema = schema, .limit = SCHEMA_MAX_FAULTS };
    struct spot whole = { NULL, value, kind_of(value), false };
    arena_init(&k.scratch, a->mem);
    arena_init(&k.temp, a->mem);
    k.budget = SCHEMA_BUDGET;
    if (value)
        k.budget += SCHEMA_BUDGET_VALUE * val_span(val_of(value));
    if (whole.kinds)
        check_node(&k, schema->root, &whole);
    else
        give_up(&k, schema->root, &whole, "no_value", "there is no value");
    const allm_json *result = NULL;
    if (!k.nomem && !k.scratch.broken)
        result = build_faults(&k, a);
    arena_release(&k.scratch);
    arena_release(&k.temp);
    return result;
}
