/*
 * schema_compile.c - the state of a compilation: nodes, references, faults
 *
 * Invariants
 *   (1) A value is at most one node: `known` finds it by its address.
 *   (2) After a fault the compilation continues, to find more, but its result
 *       is not used.
 */
#include "json/schema_compile.h"

#include "base/status.h"
#include "json/build.h"

enum { FAULTS_TOLD = 100, MESSAGE_LIMIT = 1024, PATH_QUOTED = 300 };

struct compile_fault {
    struct compile_fault *next;
    struct slice path;
    const char *reason, *message;
};

/* ------------------------------------------------------------- faults --- */

static void add_fault(struct compiler *c, const struct place *place,
                      const char *reason, const char *format, va_list args)
{
    struct buf path, message;
    if (c->fault_count++ >= FAULTS_TOLD)
        return;
    buf_init(&path, c->arena, PLACE_LONGEST);
    buf_init(&message, c->arena, MESSAGE_LIMIT);
    place_write(&path, place);
    buf_vformat(&message, format, args);
    struct compile_fault *f = compile_alloc(c, sizeof *f);
    if (!f)
        return;
    *f = (struct compile_fault){ NULL, buf_slice(&path), reason,
                                 buf_slice(&message).ptr };
    *c->last_fault = f;
    c->last_fault = &f->next;
}

void compile_fault_at(struct compiler *c, const struct place *place,
                      const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(c, place, reason, format, args);
    va_end(args);
}

void compile_fault(struct compiler *c, const struct rule *r, const char *reason,
                   const char *format, ...)
{
    struct place place = { r->node->place, slice_of(r->keyword->name), 0 };
    va_list args;
    va_start(args, format);
    add_fault(c, &place, reason, format, args);
    va_end(args);
}

const char *compile_quote(struct compiler *c, struct slice text)
{
    struct buf b = buf_in(&c->scratch, MESSAGE_LIMIT);
    brief_write_text(&b, text);
    return buf_slice(&b).ptr;
}

/* [[path, reason], ...] */
static const allm_json *list_faults(const struct compiler *c)
{
    struct build b = build_array_in(c->arena);
    for (const struct compile_fault *f = c->faults; f; f = f->next) {
        build_array(&b);
        build_text(&b, f->path);
        build_text(&b, slice_of(f->reason));
        build_end(&b);
    }
    return build_finish(&b);
}

static const allm_error *explain_faults(const struct compiler *c)
{
    const struct compile_fault *f = c->faults;
    if (c->arena->broken || c->scratch.broken)
        return status_nomem();
    if (!f)
        return NULL;
    struct buf where, more;
    buf_init(&where, c->arena, PLACE_LONGEST + MESSAGE_LIMIT);
    buf_add(&where, f->path.len ? f->path : SLICE("#"));
    brief_cut(&where, 0, PATH_QUOTED);
    buf_init(&more, c->arena, MESSAGE_LIMIT);
    if (c->fault_count > 1)
        buf_format(&more, " (and %zu more)", c->fault_count - 1);
    allm_error *e = status_draft(c->arena, ALLM_ERR_VALIDATION,
                                 "invalid_request", "schema %s: %s%s",
                                 buf_slice(&where).ptr, f->message,
                                 buf_slice(&more).ptr);
    if (e)
        e->errors = list_faults(c);
    return e && e->errors ? e : status_nomem();
}

/* -------------------------------------------------------------- parts --- */

void *compile_alloc(struct compiler *c, size_t size)
{
    return arena_zero(c->arena, size);
}

const struct place *compile_place(struct compiler *c, const struct place *up,
                                  struct slice key, size_t index)
{
    struct place *p = compile_alloc(c, sizeof *p);
    if (p)
        *p = (struct place){ up, key, index };
    return p;
}

const struct rule *compile_sibling(const struct rule *r, const char *name)
{
    const struct node *n = r->node;
    for (size_t i = 0; i < n->count; i++)
        if (!strcmp(n->rules[i].keyword->name, name))
            return &n->rules[i];
    return NULL;
}

void compile_later(struct compiler *c, const struct rule *r, struct ref *ref)
{
    struct pending *p = compile_alloc(c, sizeof *p);
    if (!p)
        return;
    *p = (struct pending){ NULL, r, ref };
    *c->last_pending = p;
    c->last_pending = &p->next;
}

/* -------------------------------------------------------------- nodes --- */

/* The slot of a value, or the free one for it. */
static struct node **find_slot(struct node **slots, size_t cap,
                               const allm_json *source)
{
    size_t i = (size_t)((uintptr_t)source >> 4) * 0x9E3779B1u;
    for (;; i++) {
        struct node **slot = &slots[i & (cap - 1)];
        if (!*slot || (*slot)->source == source)
            return slot;
    }
}

struct node *compile_known(const struct compiler *c, const allm_json *source)
{
    return c->known ? *find_slot(c->known, c->known_cap, source) : NULL;
}

static bool grow_known(struct compiler *c)
{
    size_t cap = c->known_cap ? 2 * c->known_cap : 64;
    struct node **slots = arena_zero(&c->scratch, cap * sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < c->known_cap; i++)
        if (c->known[i])
            *find_slot(slots, cap, c->known[i]->source) = c->known[i];
    c->known = slots;
    c->known_cap = cap;
    return true;
}

static void remember(struct compiler *c, struct node *n)
{
    if (2 * (c->known_count + 1) > c->known_cap && !grow_known(c))
        return;
    *find_slot(c->known, c->known_cap, n->source) = n;
    c->known_count++;
}

static bool is_schema(const allm_json *v)
{
    return kind_of(v) & (KIND_OBJECT | KIND_BOOLEAN);
}

struct node *compile_node(struct compiler *c, const char *keyword,
                          const struct place *place, struct resource *resource,
                          const allm_json *source)
{
    if (!is_schema(source)) {
        compile_fault_at(c, place, "not_a_schema",
                         "expected a schema: an object, true or false");
        return NULL;
    }
    struct node *n = compile_known(c, source);
    if (n)
        return n;               /* keeps (1) */
    n = compile_alloc(c, sizeof *n);
    if (!n)
        return NULL;
    n->place = place;
    n->keyword = keyword;
    n->source = source;
    n->resource = resource;
    remember(c, n);
    *c->last = n;
    c->last = &n->next;
    return n;
}

void compile_init(struct compiler *c, struct allm_json_schema *schema)
{
    *c = (struct compiler){ .schema = schema,
                            .arena = home_arena(schema->home) };
    arena_init(&c->scratch, home_mem(schema->home));
    c->last = &c->first;
    c->last_pending = &c->pending;
    c->last_fault = &c->faults;
}

struct node *compile_next(struct compiler *c)
{
    struct node *n = c->first;
    if (!n)
        return NULL;
    c->first = n->next;
    if (!n->next)
        c->last = &c->first;
    return n;
}

const struct pending *compile_next_ref(struct compiler *c)
{
    struct pending *p = c->pending;
    if (!p)
        return NULL;
    c->pending = p->next;
    if (!p->next)
        c->last_pending = &c->pending;
    return p;
}

bool compile_is_over(const struct compiler *c)
{
    return c->arena->broken || c->scratch.broken || c->names > SCHEMA_MAX_NAMES;
}

const allm_error *compile_release(struct compiler *c)
{
    const allm_error *error = explain_faults(c);
    arena_release(&c->scratch);
    return error;
}
