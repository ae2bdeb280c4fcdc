/* schema_array.c - keywords about arrays and their items */
#include "json/json.h"
#include "json/schema_number.h"
#include "json/schema_rules.h"

#include <stdlib.h>

/* ------------------------------------------------------------- unique --- */

struct item {
    uint64_t hash;
    size_t index;
    const allm_json *value;
};

static int by_hash(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The items, with equal hashes next to each other; NULL: the check is over. */
static struct item *sort_items(struct check *k, const allm_json *array)
{
    size_t n = allm_json_count(array), bytes;
    struct item *items = NULL;
    arena_reset(&k->temp);
    if (mem_mul(n, sizeof *items, &bytes))
        items = arena_alloc(&k->temp, bytes);
    if (!items) {
        check_out_of_memory(k);
        return NULL;
    }
    const allm_json *v = NULL;
    for (size_t i = 0; i < n; i++) {
        v = allm_json_next(array, v);
        items[i] = (struct item){ value_hash(v), i, v };
    }
    qsort(items, n, sizeof *items, by_hash);
    return check_spend(k, n) ? items : NULL;
}

/* The earliest item that equals a previous one; NULL if there is none. */
static const struct item *find_twin(struct check *k, const struct item *items,
                                    size_t n, const struct item **first)
{
    const struct item *twin = NULL;
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = i + 1; j < n && items[j].hash == items[i].hash; j++) {
            if (!check_spend(k, 1))
                return NULL;
            if (twin && twin->index <= items[j].index)
                break;          /* later ones do not matter */
            if (!allm_json_equal(items[i].value, items[j].value))
                continue;
            *first = &items[i];
            twin = &items[j];
        }
    }
    return twin;
}

bool rule_unique_items(struct check *k, const struct rule *r,
                       const struct spot *s)
{
    size_t n = allm_json_count(s->value);
    if (n < 2 || !allm_json_true(r->value))
        return true;
    const struct item *first = NULL;
    const struct item *items = sort_items(k, s->value);
    const struct item *twin = items ? find_twin(k, items, n, &first) : NULL;
    if (!twin)
        return !k->over;
    return check_fault(k, r, s,
                       "expected items that differ, but %zu and %zu "
                       "are equal: %s",
                       first->index, twin->index, check_brief(k, twin->value));
}

/* ------------------------------------------------------- each of them --- */

bool rule_prefix_items(struct check *k, const struct rule *r,
                       const struct spot *s)
{
    const struct node_list *list = r->parts;
    const allm_json *item = NULL;
    bool ok = true;
    for (size_t i = 0; i < list->count && (ok || !k->quiet) && !k->over; i++) {
        item = allm_json_next(s->value, item);
        if (!item)
            break;
        ok = check_item(k, list->nodes[i], s, i, item) && ok;
        trail_add(k, (uint32_t)i);
    }
    return ok;
}

/* Check all items but the first `skip`. */
static bool check_rest(struct check *k, const struct one_node *one,
                       const struct spot *s)
{
    size_t n = allm_json_count(s->value);
    bool ok = true;
    if (n <= one->skip)
        return true;
    const allm_json *item = allm_json_at(s->value, one->skip);
    for (size_t i = one->skip; i < n && (ok || !k->quiet) && !k->over; i++) {
        ok = check_item(k, one->node, s, i, item) && ok;
        item = allm_json_next(s->value, item);
    }
    trail_add(k, TRAIL_ALL);
    return ok;
}

bool rule_items(struct check *k, const struct rule *r, const struct spot *s)
{
    if (allm_json_type_of(r->value) == ALLM_JSON_ARRAY)
        return rule_prefix_items(k, r, s);      /* as in draft 7 */
    return check_rest(k, r->parts, s);
}

bool rule_additional_items(struct check *k, const struct rule *r,
                           const struct spot *s)
{
    const allm_json *items = allm_json_get(r->node->source, "items");
    if (allm_json_type_of(items) != ALLM_JSON_ARRAY)
        return true;
    return check_rest(k, r->parts, s);
}

static bool fault_of_found(struct check *k, const struct rule *r,
                           const struct spot *s, const char *keyword,
                           const char *how, size_t n, size_t found)
{
    return check_fault_beside(
        k, r, keyword, s, "expected %s %zu %s \"contains\", got %zu", how, n,
        word_for(n, "item that fits", "items that fit"), found);
}

bool rule_contains(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct contains *c = r->parts;
    const allm_json *item = NULL;
    size_t found = 0;
    k->quiet++;
    for (size_t i = 0; !k->over; i++) {
        item = allm_json_next(s->value, item);
        if (!item)
            break;
        if (!check_item(k, c->node, s, i, item))
            continue;
        found++;
        trail_add(k, (uint32_t)i);
    }
    k->quiet--;
    if (found < c->min)
        return fault_of_found(k, r, s, c->has_min ? "minContains" : "contains",
                              "at least", c->min, found);
    if (found > c->max)
        return fault_of_found(k, r, s, "maxContains", "at most", c->max, found);
    return true;
}

bool rule_unevaluated_items(struct check *k, const struct rule *r,
                            const struct spot *s)
{
    const struct one_node *one = r->parts;
    size_t next = trail_add_rest(k, allm_json_count(s->value));
    size_t end = k->trail_count;
    bool ok = true;
    const allm_json *item = NULL;
    for (uint32_t i = 0; next < end && !k->over; i++) {
        item = allm_json_next(s->value, item);
        if (k->trail[next] != i)
            continue;
        ok = check_item(k, one->node, s, i, item) && ok;
        next++;
    }
    return ok;
}
