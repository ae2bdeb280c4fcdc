/*
 * catalog_document.c - a catalog from a JSON document
 *
 *      {"updated": "2026-11-16", "source": "where the facts are from",
 *       "same": {"google": "gemini"},
 *       "models": [{"provider": "openai", "id": "gpt-4o-mini",
 *                   "aliases": ["gpt-4o-mini-2024-07-18"],
 *                   "capabilities": {"tools": {"enabled": true},
 *                                    "json_native": true, "vision": true},
 *                   "limits": {"context": 128000, "output": 16384},
 *                   "pricing": {"input": 0.15, "output": 0.6},
 *                   "metadata": {"mode": "chat"}}, ...]}
 *
 * Only "id" is required.  An unknown capability, limit or price is left out and
 * then forbids nothing.  Other members are ignored, so a document may contain
 * more than we read.  The first model of a provider is its default.
 */
#include "engine/catalog_document.h"

#include "base/status.h"
#include "data/path.h"
#include "json/json.h"

#include <stdint.h>

/* Where errors are allocated, and the error found, if any. */
struct reader {
    struct arena *arena;
    const allm_error *error;
};

static bool refuse_catalog(struct reader *r, const struct path *at,
                           const char *what)
{
    struct buf place = buf_in(r->arena, 4096);
    path_spell(&place, at);
    r->error = place.broken ? status_nomem()
                            : status_error(r->arena, ALLM_ERR_VALIDATION,
                                           "invalid_catalog",
                                           "%s of the catalog must be %s",
                                           place.ptr, what);
    return false;
}

static bool is_absent(const allm_json *v)
{
    return !v || allm_json_type_of(v) == ALLM_JSON_NULL;
}

/* A non-empty string without NUL characters; if absent, *out is unchanged. */
static bool read_text(struct reader *r, const struct path *model,
                      const allm_json *object, const char *name,
                      const char **out)
{
    struct path at = PATH_KEY(model, name);
    const allm_json *v = allm_json_get(object, name);
    struct slice s = json_slice(v);
    if (is_absent(v))
        return true;
    if (!s.len || memchr(s.ptr, 0, s.len))
        return refuse_catalog(r, &at, "a non-empty string");
    *out = s.ptr;
    return true;
}

static bool read_map(struct reader *r, const struct path *model,
                     const allm_json *object, const char *name,
                     const allm_json **out)
{
    struct path at = PATH_KEY(model, name);
    const allm_json *v = allm_json_get(object, name);
    if (is_absent(v))
        return true;
    if (allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return refuse_catalog(r, &at, "an object");
    *out = v;
    return true;
}

static bool read_aliases(struct reader *r, const struct path *model,
                         const allm_json *object, const allm_json **out)
{
    struct path at = PATH_KEY(model, "aliases");
    const allm_json *v = allm_json_get(object, "aliases");
    if (is_absent(v))
        return true;
    bool fits = allm_json_type_of(v) == ALLM_JSON_ARRAY;
    for (const allm_json *e = NULL; fits && (e = allm_json_next(v, e));)
        fits = allm_json_type_of(e) == ALLM_JSON_TEXT;
    *out = v;
    return fits || refuse_catalog(r, &at, "a list of strings");
}

static bool read_model(struct reader *r, const struct path *at,
                       const allm_json *v, struct catalog_model *m)
{
    struct path id = PATH_KEY(at, "id");
    allm_model_ref *ref = &m->ref;
    *m = (struct catalog_model){ .ref = { .size = sizeof *ref } };
    if (allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return refuse_catalog(r, at, "an object");
    if (is_absent(allm_json_get(v, "id")))
        return refuse_catalog(r, &id, "the name of the model");
    return read_text(r, at, v, "id", &ref->id) &&
           read_text(r, at, v, "provider", &ref->provider) &&
           read_aliases(r, at, v, &m->aliases) &&
           read_map(r, at, v, "capabilities", &ref->capabilities) &&
           read_map(r, at, v, "limits", &ref->limits) &&
           read_map(r, at, v, "pricing", &ref->pricing) &&
           read_map(r, at, v, "metadata", &ref->metadata);
}

const allm_error *catalog_document_read(struct catalog_document *d,
                                        struct arena *a,
                                        const allm_json *document)
{
    struct reader r = { .arena = a };
    struct path list = PATH_KEY(NULL, "models");
    const allm_json *models = allm_json_get(document, "models");
    d->head = document;
    if (allm_json_type_of(models) != ALLM_JSON_ARRAY) {
        refuse_catalog(&r, &list, "a list of models");
        return r.error;
    }
    size_t n = allm_json_count(models), i = 0;
    d->models = n <= SIZE_MAX / sizeof *d->models
                    ? arena_alloc(a, n * sizeof *d->models)
                    : NULL;
    if (!d->models)
        return status_nomem();
    for (const allm_json *m = NULL; (m = allm_json_next(models, m)); i++) {
        struct path at = PATH_INDEX(&list, i);
        if (!read_model(&r, &at, m, &d->models[i]))
            return r.error;
    }
    d->count = n;
    return NULL;
}

/* ------------------------------------------------------------- lookup --- */

static bool has_full_name(const struct catalog_model *m,
                          const struct catalog_spelling *s)
{
    return catalog_spells(s, slice_of(m->ref.provider), slice_of(m->ref.id));
}

static bool has_id(const struct catalog_model *m,
                   const struct catalog_spelling *s)
{
    return slice_is(s->text, m->ref.id);
}

static bool has_alias(const struct catalog_model *m,
                      const struct catalog_spelling *s)
{
    struct slice provider = slice_of(m->ref.provider);
    for (const allm_json *a = NULL; (a = allm_json_next(m->aliases, a));)
        if (slice_eq(s->text, json_slice(a)) ||
            catalog_spells(s, provider, json_slice(a)))
            return true;
    return false;
}

const allm_model_ref *catalog_document_find(const struct catalog_document *d,
                                            const struct catalog_spelling *s)
{
    static bool (*const rules[])(const struct catalog_model *,
                                 const struct catalog_spelling *) = {
        has_full_name, has_id, has_alias
    };
    for (size_t w = 0; w < sizeof rules / sizeof *rules; w++)
        for (size_t i = 0; i < d->count; i++)
            if (rules[w](&d->models[i], s))
                return &d->models[i].ref;
    return NULL;
}

/* ---------------------------------------------------------- providers --- */

static bool has_provider(const struct catalog_model *m, const char *provider)
{
    return m->ref.provider && !strcmp(m->ref.provider, provider);
}

/* Does no model before this one have its provider? */
static bool is_first(const struct catalog_document *d, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (has_provider(&d->models[i], d->models[index].ref.provider))
            return false;
    return true;
}

bool catalog_document_provider(const struct catalog_document *d, size_t from,
                               struct catalog_group *out)
{
    size_t i = from;
    while (i < d->count && (!d->models[i].ref.provider || !is_first(d, i)))
        i++;
    if (i == d->count)
        return false;
    *out = (struct catalog_group){ slice_of(d->models[i].ref.provider), i, 0,
                                   i + 1 };
    for (size_t k = i; k < d->count; k++)
        out->count += has_provider(&d->models[k], d->models[i].ref.provider);
    return true;
}
