/*
 * json.h - JSON values in an owner's memory
 *
 * A value is an immutable yyjson value: 16 bytes, a container followed by its
 * members.  It lives in an arena and dies with it.  A root is a value with a
 * home of its own.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "base/arena.h"
#include "base/home.h"

#include <stdint.h>

/* A copy, texts included, that lives in the arena.  NULL stays NULL. */
const allm_json *json_copy(struct arena *a, const allm_json *v);

/* Bytes that json_copy() will ask of an arena. */
size_t json_size(const allm_json *v);

/* Constants: {}, [], null, true, false. */
const allm_json *json_empty_object(void);
const allm_json *json_empty_array(void);
const allm_json *json_null(void);
const allm_json *json_bool(bool b);

/* Getters that take slices. */
const allm_json *json_get(const allm_json *object, struct slice key);
struct slice json_slice(const allm_json *text);  /* {NULL, 0} if none */
bool json_is(const allm_json *v, const char *text);

/* As allm_json_get(); the compiler knows the length of a literal. */
static inline const allm_json *json_at(const allm_json *object, const char *key)
{
    return json_get(object, slice_of(key));
}

/*
 * An object that is asked for many members that it mostly lacks: `seen` has a
 * bit for every key, so that most that are missing need no search.
 */
struct json_view {
    const allm_json *object;
    uint64_t seen;
};

struct json_view json_view(const allm_json *object);

static inline uint64_t json_bit(struct slice key)
{
    unsigned n = (unsigned)key.len * 3;
    if (key.len)
        n += (unsigned char)key.ptr[0] * 5u +
             (unsigned char)key.ptr[key.len - 1];
    return (uint64_t)1 << (n & 63);
}

static inline const allm_json *json_in(const struct json_view *v,
                                       struct slice key)
{
    return v->seen & json_bit(key) ? json_get(v->object, key) : NULL;
}

/*
 * Roots.  json_root_of() makes a root of a value that was parsed, copied or
 * built in the arena of a home, and takes the home over.  With v NULL it is
 * the root of a failure: of type NONE, explained by an error of that arena
 * (NULL: it is simply empty).  For lack of memory the home is dropped and the
 * result NULL.
 */
allm_json *json_root_of(struct allm_home *h, const allm_json *v,
                        const allm_error *error);

/* A copy of v as a root in a new home; of a failure, the same failure. */
allm_json *json_root(struct mem mem, const allm_json *v);

/* NULL if v is no root. */
struct allm_home *json_home(const allm_json *root);

/*
 * New values in an arena, texts copied; NULL when there is no memory.  What is
 * not an object counts as an empty one.  A value NULL removes the member.
 */
const allm_json *json_set(struct arena *a, const allm_json *object,
                          struct slice key, const allm_json *value);
const allm_json *json_merge(struct arena *a, const allm_json *under,
                            const allm_json *over);

#endif
