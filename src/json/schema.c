/*
 * schema.c - JSON Schema 2020-12: is this value what was asked for?
 *
 * A schema is compiled once, into its own home, and read-only from then on:
 * any number of threads may check values against it.
 */
#include "json/schema.h"

#include "base/home.h"
#include "base/status.h"
#include "json/json.h"
#include "json/schema_compile.h"

allm_json_schema *allm_json_schema_new(const allm_json *source)
{
    struct allm_home *h =
        home_new(mem_default(), sizeof(allm_json_schema) + json_size(source));
    allm_json_schema *s = h ? arena_zero(home_arena(h), sizeof *s) : NULL;
    const allm_json *copy = s ? json_copy(home_arena(h), source) : NULL;
    if (!s || (source && !copy)) {
        home_drop(h);
        return NULL;
    }
    s->home = h;
    s->source = copy;
    const allm_error *error = compile_schema(s);
    if (error == status_nomem()) {
        home_drop(h);
        return NULL;
    }
    home_set_error(h, error);
    return s;
}

const allm_error *allm_json_schema_error(const allm_json_schema *s)
{
    return s ? home_error(s->home) : status_nomem();
}

void allm_json_schema_free(allm_json_schema *s)
{
    if (s)
        home_drop(s->home);
}

/* The root of a failure: the schema's error, which it keeps alive. */
static allm_json *fail_as(const allm_json_schema *s)
{
    struct allm_home *h = home_new(mem_default(), 0);
    if (h && !home_hold(h, s->home)) {
        home_drop(h);
        return NULL;
    }
    return json_root_of(h, NULL, home_error(s->home));
}

allm_json *allm_json_schema_check(const allm_json_schema *s,
                                  const allm_json *value)
{
    if (!s)
        return NULL;
    if (home_error(s->home))
        return fail_as(s);
    struct allm_home *h = home_new(mem_default(), 0);
    if (!h)
        return NULL;
    const allm_json *faults = schema_check(s, value, home_arena(h));
    return json_root_of(h, faults, faults ? NULL : status_nomem());
}
