/*
 * schema.c - translate a JSON Schema into the subset that Gemini accepts
 *
 *      $ref, allOf, anyOf of one      replaced             (schema_resolve.c)
 *      type, enum, const              one type, or several (write_node)
 *      everything else                by the type          (write_typed)
 */
#include "provider/gemini/schema.h"

#include "provider/gemini/schema_resolve.h"
#include "provider/gemini/schema_types.h"
#include "json/json.h"
#include "json/pointer.h"

enum { MAX_NODES = 4000 };

static void write_key(struct gemini_adapting *s, const char *name)
{
    build_key(&s->out, slice_of(name));
}

static void write_name(struct gemini_adapting *s, const char *name,
                       const char *value)
{
    write_key(s, name);
    build_text(&s->out, slice_of(value));
}

static bool is_set(const allm_json *schema, const char *keyword)
{
    const allm_json *v = allm_json_get(schema, keyword);
    return v && !json_is_type(v, ALLM_JSON_NULL) &&
           !(json_is_type(v, ALLM_JSON_BOOL) && !allm_json_true(v));
}

/* Report keywords that Gemini has no equivalent for. */
static void lose_unknown(struct gemini_adapting *s, const allm_json *schema)
{
    static const char *const keywords[] = {
        "not", "if", "dependentRequired", "dependentSchemas", "dependencies",
        "patternProperties", "propertyNames", "unevaluatedProperties",
        "unevaluatedItems", "contains", "uniqueItems", "multipleOf",
        "prefixItems", "additionalItems",
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (is_set(schema, keywords[i]))
            gemini_schema_lose(s, keywords[i]);
    if (allm_json_count(allm_json_get(schema, "additionalProperties")))
        gemini_schema_lose(s, "additionalProperties");
}

/* ----------------------------------------------------------- keywords --- */

static void write_schema(struct gemini_adapting *s, const allm_json *schema,
                         const struct gemini_trail *trail);

/* Write a schema inside this one; the path then returns to `len`. */
static void write_below(struct gemini_adapting *s, const allm_json *schema,
                        const struct gemini_trail *trail, size_t len)
{
    write_schema(s, schema, trail);
    if (!s->path.broken)
        s->path.len = len;
}

static void write_inner(struct gemini_adapting *s, const allm_json *schema,
                        const struct gemini_trail *trail, const char *keyword)
{
    size_t len = s->path.len;
    pointer_add_key(&s->path, slice_of(keyword));
    write_below(s, schema, trail, len);
}

static void write_element(struct gemini_adapting *s, const allm_json *schema,
                          const struct gemini_trail *trail, const char *keyword,
                          size_t index)
{
    size_t len = s->path.len;
    pointer_add_key(&s->path, slice_of(keyword));
    pointer_add_index(&s->path, index);
    write_below(s, schema, trail, len);
}

static void write_property(struct gemini_adapting *s, const allm_json *schema,
                           const struct gemini_trail *trail, struct slice name)
{
    size_t len = s->path.len;
    pointer_add_key(&s->path, SLICE("properties"));
    pointer_add_key(&s->path, name);
    write_below(s, schema, trail, len);
}

static void copy_keywords(struct gemini_adapting *s, const allm_json *schema,
                          const char *const *keywords)
{
    for (; *keywords; keywords++) {
        const allm_json *v = allm_json_get(schema, *keywords);
        if (!v || json_is_type(v, ALLM_JSON_NULL))
            continue;
        write_key(s, *keywords);
        build_value(&s->out, v);
    }
}

static void write_properties(struct gemini_adapting *s,
                             const struct gemini_node *n)
{
    static const char *const limits[] = { "minProperties", "maxProperties",
                                          NULL };
    const allm_json *props = allm_json_get(n->schema, "properties");
    if (json_is_type(props, ALLM_JSON_OBJECT) && allm_json_count(props)) {
        write_key(s, "properties");
        build_object(&s->out);
        for (const allm_json *k = NULL; (k = allm_json_next(props, k));) {
            build_key(&s->out, json_slice(k));
            write_property(s, allm_json_value(k), n->trail, json_slice(k));
        }
        build_end(&s->out);
    }
    copy_keywords(s, n->schema, limits);
}

/* Gemini rejects a required name that is not a property. */
static void write_required(struct gemini_adapting *s, const allm_json *schema)
{
    const allm_json *names = allm_json_get(schema, "required");
    const allm_json *props = allm_json_get(schema, "properties");
    size_t known = 0;
    if (!json_is_type(names, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *v = NULL; (v = allm_json_next(names, v));)
        known += json_get(props, json_slice(v)) != NULL;
    if (known < allm_json_count(names))
        gemini_schema_lose(s, "required");
    if (!known)
        return;
    write_key(s, "required");
    build_array(&s->out);
    for (const allm_json *v = NULL; (v = allm_json_next(names, v));)
        if (json_get(props, json_slice(v)))
            build_value(&s->out, v);
    build_end(&s->out);
}

static void write_order(struct gemini_adapting *s, const allm_json *schema)
{
    const allm_json *props = allm_json_get(schema, "properties");
    if (!s->ordered || allm_json_count(props) < 2 ||
        !json_is_type(props, ALLM_JSON_OBJECT))
        return;
    write_key(s, "propertyOrdering");
    build_array(&s->out);
    for (const allm_json *k = NULL; (k = allm_json_next(props, k));)
        build_text(&s->out, json_slice(k));
    build_end(&s->out);
}

static void write_object(struct gemini_adapting *s, const struct gemini_node *n)
{
    write_properties(s, n);
    write_required(s, n->schema);
    write_order(s, n->schema);
}

/* A tuple becomes an array whose items are any of the tuple's schemas. */
static void write_places(struct gemini_adapting *s, const allm_json *places,
                         const struct gemini_trail *trail, const char *keyword)
{
    size_t i = 0;
    if (allm_json_count(places) == 1) {
        write_element(s, allm_json_at(places, 0), trail, keyword, 0);
        return;
    }
    build_object(&s->out);
    write_key(s, "anyOf");
    build_array(&s->out);
    for (const allm_json *e = NULL; (e = allm_json_next(places, e));)
        write_element(s, e, trail, keyword, i++);
    build_end(&s->out);
    build_end(&s->out);
}

/* Gemini rejects an array without "items". */
static void write_array(struct gemini_adapting *s, const struct gemini_node *n)
{
    static const char *const limits[] = { "minItems", "maxItems", NULL };
    const allm_json *items = allm_json_get(n->schema, "items");
    const allm_json *places = allm_json_get(n->schema, "prefixItems");
    bool tuple = json_is_type(items, ALLM_JSON_ARRAY);  /* in older drafts */
    if (tuple)
        gemini_schema_lose(s, "items");
    write_key(s, "items");
    if (tuple && allm_json_count(items))
        write_places(s, items, n->trail, "items");
    else if (json_is_type(places, ALLM_JSON_ARRAY) && allm_json_count(places))
        write_places(s, places, n->trail, "prefixItems");
    else
        write_inner(s, items, n->trail, "items");
    copy_keywords(s, n->schema, limits);
}

/* Only an enum of strings can be sent; false: this is not one. */
static bool write_enum(struct gemini_adapting *s, const allm_json *schema)
{
    const allm_json *one = allm_json_get(schema, "const");
    const allm_json *list = allm_json_get(schema, "enum");
    if (one && !json_is_type(one, ALLM_JSON_TEXT))
        return false;
    for (const allm_json *v = NULL; !one && (v = allm_json_next(list, v));)
        if (!json_is_type(v, ALLM_JSON_TEXT) &&
            !json_is_type(v, ALLM_JSON_NULL))
            return false;
    write_key(s, "enum");
    build_array(&s->out);
    if (one)
        build_value(&s->out, one);
    for (const allm_json *v = NULL; !one && (v = allm_json_next(list, v));)
        if (json_is_type(v, ALLM_JSON_TEXT))
            build_value(&s->out, v);
    build_end(&s->out);
    return true;
}

static void write_values(struct gemini_adapting *s, const allm_json *schema,
                         enum gemini_type type)
{
    const allm_json *one = allm_json_get(schema, "const");
    bool any = one ||
               json_is_type(allm_json_get(schema, "enum"), ALLM_JSON_ARRAY);
    if (any && (type != GEMINI_STRING || !write_enum(s, schema)))
        gemini_schema_lose(s, one ? "const" : "enum");
}

static void write_format(struct gemini_adapting *s, const allm_json *schema,
                         enum gemini_type type)
{
    static const struct {
        const char *format;
        enum gemini_type type;
    } known[] = { { "date-time", GEMINI_STRING }, { "enum", GEMINI_STRING },
                  { "float", GEMINI_NUMBER },     { "double", GEMINI_NUMBER },
                  { "int32", GEMINI_INTEGER },    { "int64", GEMINI_INTEGER } };
    const allm_json *format = allm_json_get(schema, "format");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type && json_is(format, known[i].format)) {
            write_name(s, "format", known[i].format);
            return;
        }
    if (format)
        gemini_schema_lose(s, "format");
}

/* An exclusive limit is sent as an inclusive one; for integers, the next one is
 * exact. */
static void write_bound(struct gemini_adapting *s, const allm_json *schema,
                        enum gemini_type type, const char *plain,
                        const char *exclusive, int64_t step)
{
    int64_t n;
    double x;
    const allm_json *inclusive = allm_json_get(schema, plain);
    const allm_json *limit = allm_json_get(schema, exclusive);
    bool is_exact = type == GEMINI_INTEGER &&
                    json_is_type(limit, ALLM_JSON_INT) &&
                    allm_json_int64(limit, &n) && n > INT64_MIN &&
                    n < INT64_MAX;
    bool is_number = json_finite(limit, &x);
    if (is_set(schema, exclusive) && (!is_exact || inclusive))
        gemini_schema_lose(s, exclusive);
    if (!inclusive && !is_number)
        return;
    write_key(s, plain);
    if (inclusive)
        build_value(&s->out, inclusive);
    else if (is_exact)
        build_int(&s->out, n + step);
    else
        build_value(&s->out, limit);
}

static void write_typed(struct gemini_adapting *s, const struct gemini_node *n,
                        enum gemini_type type)
{
    static const char *const lengths[] = { "minLength", "maxLength", "pattern",
                                           NULL };
    if (gemini_schema_type_name(type))
        write_name(s, "type", gemini_schema_type_name(type));
    write_format(s, n->schema, type);
    write_values(s, n->schema, type);
    if (type == GEMINI_OBJECT)
        write_object(s, n);
    else if (type == GEMINI_ARRAY)
        write_array(s, n);
    else if (type == GEMINI_STRING)
        copy_keywords(s, n->schema, lengths);
    if (type != GEMINI_NUMBER && type != GEMINI_INTEGER)
        return;
    write_bound(s, n->schema, type, "minimum", "exclusiveMinimum", 1);
    write_bound(s, n->schema, type, "maximum", "exclusiveMaximum", -1);
}

/* -------------------------------------------------------------- nodes --- */

/* Each choice, combined with what is required of all of them. */
static void write_choices(struct gemini_adapting *s,
                          const struct gemini_node *n)
{
    const allm_json *list = allm_json_get(n->schema, "anyOf");
    const allm_json *rest = gemini_schema_without(s, n->schema, "anyOf");
    size_t i = 0;
    rest = gemini_schema_without(s, rest, "title");
    rest = gemini_schema_without(s, rest, "description");
    rest = gemini_schema_without(s, rest, "nullable");
    write_key(s, "anyOf");
    build_array(&s->out);
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));)
        write_element(s,
                      json_is_type(e, ALLM_JSON_OBJECT)
                          ? gemini_schema_combine(s, rest, e)
                          : e,
                      n->trail, "anyOf", i++);
    build_end(&s->out);
}

static void write_types(struct gemini_adapting *s, const struct gemini_node *n,
                        const enum gemini_type *list, size_t count)
{
    write_key(s, "anyOf");
    build_array(&s->out);
    for (size_t i = 0; i < count; i++) {
        build_object(&s->out);
        write_typed(s, n, list[i]);
        build_end(&s->out);
    }
    build_end(&s->out);
}

static void write_node(struct gemini_adapting *s, struct gemini_node *n)
{
    static const char *const annotations[] = { "title", "description", NULL };
    enum gemini_type list[GEMINI_TYPES];
    const allm_json *values = allm_json_get(n->schema, "enum");
    size_t count = gemini_schema_types(n->schema, list, &n->nullable);
    for (const allm_json *v = NULL; (v = allm_json_next(values, v));)
        n->nullable = n->nullable || json_is_type(v, ALLM_JSON_NULL);
    copy_keywords(s, n->schema, annotations);
    if (n->nullable && !(count == 1 && list[0] == GEMINI_NULL)) {
        write_key(s, "nullable");
        build_bool(&s->out, true);
    }
    if (json_is_type(allm_json_get(n->schema, "anyOf"), ALLM_JSON_ARRAY)) {
        write_choices(s, n);
        return;
    }
    lose_unknown(s, n->schema);
    if (count > 1)
        write_types(s, n, list, count);
    else
        write_typed(s, n, list[0]);
}

static void write_schema(struct gemini_adapting *s, const allm_json *schema,
                         const struct gemini_trail *trail)
{
    struct gemini_node n = { .schema = schema, .trail = trail };
    build_object(&s->out);
    if (json_is_type(schema, ALLM_JSON_BOOL) && !allm_json_true(schema))
        gemini_schema_lose(s, "false");
    if (s->depth >= GEMINI_SCHEMA_DEPTH || s->nodes >= MAX_NODES) {
        gemini_schema_lose(s, "depth");
    } else if (json_is_type(schema, ALLM_JSON_OBJECT) && !s->broken) {
        s->nodes++;
        s->depth++;
        gemini_schema_resolve(s, &n);
        write_node(s, &n);
        s->depth--;
    }
    build_end(&s->out);
}

const allm_json *gemini_schema_adapt(struct arena *a, const allm_json *schema,
                                     bool ordered,
                                     struct gemini_schema_losses losses)
{
    struct gemini_adapting s = { .arena = a,
                          .root = schema,
                          .losses = losses,
                          .ordered = ordered };
    const struct gemini_trail top = { schema, NULL };
    build_init(&s.out, a);
    buf_init(&s.path, a, 64 * 1024);
    write_schema(&s, schema, &top);
    return s.broken ? NULL : build_done(&s.out);
}
