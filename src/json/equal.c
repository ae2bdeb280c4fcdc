/*
 * equal.c - compare two JSON values for equality
 *
 * The order of members does not matter; numbers are equal by value (1 and
 * 1.0), strings by their bytes.  Members are usually in the same order, so the
 * one at the same position is tried before searching; a big object is indexed
 * at the first search.
 */
#include "json/json.h"
#include "json/members.h"
#include "json/number.h"
#include "json/stack.h"
#include "json/val.h"

struct pair {                   /* two containers that are being compared */
    const yyjson_val *a, *a_end;        /* the next of a */
    const yyjson_val *b, *b_end;        /* its counterpart in b by position */
    const yyjson_val *b_object;         /* NULL: arrays */
    struct members keys;                   /* of b, once `indexed` */
    bool indexed;
};

enum { PAIRS = 8 };

static bool is_number(const yyjson_val *v)
{
    return val_type(v) == YYJSON_TYPE_NUM || val_type(v) == YYJSON_TYPE_RAW;
}

/* Are they equal, as far as one can see without looking into containers? */
static bool same_outside(const yyjson_val *a, const yyjson_val *b)
{
    if (is_number(a) && is_number(b))
        return number_compare(a, b) == 0;
    if (val_type(a) != val_type(b))
        return false;
    switch (val_type(a)) {
    case YYJSON_TYPE_STR:  return slice_eq(val_slice(a), val_slice(b));
    case YYJSON_TYPE_BOOL: return val_subtype(a) == val_subtype(b);
    case YYJSON_TYPE_ARR:
    case YYJSON_TYPE_OBJ:  return val_len(a) == val_len(b);
    case YYJSON_TYPE_NULL: return true;
    default:               return false;
    }
}

/* Find the member of b whose key is `key`; its value, or NULL. */
static const yyjson_val *find_partner(struct pair *p, const yyjson_val *key,
                                      struct mem mem)
{
    if (p->b < p->b_end && slice_eq(val_slice(p->b), val_slice(key)))
        return p->b + 1;
    if (!p->indexed) {
        p->indexed = true;
        if (!members_init(&p->keys, p->b_object, mem))
            return NULL;
    }
    const yyjson_val *found = members_find(&p->keys, val_slice(key));
    if (!found)
        return NULL;
    p->b = found;               /* those after it may agree again */
    return found + 1;
}

/* The next two values to compare; false if b has no counterpart. */
static bool take_next(struct pair *p, struct mem mem, const yyjson_val **a,
                      const yyjson_val **b)
{
    *a = p->a;
    *b = p->b;
    if (p->b_object) {
        *a = p->a + 1;
        *b = find_partner(p, p->a, mem);
        if (!*b)
            return false;
    }
    p->a = val_after(*a);
    p->b = val_after(*b);
    return true;
}

static bool push_pair(struct stack *pairs, const yyjson_val *a,
                      const yyjson_val *b)
{
    struct pair *p = stack_push(pairs);
    if (!p)
        return false;
    *p = (struct pair){
        .a = a + 1, .a_end = val_after(a), .b = b + 1, .b_end = val_after(b),
        .b_object = val_type(b) == YYJSON_TYPE_OBJ ? b : NULL,
    };
    return true;
}

static struct pair *pop_pair(struct stack *pairs)
{
    struct pair *p = stack_top(pairs);
    if (p->indexed)
        members_release(&p->keys);
    return stack_pop(pairs);
}

static bool same(struct stack *pairs, const yyjson_val *a, const yyjson_val *b,
                 struct mem mem)
{
    for (;;) {
        if (!same_outside(a, b) || (val_holds(a) && !push_pair(pairs, a, b)))
            return false;
        struct pair *p = stack_top(pairs);
        while (p && p->a == p->a_end)
            p = pop_pair(pairs);
        if (!p)
            return true;
        if (!take_next(p, mem, &a, &b))
            return false;
    }
}

bool allm_json_equal(const allm_json *a, const allm_json *b)
{
    if (!a || !b || allm_json_type_of(a) == ALLM_JSON_NONE)
        return false;
    struct pair first[PAIRS];
    struct stack pairs;
    stack_init(&pairs, mem_default(), sizeof *first, first, PAIRS);
    bool ok = same(&pairs, val_of(a), val_of(b), mem_default());
    while (stack_top(&pairs))
        pop_pair(&pairs);
    stack_release(&pairs);
    return ok;
}

/* The values are contiguous, so nothing has to be searched. */
bool json_same(const allm_json *x, const allm_json *y)
{
    const yyjson_val *a = val_of(x), *b = val_of(y);
    if (!a || !b || val_span(a) != val_span(b))
        return false;
    for (const yyjson_val *end = a + val_span(a); a < end; a++, b++) {
        if (a->tag != b->tag)
            return false;
        if (val_has_text(a) ? !slice_same(a->uni.str, b->uni.str, val_len(a))
                            : val_type(a) != YYJSON_TYPE_NULL &&
                                  val_type(a) != YYJSON_TYPE_BOOL &&
                                  a->uni.u64 != b->uni.u64)
            return false;
    }
    return true;
}
