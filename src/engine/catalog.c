/*
 * catalog.c - what models can do and cost
 *
 *      {"models": [{"provider": "openai", "id": "gpt-4o-mini",
 *                   "aliases": ["gpt-4o-mini-2024-07-18"],
 *                   "capabilities": {"tools": {"enabled": true},
 *                                    "json_native": true, "vision": true},
 *                   "limits": {"context": 128000, "output": 16384},
 *                   "pricing": {"input": 0.15, "output": 0.6}}, ...]}
 *
 * Prices are dollars for a million tokens.  Only "id" must be there: what is
 * not known is left out, and then forbids nothing.  Other members are ignored,
 * so that a document may say more than we read.
 *
 * A catalog never changes once it is made; any number of threads may read it.
 */
#include "engine/catalog.h"

#include "base/home.h"
#include "base/status.h"
#include "data/path.h"
#include "engine/catalog_shipped.h"
#include "json/json.h"
#include "json/parse.h"

#include <stdint.h>

struct model {
    allm_model_ref ref;
    const allm_json *aliases;
};

struct allm_catalog {
    struct allm_home *home;     /* owns all of it, this struct included */
    const allm_error *error;
    size_t count;
    struct model *models;
};

/* ---------------------------------------------------------------- reading --- */

/* A place in the document, and what is wrong with it. */
struct reader {
    struct arena *arena;
    const allm_error *error;
};

static bool refuse(struct reader *r, const struct path *at, const char *what)
{
    struct buf place;
    buf_init(&place, r->arena, 4096);
    path_spell(&place, at);
    r->error = place.broken ? status_nomem()
                            : status_error(r->arena, ALLM_ERR_VALIDATION,
                                           "invalid_catalog",
                                           "%s of the catalog must be %s",
                                           place.ptr, what);
    return false;
}

static bool absent(const allm_json *v)
{
    return !v || allm_json_type_of(v) == ALLM_JSON_NULL;
}

/* A text without NUL inside; absent gives NULL. */
static bool read_text(struct reader *r, const struct path *model,
                      const allm_json *object, const char *name,
                      const char **out)
{
    struct path at = PATH_KEY(model, name);
    const allm_json *v = allm_json_get(object, name);
    struct slice s = json_slice(v);
    if (absent(v))
        return true;
    if (!s.len || memchr(s.ptr, 0, s.len))
        return refuse(r, &at, "a text that is not empty");
    *out = s.ptr;
    return true;
}

static bool read_map(struct reader *r, const struct path *model,
                     const allm_json *object, const char *name,
                     const allm_json **out)
{
    struct path at = PATH_KEY(model, name);
    const allm_json *v = allm_json_get(object, name);
    if (absent(v))
        return true;
    if (allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return refuse(r, &at, "an object");
    *out = v;
    return true;
}

static bool read_aliases(struct reader *r, const struct path *model,
                         const allm_json *object, const allm_json **out)
{
    struct path at = PATH_KEY(model, "aliases");
    const allm_json *v = allm_json_get(object, "aliases");
    if (absent(v))
        return true;
    bool fits = allm_json_type_of(v) == ALLM_JSON_ARRAY;
    for (const allm_json *e = NULL; fits && (e = allm_json_next(v, e));)
        fits = allm_json_type_of(e) == ALLM_JSON_TEXT;
    *out = v;
    return fits || refuse(r, &at, "a list of texts");
}

static bool read_model(struct reader *r, const struct path *at,
                       const allm_json *v, struct model *m)
{
    struct path id = PATH_KEY(at, "id");
    allm_model_ref *ref = &m->ref;
    *m = (struct model){ .ref = { .size = sizeof *ref } };
    if (allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return refuse(r, at, "an object");
    if (absent(allm_json_get(v, "id")))
        return refuse(r, &id, "the name of the model");
    return read_text(r, at, v, "id", &ref->id) &&
           read_text(r, at, v, "provider", &ref->provider) &&
           read_aliases(r, at, v, &m->aliases) &&
           read_map(r, at, v, "capabilities", &ref->capabilities) &&
           read_map(r, at, v, "limits", &ref->limits) &&
           read_map(r, at, v, "pricing", &ref->pricing) &&
           read_map(r, at, v, "metadata", &ref->metadata);
}

/* The models of a document that lives as long as the catalog. */
static bool read_models(struct reader *r, allm_catalog *c,
                        const allm_json *document)
{
    struct path list = PATH_KEY(NULL, "models");
    const allm_json *models = allm_json_get(document, "models");
    if (allm_json_type_of(models) != ALLM_JSON_ARRAY)
        return refuse(r, &list, "a list of models");
    size_t n = allm_json_count(models), i = 0;
    c->models = n <= SIZE_MAX / sizeof *c->models
                    ? arena_alloc(r->arena, n * sizeof *c->models)
                    : NULL;
    if (!c->models) {
        r->error = status_nomem();
        return false;
    }
    for (const allm_json *m = NULL; (m = allm_json_next(models, m)); i++) {
        struct path at = PATH_INDEX(&list, i);
        if (!read_model(r, &at, m, &c->models[i]))
            return false;
    }
    c->count = n;
    return true;
}

static const allm_json *take_document(struct reader *r, const allm_json *given)
{
    struct json_limits limits;
    const allm_error *why = given ? allm_json_error(given) : NULL;
    if (why) {                  /* a text that was no JSON */
        r->error = status_retell(r->arena, why);
        return NULL;
    }
    if (given) {
        const allm_json *copy = json_copy(r->arena, given);
        r->error = copy ? NULL : status_nomem();
        return copy;
    }
    struct slice shipped = { (const char *)catalog_shipped,
                             catalog_shipped_len };
    json_limits_from(&limits, NULL);
    return json_parse(r->arena, shipped, limits, &r->error);
}

/* --------------------------------------------------------------- its life --- */

allm_catalog *allm_catalog_new(const allm_json *document)
{
    struct allm_home *home = home_new(mem_default(), json_size(document));
    allm_catalog *c = home ? arena_zero(home_arena(home), sizeof *c) : NULL;
    if (!c) {
        home_drop(home);
        return NULL;
    }
    struct reader r = { .arena = home_arena(home) };
    c->home = home;
    const allm_json *mine = take_document(&r, document);
    if (mine)
        read_models(&r, c, mine);
    c->error = r.error;
    if (c->error != status_nomem())
        return c;
    home_drop(home);
    return NULL;
}

const allm_error *allm_catalog_error(const allm_catalog *c)
{
    return c ? c->error : status_nomem();
}

allm_catalog *allm_catalog_keep(const allm_catalog *c)
{
    if (c)
        home_keep(c->home);
    return (allm_catalog *)(uintptr_t)c;    /* only its home changes */
}

void allm_catalog_free(allm_catalog *c)
{
    if (c)
        home_drop(c->home);
}

/* ---------------------------------------------------------------- finding --- */

/* Is s made of these two, with the character between them? */
static bool joined(struct slice s, struct slice a, char between, struct slice b)
{
    return s.len == a.len + 1 + b.len && slice_starts(s, a) &&
           s.ptr[a.len] == between && slice_eq(slice_skip(s, a.len + 1), b);
}

/* "provider:id" or "id@provider". */
static bool qualified(struct slice s, const allm_model_ref *ref,
                      struct slice id)
{
    struct slice provider = slice_of(ref->provider);
    return provider.len &&
           (joined(s, provider, ':', id) || joined(s, id, '@', provider));
}

static bool is_whole(const struct model *m, struct slice s)
{
    return qualified(s, &m->ref, slice_of(m->ref.id));
}

static bool is_bare(const struct model *m, struct slice s)
{
    return slice_is(s, m->ref.id);
}

static bool is_alias(const struct model *m, struct slice s)
{
    for (const allm_json *a = NULL; (a = allm_json_next(m->aliases, a));)
        if (slice_eq(s, json_slice(a)) || qualified(s, &m->ref, json_slice(a)))
            return true;
    return false;
}

/* The clearer spelling wins, then the model that stands first: an id may hold
 * a colon itself, as "llama3:8b" does. */
const allm_model_ref *allm_catalog_find(const allm_catalog *c,
                                        const char *spelling)
{
    static bool (*const ways[])(const struct model *,
                                struct slice) = {
        is_whole, is_bare, is_alias
    };
    struct slice s = slice_of(spelling);
    for (size_t w = 0; c && s.len && w < sizeof ways / sizeof *ways; w++)
        for (size_t i = 0; i < c->count; i++)
            if (ways[w](&c->models[i], s))
                return &c->models[i].ref;
    return NULL;
}

const allm_model_ref *allm_catalog_at(const allm_catalog *c, size_t index)
{
    return c && index < c->count ? &c->models[index].ref : NULL;
}

/* A capability is true, or an object that is enabled. */
static bool can(const allm_model_ref *ref, const allm_json *what)
{
    const allm_json *v = json_get(ref->capabilities, json_slice(what));
    return allm_json_true(v) || allm_json_true(allm_json_get(v, "enabled"));
}

const allm_model_ref *allm_catalog_select(const allm_catalog *c,
                                          const allm_json *require, size_t from,
                                          size_t *index)
{
    const allm_model_ref *ref;
    for (size_t i = from; (ref = allm_catalog_at(c, i)); i++) {
        const allm_json *what = NULL;
        while ((what = allm_json_next(require, what)) && can(ref, what))
            ;
        if (what)
            continue;
        if (index)
            *index = i;
        return ref;
    }
    return NULL;
}

/* ------------------------------------------------------------- pre-flight --- */

/* The objections found so far; there are no more than MOST rules. */
enum { MOST = 4 };

struct objections {
    size_t count;
    const char *field[MOST], *reason[MOST];
};

static void object(struct objections *o, const char *field, const char *reason)
{
    o->field[o->count] = field;
    o->reason[o->count++] = reason;
}

/* As error pairs: [[["tools"], "tools_disabled"], ...]. */
static const allm_json *pairs_of(const struct objections *o, struct arena *a)
{
    struct build list;
    build_init(&list, a);
    build_array(&list);
    for (size_t i = 0; i < o->count; i++) {
        struct path at = PATH_KEY(NULL, o->field[i]);
        path_write_pair(&list, &at, true, o->reason[i]);
    }
    build_end(&list);
    return build_done(&list);
}

static const allm_error *verdict(const struct objections *o,
                                 const allm_model_ref *ref, struct arena *a)
{
    struct buf words;
    if (o->count == 0)
        return NULL;
    buf_init(&words, a, 1024);
    for (size_t i = 0; i < o->count; i++)
        buf_format(&words, "%s%s", i ? ", " : "", o->reason[i]);
    allm_error *e =
        words.broken
            ? NULL
            : status_draft(a, ALLM_ERR_VALIDATION, "unsupported_capability",
                           "the model %s cannot do what the request needs "
                           "(%s); change the request, or choose another model",
                           ref->id ? ref->id : "", words.ptr);
    if (e)
        e->errors = pairs_of(o, a);
    return e && e->errors ? e : status_nomem();
}

static bool is_false(const allm_json *map, const char *key)
{
    const allm_json *v = allm_json_get(map, key);
    return allm_json_type_of(v) == ALLM_JSON_BOOL && !allm_json_true(v);
}

static bool has_image(const allm_request *r)
{
    for (size_t i = 0; i < r->message_count; i++)
        for (size_t k = 0; k < r->messages[i]->part_count; k++)
            if (r->messages[i]->parts[k]->kind == ALLM_PART_IMAGE)
                return true;
    return false;
}

const allm_error *catalog_preflight(const allm_model_ref *ref,
                                    const allm_request *r, struct arena *a)
{
    struct objections o = { .count = 0 };
    if (!ref)
        return NULL;
    const allm_json *can = ref->capabilities;
    if (r->tool_count && is_false(allm_json_get(can, "tools"), "enabled"))
        object(&o, "tools", "tools_disabled");
    if (json_is(allm_json_get(r->response_format, "type"), "json_schema") &&
        is_false(can, "json_native"))
        object(&o, "response_format", "json_native_disabled");
    if (is_false(can, "vision") && has_image(r))
        object(&o, "vision", "vision_disabled");
    return verdict(&o, ref, a);
}

static bool has_operation(const allm_json *list, allm_image_operation op)
{
    static const char *const words[] = { "generate", "edit", "variation" };
    size_t i = (size_t)op;
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (i < sizeof words / sizeof *words && json_is(v, words[i]))
            return true;
    return false;
}

const allm_error *catalog_preflight_image(const allm_model_ref *ref,
                                          const allm_image_request *r,
                                          struct arena *a)
{
    struct objections o = { .count = 0 };
    if (!ref)
        return NULL;
    const allm_json *can = ref->capabilities;
    const allm_json *list = allm_json_get(can, "supported_image_operations");
    if (is_false(can, "images_enabled"))
        object(&o, "images_enabled", "images_disabled");
    if (allm_json_type_of(list) == ALLM_JSON_ARRAY &&
        !has_operation(list, r->operation))
        object(&o, "operation", "unsupported_image_operation");
    return verdict(&o, ref, a);
}

/* ------------------------------------------------------------------ costs --- */

static void fill(allm_num *cost, const allm_int *tokens, const allm_json *rate)
{
    double price;
    if (cost->set || !tokens->set || !json_finite(rate, &price))
        return;
    *cost = (allm_num){ price * (double)tokens->value / 1e6, true };
}

void catalog_costs(allm_usage *u, const allm_model_ref *ref)
{
    const allm_json *pricing = ref ? ref->pricing : NULL;
    if (allm_json_type_of(pricing) != ALLM_JSON_OBJECT)
        return;
    fill(&u->input_cost, &u->input_tokens, allm_json_get(pricing, "input"));
    fill(&u->output_cost, &u->output_tokens, allm_json_get(pricing, "output"));
    if (!u->total_cost.set && u->input_cost.set && u->output_cost.set)
        u->total_cost = (allm_num){ u->input_cost.value + u->output_cost.value,
                                    true };
}
