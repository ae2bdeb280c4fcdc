/*
 * patch.c - merge patch (RFC 7396): objects are merged recursively, and null
 * removes a member
 */
#include "json/members.h"
#include "json/over.h"
#include "json/stack.h"

/*
 * A patch that is being applied to an object.  First the members of the target
 * are visited and looked up in the patch; then those of the patch in the
 * target.
 */
struct applying {
    const yyjson_val *at, *end;
    const yyjson_val *target, *patch;
    struct members other;          /* of the object that is not walked */
    bool in_patch;              /* the second walk */
};

struct patching {
    struct build build;
    struct stack stack;         /* of struct applying */
    bool failed;                /* out of memory */
};

static void walk_target(struct patching *p, struct applying *f)
{
    f->at = f->target + 1;
    f->end = val_after(f->target);
    if (!members_init(&f->other, f->patch, p->build.arena->mem))
        p->failed = true;
}

static void walk_patch(struct patching *p, struct applying *f)
{
    members_release(&f->other);
    f->in_patch = true;
    f->at = f->patch + 1;
    f->end = val_after(f->patch);
    if (!members_init(&f->other, f->target, p->build.arena->mem))
        p->failed = true;
}

/* Write `patch` applied to `target` (NULL: nothing), or start to. */
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
    *f = (struct applying){ .target = over_object(val_json(target)),
                            .patch = patch };
    walk_target(p, f);
}

static bool removes(const yyjson_val *key)
{
    return val_type(key + 1) == YYJSON_TYPE_NULL;
}

/* Apply the next member of the walk. */
static void apply_member(struct patching *p, struct applying *f)
{
    const yyjson_val *key = f->at;
    const yyjson_val *other = members_find(&f->other, val_slice(key));
    f->at = val_after(key + 1);
    if (!f->in_patch && !other) {
        over_add(&p->build, val_slice(key), val_json(key + 1));
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
    members_release(&f->other);
    return stack_pop(&p->stack);
}

/* The patched value in the arena; NULL: out of memory. */
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

allm_json *allm_json_patch(const allm_json *target, const allm_json *patch)
{
    struct allm_home *h = target && patch ? home_new(mem_default(), 1024)
                                          : NULL;
    if (!h)
        return NULL;
    if (over_is_none(target) || over_is_none(patch))
        return over_misused(h,
                            "allm_json_patch() needs two values that are well; "
                            "ask allm_json_error() of them");
    return over_done(h, apply_patch(home_arena(h), target, patch));
}
