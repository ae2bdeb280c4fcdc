/*
 * schema.c - JSON Schema 2020-12: compile schemas and check values
 *
 * A schema is compiled once, into its own home, and is read-only from then on:
 * any number of threads may check values against it.
 *
 *      queue of nodes --compile_rules--> rules, more nodes in the queue
 *        ^                                 |
 *        '------ref_resolve------ refs <---'
 *
 * Nothing recurses: a schema inside a schema becomes a node in the queue.
 * When the queue is empty all names are known, and the references are
 * resolved; each may add a new node.
 */
#include "json/schema.h"

#include "base/home.h"
#include "base/status.h"
#include "json/json.h"
#include "json/schema_check.h"
#include "json/schema_compile.h"
#include "json/schema_keywords.h"
#include "json/schema_ref.h"

static size_t count_rules(const struct node *n)
{
    size_t count = 0;
    for (const struct keyword *k = schema_keywords; k->name; k++)
        count += allm_json_get(n->source, k->name) != NULL;
    return count;
}

static void compile_rules(struct compiler *c, struct node *n)
{
    n->rules = compile_alloc(c, (count_rules(n) + 1) * sizeof *n->rules);
    if (!n->rules)
        return;
    for (const struct keyword *k = schema_keywords; k->name; k++) {
        const allm_json *value = allm_json_get(n->source, k->name);
        if (!value)
            continue;
        struct rule *r = &n->rules[n->count];
        *r = (struct rule){ k, n, value, NULL };
        k->compile(c, r);
        n->count++;
    }
}

/* Do the next piece of work; false if none is left. */
static bool compile_more(struct compiler *c)
{
    if (compile_is_over(c))
        return false;
    struct node *n = compile_next(c);
    const struct pending *p = n ? NULL : compile_next_ref(c);
    if (n) {
        ref_name(c, n);
        compile_rules(c, n);
    } else if (p) {
        ref_resolve(c, p->rule, p->ref);
    }
    return n || p;
}

/* NULL, or what is wrong with the schema, in its home. */
static const allm_error *compile(struct allm_json_schema *s)
{
    struct compiler c;
    compile_init(&c, s);
    s->root = compile_node(&c, "false", NULL, NULL, s->source);
    while (compile_more(&c))
        ;
    return compile_release(&c);
}

allm_json_schema *allm_json_schema_new(const allm_json *source)
{
    struct allm_home *h =
        home_new(mem_default(), sizeof(allm_json_schema) + json_size(source));
    allm_json_schema *s = h ? arena_zero(home_arena(h), sizeof *s) : NULL;
    const allm_json *copy = s ? json_copy(home_arena(h), source) : NULL;
    if (!s || (source && !copy)) {
        home_drop(h);
        return NULL;
    }
    s->home = h;
    s->source = copy;
    const allm_error *error = compile(s);
    if (error == status_nomem()) {
        home_drop(h);
        return NULL;
    }
    home_set_error(h, error);
    return s;
}

const allm_error *allm_json_schema_error(const allm_json_schema *s)
{
    return s ? home_error(s->home) : status_nomem();
}

void allm_json_schema_free(allm_json_schema *s)
{
    if (s)
        home_drop(s->home);
}

const allm_json *schema_check(const allm_json_schema *s, const allm_json *value,
                              struct arena *a)
{
    return check_value(s, value, a);
}

allm_json *allm_json_schema_check(const allm_json_schema *s,
                                  const allm_json *value)
{
    if (!s)
        return NULL;
    if (home_error(s->home))
        return json_root_failed(mem_default(), s->home);
    struct allm_home *h = home_new(mem_default(), 0);
    if (!h)
        return NULL;
    const allm_json *faults = schema_check(s, value, home_arena(h));
    return json_root_of(h, faults, faults ? NULL : status_nomem());
}
