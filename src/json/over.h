/*
 * over.h - what set, merge and patch share: combining two objects
 *
 * The members of the lower object keep their positions; new ones follow in the
 * order of the upper one.
 */
#pragma once

#include "base/status.h"
#include "json/build.h"
#include "json/json.h"
#include "json/val.h"

/* A value that is not an object counts as an empty one. */
static inline const yyjson_val *over_object(const allm_json *v)
{
    if (!v || val_type(val_of(v)) != YYJSON_TYPE_OBJ)
        return val_of(json_empty_object());
    return val_of(v);
}

static inline void over_add(struct build *b, struct slice key,
                            const allm_json *v)
{
    build_key_copy(b, key);
    build_value_copy(b, v);
}

/* The root of the result, or of an error that says what was misused. */
static inline allm_json *over_done(struct allm_home *h, const allm_json *v)
{
    return json_root_of(h, v, status_nomem());
}

static inline allm_json *over_misused(struct allm_home *h, const char *why)
{
    return json_root_of(h, NULL,
                        status_error(home_arena(h), ALLM_ERR_MISUSE, "misuse",
                                     "%s", why));
}

static inline bool over_is_object(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT;
}

static inline bool over_is_none(const allm_json *v)
{
    return v && allm_json_type_of(v) == ALLM_JSON_NONE;
}
