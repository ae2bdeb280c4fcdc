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
