/*
 * schema.c - a JSON Schema in the words that Gemini knows
 *
 *      $ref, allOf, anyOf of one      put in place         (settle)
 *      type, enum, const              one type, or several (write_node)
 *      everything else                by the type          (write_typed)
 *
 * A schema that contains itself cannot be put in place: there it ends.
 */
#include "provider/gemini/schema.h"

#include "base/buf.h"
#include "json/json.h"
#include "json/pointer.h"

enum { MOST_NODES = 4000, MOST_DEPTH = 32, MOST_HOPS = 16 };

/* The references that led here. */
struct trail {
    const allm_json *target;
    const struct trail *up;
};

struct adapting {
    struct arena *arena;
    const allm_json *root;
    struct build out;
    struct buf path;            /* where we are in the schema */
    struct gemini_schema_losses losses;
    size_t nodes, depth;
    bool ordered, broken;
};

/* One schema, settled. */
struct node {
    const allm_json *schema;
    const struct trail *trail;
    bool nullable;
};

static bool is_type(const allm_json *v, allm_json_type type)
{
    return allm_json_type_of(v) == type;
}

static void key(struct adapting *s, const char *name)
{
    build_key(&s->out, slice_of(name));
}

static void word(struct adapting *s, const char *name, const char *value)
{
    key(s, name);
    build_text(&s->out, slice_of(value));
}

/* What is made on the way; NULL stays NULL, and breaks. */
static const allm_json *made(struct adapting *s, const allm_json *v)
{
    s->broken = s->broken || !v;
    return v ? v : json_empty_object();
}

/* ------------------------------------------------------------------- losses --- */

static void lose(struct adapting *s, const char *keyword)
{
    struct build *b = s->losses.list;
    if (!b || s->path.broken)
        return;
    build_object(b);
    if (s->losses.tool) {
        build_key(b, SLICE("tool"));
        build_text(b, slice_of(s->losses.tool));
    }
    build_key(b, SLICE("path"));
    build_text_copy(b, buf_slice(&s->path));
    build_key(b, SLICE("keyword"));
    build_text(b, slice_of(keyword));
    build_end(b);
}

static bool is_there(const allm_json *schema, const char *keyword)
{
    const allm_json *v = allm_json_get(schema, keyword);
    return v && !is_type(v, ALLM_JSON_NULL) &&
           !(is_type(v, ALLM_JSON_BOOL) && !allm_json_true(v));
}

/* Keywords that have no like over there. */
static void lose_unknown(struct adapting *s, const allm_json *schema)
{
    static const char *const keywords[] = {
        "not", "if", "dependentRequired", "dependentSchemas", "dependencies",
        "patternProperties", "propertyNames", "unevaluatedProperties",
        "unevaluatedItems", "contains", "uniqueItems", "multipleOf",
        "prefixItems", "additionalItems",
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (is_there(schema, keywords[i]))
            lose(s, keywords[i]);
    if (allm_json_count(allm_json_get(schema, "additionalProperties")))
        lose(s, "additionalProperties");
}

/* ----------------------------------------------------------------- settling --- */

static const allm_json *without(struct adapting *s, const allm_json *schema,
                                const char *keyword)
{
    return made(s, json_set(s->arena, schema, slice_of(keyword), NULL));
}

static bool has_text(const allm_json *list, struct slice text)
{
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (is_type(v, ALLM_JSON_TEXT) && slice_eq(json_slice(v), text))
            return true;
    return false;
}

/* Both lists of names, each name once. */
static const allm_json *join(struct adapting *s, const allm_json *one,
                             const allm_json *two)
{
    struct build b;
    build_init(&b, s->arena);
    build_array(&b);
    for (const allm_json *v = NULL; (v = allm_json_next(one, v));)
        build_value(&b, v);
    for (const allm_json *v = NULL; (v = allm_json_next(two, v));)
        if (!has_text(one, json_slice(v)))
            build_value(&b, v);
    build_end(&b);
    return made(s, build_done(&b));
}

/* What keeps to both schemas, as far as one can tell: the second counts. */
static const allm_json *combine(struct adapting *s, const allm_json *one,
                                const allm_json *two)
{
    const allm_json *props[] = { allm_json_get(one, "properties"),
                                 allm_json_get(two, "properties") };
    const allm_json *names[] = { allm_json_get(one, "required"),
                                 allm_json_get(two, "required") };
    const allm_json *both = made(s, json_merge(s->arena, one, two));
    if (props[0] && props[1]) {
        const allm_json *p = made(s, json_merge(s->arena, props[0], props[1]));
        both = made(s, json_set(s->arena, both, SLICE("properties"), p));
    }
    if (is_type(names[0], ALLM_JSON_ARRAY) &&
        is_type(names[1], ALLM_JSON_ARRAY))
        both = made(s, json_set(s->arena, both, SLICE("required"),
                                join(s, names[0], names[1])));
    return both;
}

static bool is_on(const struct trail *t, const allm_json *target)
{
    while (t && t->target != target)
        t = t->up;
    return t != NULL;
}

/* Where a reference leads; NULL: out of the schema. */
static const allm_json *target_of(const struct adapting *s,
                                  const allm_json *schema)
{
    struct slice ref = json_slice(allm_json_get(schema, "$ref"));
    if (!ref.len || *ref.ptr != '#')
        return NULL;
    const allm_json *target = ref.len == 1
                                  ? s->root
                                  : pointer_find(s->root, slice_skip(ref, 1));
    return is_type(target, ALLM_JSON_OBJECT) ? target : NULL;
}

/* Of what is around us only the type can be said. */
static const allm_json *type_only(struct adapting *s, const allm_json *schema,
                                  const allm_json *target)
{
    const allm_json *type = allm_json_get(target, "type");
    if (!type)
        return schema;
    return made(s, json_set(s->arena, schema, SLICE("type"), type));
}

static void put_ref(struct adapting *s, struct node *n)
{
    const allm_json *target = target_of(s, n->schema);
    const allm_json *rest = without(s, n->schema, "$ref");
    bool around = target && is_on(n->trail, target);
    struct trail *t = arena_alloc(s->arena, sizeof *t);
    if (!t) {
        s->broken = true;
        return;
    }
    if (!target || around) {
        lose(s, "$ref");
        n->schema = type_only(s, rest, target);
        return;
    }
    *t = (struct trail){ target, n->trail };
    n->trail = t;
    n->schema = combine(s, target, rest);
}

static void settle(struct adapting *s, struct node *n);

static void put_all(struct adapting *s, struct node *n)
{
    const allm_json *list = allm_json_get(n->schema, "allOf");
    const allm_json *all = without(s, n->schema, "allOf");
    if (allm_json_count(list) > 1)
        lose(s, "allOf");
    s->depth++;
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));) {
        struct node part = { .schema = e, .trail = n->trail };
        if (!is_type(e, ALLM_JSON_OBJECT) || s->depth > MOST_DEPTH)
            continue;
        settle(s, &part);
        all = combine(s, part.schema, all);
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

/* Choices but for null; the only one takes the place of the list. */
static void put_any(struct adapting *s, struct node *n, const char *keyword)
{
    struct build b;
    const allm_json *list = allm_json_get(n->schema, keyword);
    const allm_json *rest = without(s, n->schema, keyword);
    const allm_json *last = NULL;
    build_init(&b, s->arena);
    build_array(&b);
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));) {
        n->nullable = n->nullable || is_null(e);
        if (is_null(e))
            continue;
        build_value(&b, e);
        last = e;
    }
    build_end(&b);
    const allm_json *others = made(s, build_done(&b));
    if (allm_json_count(others) == 1 && is_type(last, ALLM_JSON_OBJECT))
        n->schema = combine(s, rest, last);
    else if (allm_json_count(others) == 0)
        n->schema = rest;
    else
        n->schema = made(s, json_set(s->arena, rest, SLICE("anyOf"), others));
    if (!strcmp(keyword, "oneOf") && allm_json_count(others) > 1)
        lose(s, keyword);
}

/* Without references and lists of schemas, but for several choices. */
static void settle(struct adapting *s, struct node *n)
{
    for (size_t hops = 0; hops < MOST_HOPS && !s->broken; hops++) {
        const allm_json *any = allm_json_get(n->schema, "anyOf");
        if (allm_json_get(n->schema, "$ref"))
            put_ref(s, n);
        else if (is_type(allm_json_get(n->schema, "allOf"), ALLM_JSON_ARRAY))
            put_all(s, n);
        else if (is_type(allm_json_get(n->schema, "oneOf"), ALLM_JSON_ARRAY))
            put_any(s, n, "oneOf");
        else if (is_type(any, ALLM_JSON_ARRAY) && allm_json_count(any) < 2)
            put_any(s, n, "anyOf");
        else
            break;
    }
    const allm_json *any = allm_json_get(n->schema, "anyOf");
    for (const allm_json *e = NULL; (e = allm_json_next(any, e));)
        if (is_null(e)) {
            put_any(s, n, "anyOf");
            settle(s, n);
            break;
        }
    if (allm_json_true(allm_json_get(n->schema, "nullable")))
        n->nullable = true;
}

/* -------------------------------------------------------------------- types --- */

enum type { NONE, OBJECT, ARRAY, STRING, NUMBER, INTEGER, BOOLEAN, NULL_TYPE };

static const struct {
    const char *name, *sent;
} types[] = {
    [NONE] = { "", NULL },
    [OBJECT] = { "object", "OBJECT" },
    [ARRAY] = { "array", "ARRAY" },
    [STRING] = { "string", "STRING" },
    [NUMBER] = { "number", "NUMBER" },
    [INTEGER] = { "integer", "INTEGER" },
    [BOOLEAN] = { "boolean", "BOOLEAN" },
    [NULL_TYPE] = { "null", "NULL" },
};

enum { TYPES = sizeof types / sizeof *types };

static enum type type_named(const allm_json *name)
{
    for (size_t i = 1; i < TYPES; i++)
        if (json_is(name, types[i].name) || json_is(name, types[i].sent))
            return (enum type)i;
    return NONE;
}

static enum type type_of_value(const allm_json *v)
{
    switch (allm_json_type_of(v)) {
    case ALLM_JSON_OBJECT:
        return OBJECT;
    case ALLM_JSON_ARRAY:
        return ARRAY;
    case ALLM_JSON_TEXT:
        return STRING;
    case ALLM_JSON_INT:
        return INTEGER;
    case ALLM_JSON_BOOL:
        return BOOLEAN;
    case ALLM_JSON_NULL:
        return NULL_TYPE;
    default:
        return v ? NUMBER : NONE;
    }
}

/* Of a schema that does not say it. */
static enum type guess_type(const allm_json *schema)
{
    static const struct {
        const char *keyword;
        enum type type;
    } hints[] = { { "properties", OBJECT }, { "items", ARRAY },
                  { "prefixItems", ARRAY }, { "pattern", STRING },
                  { "minLength", STRING },  { "maxLength", STRING } };
    const allm_json *values = allm_json_get(schema, "enum");
    if (allm_json_get(schema, "const"))
        return type_of_value(allm_json_get(schema, "const"));
    for (const allm_json *v = NULL; (v = allm_json_next(values, v));)
        if (!is_type(v, ALLM_JSON_NULL))
            return type_of_value(v);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (allm_json_get(schema, hints[i].keyword))
            return hints[i].type;
    return NONE;
}

/* The types of a schema but for null; how many. */
static size_t types_of(const allm_json *schema, enum type out[TYPES],
                       bool *nullable)
{
    size_t n = 0;
    const allm_json *list = allm_json_get(schema, "type");
    if (!is_type(list, ALLM_JSON_ARRAY)) {
        out[0] = list ? type_named(list) : guess_type(schema);
        return 1;
    }
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        enum type t = type_named(v);
        bool known = t == NONE;
        for (size_t i = 0; i < n; i++)
            known = known || out[i] == t;
        *nullable = *nullable || t == NULL_TYPE;
        if (!known && t != NULL_TYPE)
            out[n++] = t;
    }
    if (!n)
        out[n++] = *nullable ? NULL_TYPE : NONE;
    return n;
}

/* ----------------------------------------------------------------- keywords --- */

static void write_schema(struct adapting *s, const allm_json *schema,
                         const struct trail *trail);

/* A schema below: a keyword's own, one of its list, or one with a name. */
static void write_below(struct adapting *s, const allm_json *schema,
                        const struct trail *trail, size_t len)
{
    write_schema(s, schema, trail);
    if (!s->path.broken)
        s->path.len = len;
}

static void write_inner(struct adapting *s, const allm_json *schema,
                        const struct trail *trail, const char *keyword)
{
    size_t len = s->path.len;
    pointer_add_key(&s->path, slice_of(keyword));
    write_below(s, schema, trail, len);
}

static void write_element(struct adapting *s, const allm_json *schema,
                          const struct trail *trail, const char *keyword,
                          size_t index)
{
    size_t len = s->path.len;
    pointer_add_key(&s->path, slice_of(keyword));
    pointer_add_index(&s->path, index);
    write_below(s, schema, trail, len);
}

static void write_property(struct adapting *s, const allm_json *schema,
                           const struct trail *trail, struct slice name)
{
    size_t len = s->path.len;
    pointer_add_key(&s->path, SLICE("properties"));
    pointer_add_key(&s->path, name);
    write_below(s, schema, trail, len);
}

static void copy(struct adapting *s, const allm_json *schema,
                 const char *const *keywords)
{
    for (; *keywords; keywords++) {
        const allm_json *v = allm_json_get(schema, *keywords);
        if (!v || is_type(v, ALLM_JSON_NULL))
            continue;
        key(s, *keywords);
        build_value(&s->out, v);
    }
}

static void write_properties(struct adapting *s, const struct node *n)
{
    static const char *const limits[] = { "minProperties", "maxProperties",
                                          NULL };
    const allm_json *props = allm_json_get(n->schema, "properties");
    if (is_type(props, ALLM_JSON_OBJECT) && allm_json_count(props)) {
        key(s, "properties");
        build_object(&s->out);
        for (const allm_json *k = NULL; (k = allm_json_next(props, k));) {
            build_key(&s->out, json_slice(k));
            write_property(s, allm_json_value(k), n->trail, json_slice(k));
        }
        build_end(&s->out);
    }
    copy(s, n->schema, limits);
}

/* A name that has no property is refused. */
static void write_required(struct adapting *s, const allm_json *schema)
{
    const allm_json *names = allm_json_get(schema, "required");
    const allm_json *props = allm_json_get(schema, "properties");
    size_t known = 0;
    if (!is_type(names, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *v = NULL; (v = allm_json_next(names, v));)
        known += json_get(props, json_slice(v)) != NULL;
    if (known < allm_json_count(names))
        lose(s, "required");
    if (!known)
        return;
    key(s, "required");
    build_array(&s->out);
    for (const allm_json *v = NULL; (v = allm_json_next(names, v));)
        if (json_get(props, json_slice(v)))
            build_value(&s->out, v);
    build_end(&s->out);
}

static void write_order(struct adapting *s, const allm_json *schema)
{
    const allm_json *props = allm_json_get(schema, "properties");
    if (!s->ordered || allm_json_count(props) < 2 ||
        !is_type(props, ALLM_JSON_OBJECT))
        return;
    key(s, "propertyOrdering");
    build_array(&s->out);
    for (const allm_json *k = NULL; (k = allm_json_next(props, k));)
        build_text(&s->out, json_slice(k));
    build_end(&s->out);
}

static void write_object(struct adapting *s, const struct node *n)
{
    write_properties(s, n);
    write_required(s, n->schema);
    write_order(s, n->schema);
}

/* Items of a tuple are any of its places. */
static void write_places(struct adapting *s, const allm_json *places,
                         const struct trail *trail, const char *keyword)
{
    size_t i = 0;
    if (allm_json_count(places) == 1) {
        write_element(s, allm_json_at(places, 0), trail, keyword, 0);
        return;
    }
    build_object(&s->out);
    key(s, "anyOf");
    build_array(&s->out);
    for (const allm_json *e = NULL; (e = allm_json_next(places, e));)
        write_element(s, e, trail, keyword, i++);
    build_end(&s->out);
    build_end(&s->out);
}

/* Items are demanded. */
static void write_array(struct adapting *s, const struct node *n)
{
    static const char *const limits[] = { "minItems", "maxItems", NULL };
    const allm_json *items = allm_json_get(n->schema, "items");
    const allm_json *places = allm_json_get(n->schema, "prefixItems");
    bool tuple = is_type(items, ALLM_JSON_ARRAY);   /* of older drafts */
    if (tuple)
        lose(s, "items");
    key(s, "items");
    if (tuple && allm_json_count(items))
        write_places(s, items, n->trail, "items");
    else if (is_type(places, ALLM_JSON_ARRAY) && allm_json_count(places))
        write_places(s, places, n->trail, "prefixItems");
    else
        write_inner(s, items, n->trail, "items");
    copy(s, n->schema, limits);
}

/* An enum of texts; false: it cannot be said. */
static bool write_enum(struct adapting *s, const allm_json *schema)
{
    const allm_json *one = allm_json_get(schema, "const");
    const allm_json *list = allm_json_get(schema, "enum");
    if (one && !is_type(one, ALLM_JSON_TEXT))
        return false;
    for (const allm_json *v = NULL; !one && (v = allm_json_next(list, v));)
        if (!is_type(v, ALLM_JSON_TEXT) && !is_type(v, ALLM_JSON_NULL))
            return false;
    key(s, "enum");
    build_array(&s->out);
    if (one)
        build_value(&s->out, one);
    for (const allm_json *v = NULL; !one && (v = allm_json_next(list, v));)
        if (is_type(v, ALLM_JSON_TEXT))
            build_value(&s->out, v);
    build_end(&s->out);
    return true;
}

static void write_values(struct adapting *s, const allm_json *schema,
                         enum type type)
{
    const allm_json *one = allm_json_get(schema, "const");
    bool any = one || is_type(allm_json_get(schema, "enum"), ALLM_JSON_ARRAY);
    if (any && (type != STRING || !write_enum(s, schema)))
        lose(s, one ? "const" : "enum");
}

static void write_format(struct adapting *s, const allm_json *schema,
                         enum type type)
{
    static const struct {
        const char *format;
        enum type type;
    } known[] = { { "date-time", STRING }, { "enum", STRING },
                  { "float", NUMBER },     { "double", NUMBER },
                  { "int32", INTEGER },    { "int64", INTEGER } };
    const allm_json *format = allm_json_get(schema, "format");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type && json_is(format, known[i].format)) {
            word(s, "format", known[i].format);
            return;
        }
    if (format)
        lose(s, "format");
}

/* A limit that the value may not touch; of whole numbers the next one. */
static void write_bound(struct adapting *s, const allm_json *schema,
                        enum type type, const char *plain,
                        const char *exclusive, int64_t step)
{
    int64_t n;
    double x;
    const allm_json *at = allm_json_get(schema, plain);
    const allm_json *beyond = allm_json_get(schema, exclusive);
    bool whole = type == INTEGER && is_type(beyond, ALLM_JSON_INT) &&
                 allm_json_int64(beyond, &n) && n > INT64_MIN && n < INT64_MAX;
    bool number = json_finite(beyond, &x);
    if (is_there(schema, exclusive) && (!whole || at))
        lose(s, exclusive);
    if (!at && !number)
        return;
    key(s, plain);
    if (at)
        build_value(&s->out, at);
    else if (whole)
        build_int(&s->out, n + step);
    else
        build_value(&s->out, beyond);
}

static void write_typed(struct adapting *s, const struct node *n,
                        enum type type)
{
    static const char *const lengths[] = { "minLength", "maxLength", "pattern",
                                           NULL };
    if (types[type].sent)
        word(s, "type", types[type].sent);
    write_format(s, n->schema, type);
    write_values(s, n->schema, type);
    if (type == OBJECT)
        write_object(s, n);
    else if (type == ARRAY)
        write_array(s, n);
    else if (type == STRING)
        copy(s, n->schema, lengths);
    if (type != NUMBER && type != INTEGER)
        return;
    write_bound(s, n->schema, type, "minimum", "exclusiveMinimum", 1);
    write_bound(s, n->schema, type, "maximum", "exclusiveMaximum", -1);
}

/* -------------------------------------------------------------------- nodes --- */

/* Each choice with what holds for all of them. */
static void write_choices(struct adapting *s, const struct node *n)
{
    const allm_json *list = allm_json_get(n->schema, "anyOf");
    const allm_json *rest = without(s, n->schema, "anyOf");
    size_t i = 0;
    rest = without(s, rest, "title");
    rest = without(s, rest, "description");
    rest = without(s, rest, "nullable");
    key(s, "anyOf");
    build_array(&s->out);
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));)
        write_element(s, is_type(e, ALLM_JSON_OBJECT) ? combine(s, rest, e) : e,
                      n->trail, "anyOf", i++);
    build_end(&s->out);
}

static void write_types(struct adapting *s, const struct node *n,
                        const enum type *list, size_t count)
{
    key(s, "anyOf");
    build_array(&s->out);
    for (size_t i = 0; i < count; i++) {
        build_object(&s->out);
        write_typed(s, n, list[i]);
        build_end(&s->out);
    }
    build_end(&s->out);
}

static void write_node(struct adapting *s, struct node *n)
{
    static const char *const words[] = { "title", "description", NULL };
    enum type list[TYPES];
    const allm_json *values = allm_json_get(n->schema, "enum");
    size_t count = types_of(n->schema, list, &n->nullable);
    for (const allm_json *v = NULL; (v = allm_json_next(values, v));)
        n->nullable = n->nullable || is_type(v, ALLM_JSON_NULL);
    copy(s, n->schema, words);
    if (n->nullable && !(count == 1 && list[0] == NULL_TYPE)) {
        key(s, "nullable");
        build_bool(&s->out, true);
    }
    if (is_type(allm_json_get(n->schema, "anyOf"), ALLM_JSON_ARRAY)) {
        write_choices(s, n);
        return;
    }
    lose_unknown(s, n->schema);
    if (count > 1)
        write_types(s, n, list, count);
    else
        write_typed(s, n, list[0]);
}

static void write_schema(struct adapting *s, const allm_json *schema,
                         const struct trail *trail)
{
    struct node n = { .schema = schema, .trail = trail };
    build_object(&s->out);
    if (is_type(schema, ALLM_JSON_BOOL) && !allm_json_true(schema))
        lose(s, "false");
    if (s->depth >= MOST_DEPTH || s->nodes >= MOST_NODES) {
        lose(s, "depth");
    } else if (is_type(schema, ALLM_JSON_OBJECT) && !s->broken) {
        s->nodes++;
        s->depth++;
        settle(s, &n);
        write_node(s, &n);
        s->depth--;
    }
    build_end(&s->out);
}

const allm_json *gemini_schema_adapt(struct arena *a, const allm_json *schema,
                                     bool ordered,
                                     struct gemini_schema_losses losses)
{
    struct adapting s = { .arena = a,
                          .root = schema,
                          .losses = losses,
                          .ordered = ordered };
    const struct trail top = { schema, NULL };
    build_init(&s.out, a);
    buf_init(&s.path, a, 64 * 1024);
    write_schema(&s, schema, &top);
    return s.broken ? NULL : build_done(&s.out);
}
