/*
 * schema_resolve.c - replace references in a schema by their targets
 *
 * A schema that contains itself cannot be replaced: it is cut off there.
 */
#include "provider/gemini/schema_resolve.h"

#include "json/json.h"
#include "json/pointer.h"

enum { MAX_HOPS = 16 };

/* NULL means out of memory. */
static const allm_json *check_made(struct gemini_adapting *s,
                                   const allm_json *v)
{
    s->broken = s->broken || !v;
    return v ? v : json_empty_object();
}

void gemini_schema_lose(struct gemini_adapting *s, const char *keyword)
{
    struct build *b = s->losses.list;
    if (!b || s->path.broken)
        return;
    build_object(b);
    build_text_if(b, "tool", s->losses.tool);
    build_text_copy_at(b, "path", buf_slice(&s->path));
    build_text_at(b, "keyword", slice_of(keyword));
    build_end(b);
}

const allm_json *gemini_schema_without(struct gemini_adapting *s,
                                       const allm_json *schema,
                                       const char *keyword)
{
    return check_made(s, json_set(s->arena, schema, slice_of(keyword), NULL));
}

static bool has_text(const allm_json *list, struct slice text)
{
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (json_is_type(v, ALLM_JSON_TEXT) && slice_eq(json_slice(v), text))
            return true;
    return false;
}

/* The names of both lists, each one once. */
static const allm_json *join_names(struct gemini_adapting *s,
                                   const allm_json *one, const allm_json *two)
{
    struct build b = build_array_in(s->arena);
    for (const allm_json *v = NULL; (v = allm_json_next(one, v));)
        build_value(&b, v);
    for (const allm_json *v = NULL; (v = allm_json_next(two, v));)
        if (!has_text(one, json_slice(v)))
            build_value(&b, v);
    return check_made(s, build_finish(&b));
}

const allm_json *gemini_schema_combine(struct gemini_adapting *s,
                                       const allm_json *one,
                                       const allm_json *two)
{
    const allm_json *props[] = { allm_json_get(one, "properties"),
                                 allm_json_get(two, "properties") };
    const allm_json *names[] = { allm_json_get(one, "required"),
                                 allm_json_get(two, "required") };
    const allm_json *both = check_made(s, json_merge(s->arena, one, two));
    if (props[0] && props[1]) {
        const allm_json *p =
            check_made(s, json_merge(s->arena, props[0], props[1]));
        both = check_made(s, json_set(s->arena, both, SLICE("properties"), p));
    }
    if (json_is_type(names[0], ALLM_JSON_ARRAY) &&
        json_is_type(names[1], ALLM_JSON_ARRAY))
        both = check_made(s, json_set(s->arena, both, SLICE("required"),
                                      join_names(s, names[0], names[1])));
    return both;
}

static bool is_on_trail(const struct gemini_trail *t, const allm_json *target)
{
    while (t && t->target != target)
        t = t->up;
    return t != NULL;
}

/* The target of a reference; NULL: it is not in this schema. */
static const allm_json *target_of(const struct gemini_adapting *s,
                                  const allm_json *schema)
{
    struct slice ref = json_slice(allm_json_get(schema, "$ref"));
    if (!ref.len || *ref.ptr != '#')
        return NULL;
    const allm_json *target = ref.len == 1
                                  ? s->root
                                  : pointer_find(s->root, slice_skip(ref, 1));
    return json_is_type(target, ALLM_JSON_OBJECT) ? target : NULL;
}

/* Of a schema that contains this one, only the type can be sent. */
static const allm_json *type_only(struct gemini_adapting *s,
                                  const allm_json *schema,
                                  const allm_json *target)
{
    const allm_json *type = allm_json_get(target, "type");
    if (!type)
        return schema;
    return check_made(s, json_set(s->arena, schema, SLICE("type"), type));
}

static void resolve_ref(struct gemini_adapting *s, struct gemini_node *n)
{
    const allm_json *target = target_of(s, n->schema);
    const allm_json *rest = gemini_schema_without(s, n->schema, "$ref");
    bool is_cycle = target && is_on_trail(n->trail, target);
    struct gemini_trail *t = arena_alloc(s->arena, sizeof *t);
    if (!t) {
        s->broken = true;
        return;
    }
    if (!target || is_cycle) {
        gemini_schema_lose(s, "$ref");
        n->schema = type_only(s, rest, target);
        return;
    }
    *t = (struct gemini_trail){ target, n->trail };
    n->trail = t;
    n->schema = gemini_schema_combine(s, target, rest);
}

static void resolve_all_of(struct gemini_adapting *s, struct gemini_node *n)
{
    const allm_json *list = allm_json_get(n->schema, "allOf");
    const allm_json *all = gemini_schema_without(s, n->schema, "allOf");
    if (allm_json_count(list) > 1)
        gemini_schema_lose(s, "allOf");
    s->depth++;
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));) {
        struct gemini_node part = { .schema = e, .trail = n->trail };
        if (!json_is_type(e, ALLM_JSON_OBJECT) ||
            s->depth > GEMINI_SCHEMA_DEPTH)
            continue;
        gemini_schema_resolve(s, &part);
        all = gemini_schema_combine(s, part.schema, all);
        n->trail = part.trail;
        n->nullable = n->nullable || part.nullable;
    }
    s->depth--;
    n->schema = all;
}

static bool is_null(const allm_json *schema)
{
    return json_is(allm_json_get(schema, "type"), "null");
}

/* Remove null from the choices; a single choice replaces the list. */
static void resolve_choices(struct gemini_adapting *s, struct gemini_node *n,
                            const char *keyword)
{
    const allm_json *list = allm_json_get(n->schema, keyword);
    const allm_json *rest = gemini_schema_without(s, n->schema, keyword);
    const allm_json *last = NULL;
    struct build b = build_array_in(s->arena);
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));) {
        n->nullable = n->nullable || is_null(e);
        if (is_null(e))
            continue;
        build_value(&b, e);
        last = e;
    }
    const allm_json *others = check_made(s, build_finish(&b));
    if (allm_json_count(others) == 1 && json_is_type(last, ALLM_JSON_OBJECT))
        n->schema = gemini_schema_combine(s, rest, last);
    else if (allm_json_count(others) == 0)
        n->schema = rest;
    else
        n->schema =
            check_made(s, json_set(s->arena, rest, SLICE("anyOf"), others));
    if (!strcmp(keyword, "oneOf") && allm_json_count(others) > 1)
        gemini_schema_lose(s, keyword);
}

void gemini_schema_resolve(struct gemini_adapting *s, struct gemini_node *n)
{
    for (size_t hops = 0; hops < MAX_HOPS && !s->broken; hops++) {
        const allm_json *any = allm_json_get(n->schema, "anyOf");
        if (allm_json_get(n->schema, "$ref"))
            resolve_ref(s, n);
        else if (json_is_type(allm_json_get(n->schema, "allOf"),
                              ALLM_JSON_ARRAY))
            resolve_all_of(s, n);
        else if (json_is_type(allm_json_get(n->schema, "oneOf"),
                              ALLM_JSON_ARRAY))
            resolve_choices(s, n, "oneOf");
        else if (json_is_type(any, ALLM_JSON_ARRAY) && allm_json_count(any) < 2)
            resolve_choices(s, n, "anyOf");
        else
            break;
    }
    const allm_json *any = allm_json_get(n->schema, "anyOf");
    for (const allm_json *e = NULL; (e = allm_json_next(any, e));)
        if (is_null(e)) {
            resolve_choices(s, n, "anyOf");
            gemini_schema_resolve(s, n);
            break;
        }
    if (allm_json_true(allm_json_get(n->schema, "nullable")))
        n->nullable = true;
}
