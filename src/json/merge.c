/* merge.c - the public allm_json_merge: combine the members of two objects */
#include "json/members.h"
#include "json/over.h"

/* The members of `under`, each replaced by that of `over` if it has one. */
static bool add_replaced(struct build *b, const yyjson_val *under,
                         const yyjson_val *over)
{
    struct members in_over;
    bool ok = members_init(&in_over, over, b->arena->mem);
    const yyjson_val *end = val_after(under);
    for (const yyjson_val *k = under + 1; ok && k < end; k = val_after(k + 1)) {
        const yyjson_val *other = members_find(&in_over, val_slice(k));
        over_add(b, val_slice(k), val_json(other ? other + 1 : k + 1));
    }
    members_release(&in_over);
    return ok;
}

/* The members of `over` that `under` lacks. */
static bool add_new(struct build *b, const yyjson_val *under,
                    const yyjson_val *over)
{
    struct members in_under;
    bool ok = members_init(&in_under, under, b->arena->mem);
    const yyjson_val *end = val_after(over);
    for (const yyjson_val *k = over + 1; ok && k < end; k = val_after(k + 1))
        if (!members_find(&in_under, val_slice(k)))
            over_add(b, val_slice(k), val_json(k + 1));
    members_release(&in_under);
    return ok;
}

const allm_json *json_merge(struct arena *a, const allm_json *under,
                            const allm_json *over)
{
    struct build b = build_object_in(a);
    bool ok = add_replaced(&b, over_object(under), over_object(over)) &&
              add_new(&b, over_object(under), over_object(over));
    return ok ? build_finish(&b) : NULL;
}

allm_json *allm_json_merge(const allm_json *a, const allm_json *b)
{
    struct allm_home *h = a && b ? home_new(mem_default(), 1024) : NULL;
    if (!h)
        return NULL;
    if (!over_is_object(a) || !over_is_object(b))
        return over_misused(h, "allm_json_merge() needs two objects");
    return over_done(h, json_merge(home_arena(h), a, b));
}
