/*
 * patch.c - new values from old ones: set a member, merge, merge patch
 *
 * All three are one thing: an object laid over another.  The members of the
 * lower keep their places; new ones follow in the order of the upper.
 *
 *      set      the upper has one member; a value of NULL takes it away
 *      merge    members of the upper replace those of the lower
 *      patch    they are laid over those of the lower in turn, and null takes
 *               one away (RFC 7396)
 */
#include "base/status.h"
#include "json/build.h"
#include "json/json.h"
#include "json/keys.h"
#include "json/stack.h"
#include "json/val.h"

/* ---------------------------------------------------------- set and merge --- */

static const yyjson_val *first_key(const yyjson_val *object)
{
    return object + 1;
}

/* What is no object counts as an empty one. */
static const yyjson_val *as_object(const allm_json *v)
{
    if (!v || val_type(val_of(v)) != YYJSON_TYPE_OBJ)
        return val_of(json_empty_object());
    return val_of(v);
}

static void add_member(struct build *b, struct slice key, const allm_json *v)
{
    build_key_copy(b, key);
    build_value_copy(b, v);
}

const allm_json *json_set(struct arena *a, const allm_json *object,
                          struct slice key, const allm_json *value)
{
    const yyjson_val *under = as_object(object);
    const yyjson_val *end = val_after(under);
    bool placed = !value;
    struct build b;
    build_init(&b, a);
    build_object(&b);
    for (const yyjson_val *k = first_key(under); k < end;
         k = val_after(k + 1)) {
        if (!slice_eq(val_slice(k), key)) {
            add_member(&b, val_slice(k), val_json(k + 1));
        } else if (!placed) {
            add_member(&b, key, value);
            placed = true;
        }
    }
    if (!placed)
        add_member(&b, key, value);
    build_end(&b);
    return build_done(&b);
}

/* The members of `under`, each replaced by that of `over` if it has one. */
static bool add_replaced(struct build *b, const yyjson_val *under,
                         const yyjson_val *over)
{
    struct keys in_over;
    bool ok = keys_init(&in_over, over, b->arena->mem);
    const yyjson_val *end = val_after(under);
    for (const yyjson_val *k = first_key(under); ok && k < end;
         k = val_after(k + 1)) {
        const yyjson_val *other = keys_find(&in_over, val_slice(k));
        add_member(b, val_slice(k), val_json(other ? other + 1 : k + 1));
    }
    keys_release(&in_over);
    return ok;
}

/* The members of `over` that `under` lacks. */
static bool add_new(struct build *b, const yyjson_val *under,
                    const yyjson_val *over)
{
    struct keys in_under;
    bool ok = keys_init(&in_under, under, b->arena->mem);
    const yyjson_val *end = val_after(over);
    for (const yyjson_val *k = first_key(over); ok && k < end;
         k = val_after(k + 1))
        if (!keys_find(&in_under, val_slice(k)))
            add_member(b, val_slice(k), val_json(k + 1));
    keys_release(&in_under);
    return ok;
}

const allm_json *json_merge(struct arena *a, const allm_json *under,
                            const allm_json *over)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    bool ok = add_replaced(&b, as_object(under), as_object(over)) &&
              add_new(&b, as_object(under), as_object(over));
    build_end(&b);
    return ok ? build_done(&b) : NULL;
}

/* ----------------------------------------------------------- merge patch --- */

/*
 * A patch that is being applied to an object.  First the members of the target
 * are walked, looked up in the patch; then those of the patch, looked up in
 * the target.
 */
struct applying {
    const yyjson_val *at, *end;
    const yyjson_val *target, *patch;
    struct keys other;          /* of the one that is not walked */
    bool in_patch;              /* the second walk */
};

struct patching {
    struct build build;
    struct stack stack;         /* of struct applying */
    bool failed;                /* no memory */
};

static void walk_target(struct patching *p, struct applying *f)
{
    f->at = first_key(f->target);
    f->end = val_after(f->target);
    if (!keys_init(&f->other, f->patch, p->build.arena->mem))
        p->failed = true;
}

static void walk_patch(struct patching *p, struct applying *f)
{
    keys_release(&f->other);
    f->in_patch = true;
    f->at = first_key(f->patch);
    f->end = val_after(f->patch);
    if (!keys_init(&f->other, f->target, p->build.arena->mem))
        p->failed = true;
}

/* Write `patch` applied to `target` (NULL: nothing), or begin to. */
static void apply(struct patching *p, const yyjson_val *target,
                  const yyjson_val *patch)
{
    if (val_type(patch) != YYJSON_TYPE_OBJ) {
        build_value_copy(&p->build, val_json(patch));
        return;
    }
    build_object(&p->build);
    struct applying *f = stack_push(&p->stack);
    if (!f) {
        p->failed = true;
        return;
    }
    *f = (struct applying){ .target = as_object(val_json(target)),
                            .patch = patch };
    walk_target(p, f);
}

static bool removes(const yyjson_val *key)
{
    return val_type(key + 1) == YYJSON_TYPE_NULL;
}

/* The next member of the walk. */
static void apply_member(struct patching *p, struct applying *f)
{
    const yyjson_val *key = f->at;
    const yyjson_val *other = keys_find(&f->other, val_slice(key));
    f->at = val_after(key + 1);
    if (!f->in_patch && !other) {
        add_member(&p->build, val_slice(key), val_json(key + 1));
    } else if (!f->in_patch && !removes(other)) {
        build_key_copy(&p->build, val_slice(key));
        apply(p, key + 1, other + 1);
    } else if (f->in_patch && !other && !removes(key)) {
        build_key_copy(&p->build, val_slice(key));
        apply(p, NULL, key + 1);
    }
}

static struct applying *end_applying(struct patching *p)
{
    struct applying *f = stack_top(&p->stack);
    build_end(&p->build);
    keys_release(&f->other);
    return stack_pop(&p->stack);
}

/* The patched value in the arena; NULL: no memory. */
static const allm_json *apply_patch(struct arena *a, const allm_json *target,
                                    const allm_json *patch)
{
    struct applying first[8];
    struct patching p = { .failed = false };
    build_init(&p.build, a);
    stack_init(&p.stack, a->mem, sizeof *first, first, 8);
    apply(&p, val_of(target), val_of(patch));
    struct applying *f;
    while ((f = stack_top(&p.stack)) != NULL) {
        if (p.failed || p.build.broken || (f->at == f->end && f->in_patch))
            end_applying(&p);
        else if (f->at == f->end)
            walk_patch(&p, f);
        else
            apply_member(&p, f);
    }
    stack_release(&p.stack);
    return p.failed ? NULL : build_done(&p.build);
}

/* ------------------------------------------------------------ the public --- */

static allm_json *misused(struct allm_home *h, const char *why)
{
    const allm_error *e = status_error(home_arena(h), ALLM_ERR_MISUSE,
                                       "misuse", "%s", why);
    return json_root_of(h, NULL, e ? e : status_nomem());
}

static allm_json *finished(struct allm_home *h, const allm_json *v)
{
    return json_root_of(h, v, status_nomem());
}

static bool is_object(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT;
}

static bool is_none(const allm_json *v)
{
    return v && allm_json_type_of(v) == ALLM_JSON_NONE;
}

allm_json *allm_json_set(const allm_json *object, const char *key,
                         const allm_json *value)
{
    struct allm_home *h = object ? home_new(mem_default(), 1024) : NULL;
    if (!h)
        return NULL;
    if (!is_object(object) || !key || is_none(value))
        return misused(h, "allm_json_set() needs an object, a key, and a value "
                          "that is well (NULL removes the member)");
    return finished(h, json_set(home_arena(h), object, slice_of(key), value));
}

allm_json *allm_json_merge(const allm_json *a, const allm_json *b)
{
    struct allm_home *h = a && b ? home_new(mem_default(), 1024) : NULL;
    if (!h)
        return NULL;
    if (!is_object(a) || !is_object(b))
        return misused(h, "allm_json_merge() needs two objects");
    return finished(h, json_merge(home_arena(h), a, b));
}

allm_json *allm_json_patch(const allm_json *target, const allm_json *patch)
{
    struct allm_home *h = target && patch ? home_new(mem_default(), 1024)
                                          : NULL;
    if (!h)
        return NULL;
    if (is_none(target) || is_none(patch))
        return misused(h, "allm_json_patch() needs two values that are well; "
                          "ask allm_json_error() of them");
    return finished(h, apply_patch(home_arena(h), target, patch));
}
