/*
 * schema_logic.c - keywords that apply other schemas to the same value
 *
 * Which of several schemas is valid is determined without recording faults.
 * Only if none is do we check again and record them, to report the first fault
 * of the closest one; so the work is not doubled at every level.
 */
#include "json/schema_rules.h"

bool rule_ref(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct ref *ref = r->parts;
    const struct node *target = NULL;
    if (ref->dynamic.ptr)
        target = check_dynamic(k, ref->dynamic);
    return check_node(k, target ? target : ref->target, s);
}

bool rule_all_of(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct node_list *list = r->parts;
    bool ok = true;
    for (size_t i = 0; i < list->count && (ok || !k->quiet) && !k->over; i++)
        ok = check_node(k, list->nodes[i], s) && ok;
    return ok;
}

static bool fault_of_none(struct check *k, const struct rule *r,
                          const struct spot *s)
{
    const struct node_list *list = r->parts;
    size_t closest;
    const char *words = check_explain(k, list, s, &closest);
    if (!*words)
        return check_fault(k, r, s, "fits none of the %zu schemas",
                           list->count);
    return check_fault(k, r, s,
                       "fits none of the %zu schemas; the closest, "
                       "%s/%zu, says: %s",
                       list->count, r->keyword->name, closest, words);
}

bool rule_any_of(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct node_list *list = r->parts;
    bool ok = false;
    for (size_t i = 0; i < list->count && !k->over; i++) {
        ok = check_quietly(k, list->nodes[i], s) || ok;
        if (ok && !k->schema->tracks)
            break;
    }
    return ok || k->over ? ok : fault_of_none(k, r, s);
}

bool rule_one_of(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct node_list *list = r->parts;
    size_t first = 0, second = 0, fitting = 0;
    for (size_t i = 0; i < list->count && fitting < 2 && !k->over; i++)
        if (check_quietly(k, list->nodes[i], s))
            *(fitting++ ? &second : &first) = i;
    if (fitting == 1 || k->over)
        return !k->over;
    if (fitting == 0)
        return fault_of_none(k, r, s);
    return check_fault(k, r, s,
                       "expected to fit exactly one schema, fits "
                       "oneOf/%zu and oneOf/%zu",
                       first, second);
}

bool rule_not(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct one_node *one = r->parts;
    size_t trail = k->trail_count;
    bool fits = check_quietly(k, one->node, s);
    k->trail_count = trail;
    return !fits ? !k->over
                 : check_fault(k, r, s, "fits the schema under \"not\": %s",
                               check_brief_typed(k, s->value));
}

bool rule_if(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct condition *c = r->parts;
    bool holds = check_quietly(k, c->when, s);
    const struct node *n = holds ? c->then : c->otherwise;
    return !n || check_node(k, n, s);
}
