/*
 * schema_keywords.c - the table of keywords, and what values each may have
 *
 * A keyword that is not in the table is ignored, as the standard requires:
 * title, default, examples, format, contentEncoding and any others.
 */
#include "json/schema_keywords.h"

#include "json/json.h"
#include "json/schema_compile.h"
#include "json/schema_number.h"
#include "json/schema_rules.h"

#include <stdlib.h>

/* --------------------------------------------------------- plain ones --- */

static void wrong_type(struct compiler *c, const struct rule *r,
                       const char *expected)
{
    compile_fault(c, r, "invalid_type", "expected %s", expected);
}

static const struct place *place_of(struct compiler *c, const struct rule *r)
{
    return compile_place(c, r->node->place, slice_of(r->keyword->name), 0);
}

static const struct place *member_of(struct compiler *c, const struct rule *r,
                                     struct slice name)
{
    return compile_place(c, place_of(c, r), name, 0);
}

/* Any value is valid. */
static void make_any(struct compiler *c, struct rule *r)
{
    (void)c;
    (void)r;
}

static void make_text(struct compiler *c, struct rule *r)
{
    if (!(kind_of(r->value) & KIND_STRING))
        wrong_type(c, r, "a string");
}

static void make_boolean(struct compiler *c, struct rule *r)
{
    if (!(kind_of(r->value) & KIND_BOOLEAN))
        wrong_type(c, r, "true or false");
}

static void make_number(struct compiler *c, struct rule *r)
{
    if (!(kind_of(r->value) & KIND_NUMBER))
        wrong_type(c, r, "a number");
}

static void make_divisor(struct compiler *c, struct rule *r)
{
    make_number(c, r);
    if ((kind_of(r->value) & KIND_NUMBER) && !decimal_can_divide(r->value))
        compile_fault(c, r, "out_of_range",
                      "expected a number greater than 0 "
                      "whose digits fit 64 bits");
}

/* A count; false if it is not one. */
static bool read_count(const allm_json *v, size_t *count)
{
    uint64_t n;
    if (!(kind_of(v) & KIND_INTEGER) || allm_json_number(v) < 0)
        return false;
    *count = allm_json_uint64(v, &n) && n < SIZE_MAX ? (size_t)n : SIZE_MAX;
    return true;
}

static void make_limit(struct compiler *c, struct rule *r)
{
    struct limit *limit = compile_alloc(c, sizeof *limit);
    if (limit && !read_count(r->value, &limit->count))
        wrong_type(c, r, "an integer of 0 or more");
    r->parts = limit;
}

static const struct pattern *read_pattern(struct compiler *c,
                                          const struct place *place,
                                          struct slice text)
{
    const char *fault = NULL;
    const struct pattern *p = pattern_new(c->arena, text, &fault);
    if (fault)
        compile_fault_at(c, place, "invalid_pattern",
                         "%s cannot be used as a pattern: %s",
                         compile_quote(c, text), fault);
    return p;
}

static void make_pattern(struct compiler *c, struct rule *r)
{
    make_text(c, r);
    r->parts = read_pattern(c, place_of(c, r), json_slice(r->value));
}

/* One type, or a list of them. */
static void make_types(struct compiler *c, struct rule *r)
{
    struct types *types = compile_alloc(c, sizeof *types);
    bool is_list = kind_of(r->value) & KIND_ARRAY;
    const allm_json *name = is_list ? NULL : r->value;
    if (!types)
        return;
    r->parts = types;
    if (is_list && allm_json_count(r->value) == 0)
        compile_fault(c, r, "empty", "expected at least one type");
    while (!is_list || (name = allm_json_next(r->value, name))) {
        unsigned kind = kind_named(json_slice(name));
        if (!(kind_of(name) & KIND_STRING))
            wrong_type(c, r, "the name of a type, or a list of names");
        else if (!kind)
            compile_fault(c, r, "unknown_type", "there is no type %s",
                          compile_quote(c, json_slice(name)));
        types->kinds |= kind;
        if (!is_list)
            break;
    }
}

static int by_hash(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void make_options(struct compiler *c, struct rule *r)
{
    size_t n = allm_json_count(r->value);
    struct options *o = compile_alloc(c, sizeof *o + n * sizeof o->list[0]);
    const allm_json *v = NULL;
    if (!(kind_of(r->value) & KIND_ARRAY))
        wrong_type(c, r, "an array");
    else if (o)
        while ((v = allm_json_next(r->value, v))) {
            o->kinds |= kind_of(v);
            o->list[o->count++] = (struct option){ value_hash(v), v };
        }
    if (o)
        qsort(o->list, o->count, sizeof o->list[0], by_hash);
    r->parts = o;
}

static void check_names(struct compiler *c, const struct place *place,
                        const allm_json *names)
{
    const allm_json *name = NULL;
    bool ok = kind_of(names) & KIND_ARRAY;
    while (ok && (name = allm_json_next(names, name)))
        ok = kind_of(name) & KIND_STRING;
    if (!ok)
        compile_fault_at(c, place, "invalid_type",
                         "expected an array of property names");
}

static void make_names(struct compiler *c, struct rule *r)
{
    check_names(c, place_of(c, r), r->value);
}

/* ------------------------------------------------------------ schemas --- */

static const struct node *make_node(struct compiler *c, const struct rule *r,
                                    const struct place *place,
                                    const allm_json *v)
{
    return compile_node(c, r->keyword->name, place, r->node->resource, v);
}

static const void *parts_of(const struct rule *r, const char *name)
{
    const struct rule *sibling = compile_sibling(r, name);
    return sibling ? sibling->parts : NULL;
}

/* The number of items that prefixItems, or items as a list, describes. */
static size_t count_prefix(const struct rule *r)
{
    size_t n = allm_json_count(allm_json_get(r->node->source, "prefixItems"));
    const allm_json *items = allm_json_get(r->node->source, "items");
    bool is_list = allm_json_type_of(items) == ALLM_JSON_ARRAY;
    return is_list ? allm_json_count(items) : n;
}

static void make_schema(struct compiler *c, struct rule *r)
{
    struct one_node *one = compile_alloc(c, sizeof *one);
    if (!one)
        return;
    one->node = make_node(c, r, place_of(c, r), r->value);
    one->properties = parts_of(r, "properties");
    one->patterns = parts_of(r, "patternProperties");
    one->skip = count_prefix(r);
    r->parts = one;
}

static void make_unevaluated(struct compiler *c, struct rule *r)
{
    c->schema->tracks = true;
    make_schema(c, r);
}

static void make_list(struct compiler *c, struct rule *r)
{
    size_t n = allm_json_count(r->value);
    struct node_list *list =
        compile_alloc(c, sizeof *list + n * sizeof list->nodes[0]);
    const struct place *place = place_of(c, r);
    const allm_json *v = NULL;
    if (!(kind_of(r->value) & KIND_ARRAY) || n == 0) {
        wrong_type(c, r, "an array of schemas, not empty");
        return;
    }
    r->parts = list;
    for (size_t i = 0; list && i < n; i++) {
        v = allm_json_next(r->value, v);
        const struct place *at = compile_place(c, place,
                                               (struct slice){ NULL, 0 }, i);
        list->nodes[list->count++] = make_node(c, r, at, v);
    }
}

/* A schema, or a list of them, as in draft 7. */
static void make_items(struct compiler *c, struct rule *r)
{
    if (kind_of(r->value) & KIND_ARRAY)
        make_list(c, r);
    else
        make_schema(c, r);
}

static struct node_map *new_map(struct compiler *c, struct rule *r)
{
    size_t n = allm_json_count(r->value);
    struct node_map *map =
        compile_alloc(c, sizeof *map + n * sizeof map->entries[0]);
    if (!(kind_of(r->value) & KIND_OBJECT)) {
        wrong_type(c, r, "an object");
        return NULL;
    }
    r->parts = map;
    return map;
}

/* An object of schemas; NULL if it is not one. */
static struct node_map *fill_map(struct compiler *c, struct rule *r)
{
    struct node_map *map = new_map(c, r);
    const struct place *place = place_of(c, r);
    const allm_json *key = NULL;
    while (map && (key = allm_json_next(r->value, key))) {
        struct slice name = json_slice(key);
        const struct place *at = compile_place(c, place, name, 0);
        map->entries[map->count++] = (struct node_entry){
            .name = name,
            .node = make_node(c, r, at, allm_json_value(key)),
        };
    }
    return map;
}

static void make_map(struct compiler *c, struct rule *r)
{
    fill_map(c, r);
}

static int by_name(const void *a, const void *b)
{
    const struct node_entry *x = a, *y = b;
    return name_order(x->name, y->name);
}

static void make_properties(struct compiler *c, struct rule *r)
{
    struct node_map *map = fill_map(c, r);
    if (map)
        qsort(map->entries, map->count, sizeof map->entries[0], by_name);
}

static void make_pattern_properties(struct compiler *c, struct rule *r)
{
    struct node_map *map = fill_map(c, r);
    for (size_t i = 0; map && i < map->count; i++)
        map->entries[i].pattern = read_pattern(
            c, member_of(c, r, map->entries[i].name), map->entries[i].name);
}

static void make_dependent_required(struct compiler *c, struct rule *r)
{
    struct node_map *map = new_map(c, r);
    const allm_json *key = NULL;
    while (map && (key = allm_json_next(r->value, key))) {
        struct slice name = json_slice(key);
        const allm_json *names = allm_json_value(key);
        check_names(c, member_of(c, r, name), names);
        map->entries[map->count++] = (struct node_entry){ .name = name,
                                                          .names = names };
    }
}

/* Draft 7: each member is a list of names or a schema. */
static void make_dependencies(struct compiler *c, struct rule *r)
{
    struct node_map *map = new_map(c, r);
    const allm_json *key = NULL;
    while (map && (key = allm_json_next(r->value, key))) {
        const allm_json *value = allm_json_value(key);
        struct node_entry e = { .name = json_slice(key) };
        const struct place *place = member_of(c, r, e.name);
        if (kind_of(value) & KIND_ARRAY) {
            check_names(c, place, value);
            e.names = value;
        } else {
            e.node = make_node(c, r, place, value);
        }
        map->entries[map->count++] = e;
    }
}

/* ---------------------------------------------------- with neighbours --- */

static void make_contains(struct compiler *c, struct rule *r)
{
    struct contains *contains = compile_alloc(c, sizeof *contains);
    const struct limit *min = parts_of(r, "minContains");
    const struct limit *max = parts_of(r, "maxContains");
    if (!contains)
        return;
    contains->has_min = min != NULL;
    contains->min = min ? min->count : 1;
    contains->max = max ? max->count : SIZE_MAX;
    contains->node = make_node(c, r, place_of(c, r), r->value);
    r->parts = contains;
}

static void make_condition(struct compiler *c, struct rule *r)
{
    struct condition *condition = compile_alloc(c, sizeof *condition);
    const struct one_node *then = parts_of(r, "then");
    const struct one_node *otherwise = parts_of(r, "else");
    if (!condition)
        return;
    condition->when = make_node(c, r, place_of(c, r), r->value);
    condition->then = then ? then->node : NULL;
    condition->otherwise = otherwise ? otherwise->node : NULL;
    r->parts = condition;
}

static void make_ref(struct compiler *c, struct rule *r)
{
    struct ref *ref = compile_alloc(c, sizeof *ref);
    make_text(c, r);
    r->parts = ref;
    if (ref && (kind_of(r->value) & KIND_STRING))
        compile_later(c, r, ref);
}

/*
 * In the order in which they are checked.  A keyword that depends on another
 * one follows it; the unevaluated ones depend on all.
 */
const struct keyword schema_keywords[] = {
    { "$id",            make_text,     NULL, 0 },
    { "$anchor",        make_text,     NULL, 0 },
    { "$dynamicAnchor", make_text,     NULL, 0 },
    { "$defs",          make_map,      NULL, 0 },
    { "definitions",    make_map,      NULL, 0 },       /* draft 7 */

    { "type",  make_types,   rule_type,  KIND_ANY },
    { "const", make_any,     rule_const, KIND_ANY },
    { "enum",  make_options, rule_enum,  KIND_ANY },

    { "multipleOf",       make_divisor, rule_multiple_of, KIND_NUMBER },
    { "minimum",          make_number,  rule_minimum,     KIND_NUMBER },
    { "maximum",          make_number,  rule_maximum,     KIND_NUMBER },
    { "exclusiveMinimum", make_number,  rule_exclusive_minimum, KIND_NUMBER },
    { "exclusiveMaximum", make_number,  rule_exclusive_maximum, KIND_NUMBER },

    { "minLength", make_limit,   rule_min_length, KIND_STRING },
    { "maxLength", make_limit,   rule_max_length, KIND_STRING },
    { "pattern",   make_pattern, rule_pattern,    KIND_STRING },

    { "minProperties",     make_limit,  rule_min_count,      KIND_OBJECT },
    { "maxProperties",     make_limit,  rule_max_count,      KIND_OBJECT },
    { "required",          make_names,  rule_required,       KIND_OBJECT },
    { "dependentRequired", make_dependent_required, rule_dependent,
      KIND_OBJECT },
    { "propertyNames",     make_schema, rule_property_names, KIND_OBJECT },
    { "properties",        make_properties, rule_properties, KIND_OBJECT },
    { "patternProperties", make_pattern_properties, rule_pattern_properties,
      KIND_OBJECT },
    { "additionalProperties", make_schema, rule_additional_properties,
      KIND_OBJECT },

    { "minItems",    make_limit,   rule_min_count,    KIND_ARRAY },
    { "maxItems",    make_limit,   rule_max_count,    KIND_ARRAY },
    { "uniqueItems", make_boolean, rule_unique_items, KIND_ARRAY },
    { "prefixItems", make_list,    rule_prefix_items, KIND_ARRAY },
    { "items",       make_items,   rule_items,        KIND_ARRAY },
    { "additionalItems", make_schema, rule_additional_items,
      KIND_ARRAY },                                     /* draft 7 */
    { "minContains", make_limit,    NULL,          0 },
    { "maxContains", make_limit,    NULL,          0 },
    { "contains",    make_contains, rule_contains, KIND_ARRAY },

    { "$ref",             make_ref,    rule_ref,       KIND_ANY },
    { "$dynamicRef",      make_ref,    rule_ref,       KIND_ANY },
    { "allOf",            make_list,   rule_all_of,    KIND_ANY },
    { "anyOf",            make_list,   rule_any_of,    KIND_ANY },
    { "oneOf",            make_list,   rule_one_of,    KIND_ANY },
    { "not",              make_schema, rule_not,       KIND_ANY },
    { "then",             make_schema, NULL,           0 },
    { "else",             make_schema, NULL,           0 },
    { "if",               make_condition, rule_if,     KIND_ANY },
    { "dependentSchemas", make_map,    rule_dependent, KIND_OBJECT },
    { "dependencies", make_dependencies, rule_dependent,
      KIND_OBJECT },                                    /* draft 7 */

    { "unevaluatedItems", make_unevaluated, rule_unevaluated_items,
      KIND_ARRAY },
    { "unevaluatedProperties", make_unevaluated, rule_unevaluated_properties,
      KIND_OBJECT },
    { NULL, NULL, NULL, 0 },
};
