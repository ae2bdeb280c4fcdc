/* schema_object.c - keywords about objects and their members */
#include "json/json.h"
#include "json/members.h"
#include "json/schema_rules.h"

static bool is_false(const struct node *n)
{
    return allm_json_type_of(n->source) == ALLM_JSON_BOOL &&
           !allm_json_true(n->source);
}

/* ---------------------------------------------------- which there are --- */

static bool open_keys(struct check *k, struct members *keys,
                      const struct spot *s)
{
    if (!check_spend(k, allm_json_count(s->value)))
        return false;
    return members_init(keys, val_of(s->value), k->scratch.mem) ||
           check_out_of_memory(k);
}

/* Are all names present?  `since` is the member that requires them, or has ptr
 * NULL. */
static bool has_names(struct check *k, const struct rule *r,
                      const struct spot *s, const struct members *keys,
                      const allm_json *names, struct slice since)
{
    bool ok = true;
    const allm_json *name = NULL;
    check_spend(k, allm_json_count(names));
    while (!k->over && (ok || !k->quiet) &&
           (name = allm_json_next(names, name))) {
        if (members_find(keys, json_slice(name)))
            continue;
        ok = check_fault(k, r, s, "missing property %s%s%s",
                         check_brief(k, name),
                         since.ptr ? ", required by " : "",
                         since.ptr ? check_brief_text(k, since) : "");
    }
    return ok;
}

bool rule_required(struct check *k, const struct rule *r, const struct spot *s)
{
    struct members keys;
    bool ok = open_keys(k, &keys, s);
    if (ok) {
        ok = has_names(k, r, s, &keys, r->value, (struct slice){ NULL, 0 });
        members_release(&keys);
    }
    return ok;
}

/* dependentRequired, dependentSchemas, and draft 7's dependencies, which
 * combines both. */
bool rule_dependent(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct node_map *map = r->parts;
    struct members keys;
    if (!open_keys(k, &keys, s))
        return false;
    bool ok = check_spend(k, map->count);
    for (size_t i = 0; i < map->count && (ok || !k->quiet); i++) {
        const struct node_entry *e = &map->entries[i];
        if (!members_find(&keys, e->name))
            continue;
        if (e->node)
            ok = check_node(k, e->node, s) && ok;
        else
            ok = has_names(k, r, s, &keys, e->names, e->name) && ok;
    }
    members_release(&keys);
    return ok;
}

/* ------------------------------------------------------- each of them --- */

bool rule_property_names(struct check *k, const struct rule *r,
                         const struct spot *s)
{
    const struct one_node *one = r->parts;
    bool ok = true;
    const allm_json *key = NULL;
    while ((ok || !k->quiet) && (key = allm_json_next(s->value, key))) {
        struct place place = { s->place, json_slice(key), 0 };
        struct spot name = { &place, key, KIND_STRING, true };
        ok = check_node(k, one->node, &name) && ok;
    }
    return ok;
}

static const struct node_entry *find_entry(const struct node_map *m,
                                           struct slice name)
{
    size_t low = 0, high = m ? m->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct node_entry *e = &m->entries[middle];
        int order = name_order(e->name, name);
        if (order == 0)
            return e;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool rule_properties(struct check *k, const struct rule *r,
                     const struct spot *s)
{
    bool ok = check_spend(k, allm_json_count(s->value));
    const allm_json *key = NULL;
    for (uint32_t i = 0; (ok || !k->quiet) && !k->over; i++) {
        key = allm_json_next(s->value, key);
        if (!key)
            break;
        const struct node_entry *e = find_entry(r->parts, json_slice(key));
        if (!e)
            continue;
        ok = check_member(k, e->node, s, key) && ok;
        trail_add(k, i);
    }
    return ok;
}

bool rule_pattern_properties(struct check *k, const struct rule *r,
                             const struct spot *s)
{
    const struct node_map *map = r->parts;
    bool ok = true;
    const allm_json *key = NULL;
    for (uint32_t i = 0; (ok || !k->quiet) && !k->over; i++) {
        key = allm_json_next(s->value, key);
        if (!key)
            break;
        for (size_t j = 0; j < map->count; j++) {
            const struct node_entry *e = &map->entries[j];
            if (!check_match(k, e->pattern, json_slice(key)))
                continue;
            ok = check_member(k, e->node, s, key) && ok;
            trail_add(k, i);
        }
    }
    return ok;
}

/* Is the member covered by properties or patternProperties? */
static bool is_named(struct check *k, const struct one_node *one,
                     struct slice name)
{
    if (find_entry(one->properties, name))
        return true;
    for (size_t i = 0; one->patterns && i < one->patterns->count; i++)
        if (check_match(k, one->patterns->entries[i].pattern, name))
            return true;
    return false;
}

/* "expected a, b" if there are names to list. */
static const char *expected_names(struct check *k, const struct rule *r)
{
    const allm_json *properties = allm_json_get(r->node->source, "properties");
    const allm_json *key = NULL;
    struct buf b = buf_in(&k->scratch, 64 * 1024);
    if (k->quiet || allm_json_count(properties) == 0)
        return "";
    buf_text(&b, "; expected ");
    size_t start = b.len;
    while (b.len < start + BRIEF_LENGTH &&
           (key = allm_json_next(properties, key))) {
        buf_text(&b, b.len > start ? ", " : "");
        brief_write_text(&b, json_slice(key));
    }
    if (key && allm_json_next(properties, key))
        buf_text(&b, ", ...");
    return buf_slice(&b).ptr;
}

static bool fault_of_member(struct check *k, const struct rule *r,
                            const struct spot *s, const allm_json *key)
{
    const allm_json *value = allm_json_value(key);
    struct place place = { s->place, json_slice(key), 0 };
    struct spot member = { &place, value, kind_of(value), false };
    return check_fault(k, r, &member, "unexpected property %s%s",
                       check_brief(k, key), expected_names(k, r));
}

/* A member that no other keyword covers. */
static bool check_other(struct check *k, const struct rule *r,
                        const struct spot *s, const allm_json *key)
{
    const struct one_node *one = r->parts;
    if (is_false(one->node))
        return fault_of_member(k, r, s, key);
    return check_member(k, one->node, s, key);
}

bool rule_additional_properties(struct check *k, const struct rule *r,
                                const struct spot *s)
{
    bool ok = check_spend(k, allm_json_count(s->value));
    const allm_json *key = NULL;
    for (uint32_t i = 0; (ok || !k->quiet) && !k->over; i++) {
        key = allm_json_next(s->value, key);
        if (!key)
            break;
        if (is_named(k, r->parts, json_slice(key)))
            continue;
        ok = check_other(k, r, s, key) && ok;
        trail_add(k, i);
    }
    return ok;
}

bool rule_unevaluated_properties(struct check *k, const struct rule *r,
                                 const struct spot *s)
{
    size_t next = trail_add_rest(k, allm_json_count(s->value));
    size_t end = k->trail_count;
    bool ok = true;
    const allm_json *key = NULL;
    for (uint32_t i = 0; next < end && !k->over; i++) {
        key = allm_json_next(s->value, key);
        if (k->trail[next] != i)
            continue;
        ok = check_other(k, r, s, key) && ok;
        next++;
    }
    return ok;
}
