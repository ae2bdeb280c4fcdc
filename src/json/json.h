/*
 * json.h - JSON values in memory that an arena or a home owns
 *
 * A value is an immutable yyjson value: 16 bytes; a container is followed by
 * its members.  It lives in an arena and is freed with it.  A root is a value
 * with a home of its own.
 */
#pragma once

#include "base/arena.h"
#include "base/home.h"

#include <stdint.h>

/* A copy, strings included, that lives in the arena.  NULL stays NULL. */
const allm_json *json_copy(struct arena *a, const allm_json *v);

/* The number of bytes that json_copy() allocates in an arena. */
size_t json_size(const allm_json *v);

/* Are they identical: the same spelling, in the same order?  Values that are
 * not may still be equal for allm_json_equal(), which is slower. */
bool json_same(const allm_json *x, const allm_json *y);

/* Constants: {}, [], null, true, false. */
const allm_json *json_empty_object(void);
const allm_json *json_empty_array(void);
const allm_json *json_null(void);
const allm_json *json_bool(bool b);

/*
 * What is read for every member of every response is inline.  It relies on two
 * facts that json.c asserts: a value begins with a word that has the type in
 * its lowest bits and the length above them, and the string pointer follows.
 */
struct json_word {
    uint64_t tag;
    union {
        const char *text;
        uint64_t number;        /* the same width on every machine */
    } as;
};

enum { JSON_TAG_NULL = 2, JSON_TAG_UINT = 4, JSON_TAG_TEXT = 5,
       JSON_TAG_ARRAY = 6, JSON_TAG_OBJECT = 7, JSON_TAG_MASK = 7,
       JSON_TAG_BITS = 8 };

static inline bool json_has_tag(const allm_json *v, uint64_t type)
{
    uint64_t tag;
    if (!v)
        return false;
    memcpy(&tag, v, sizeof tag);
    return (tag & JSON_TAG_MASK) == type;
}

/* An object or an array without members? */
static inline bool json_is_empty(const allm_json *v)
{
    uint64_t tag = 0;
    if (v)
        memcpy(&tag, v, sizeof tag);
    return (tag & JSON_TAG_MASK) >= JSON_TAG_ARRAY && !(tag >> JSON_TAG_BITS);
}

/* Same as allm_json_type_of(v) == type. */
static inline bool json_is_type(const allm_json *v, allm_json_type type)
{
    switch (type) {
    case ALLM_JSON_NULL:   return json_has_tag(v, JSON_TAG_NULL);
    case ALLM_JSON_TEXT:   return json_has_tag(v, JSON_TAG_TEXT);
    case ALLM_JSON_ARRAY:  return json_has_tag(v, JSON_TAG_ARRAY);
    case ALLM_JSON_OBJECT: return json_has_tag(v, JSON_TAG_OBJECT);
    default:               return allm_json_type_of(v) == type;
    }
}

/* Getters that take slices. */
const allm_json *json_get(const allm_json *object, struct slice key);

/* The bytes of a string; {NULL, 0} if it is not a string. */
static inline struct slice json_slice(const allm_json *text)
{
    struct json_word w;
    if (!json_has_tag(text, JSON_TAG_TEXT))
        return (struct slice){ NULL, 0 };
    memcpy(&w, text, sizeof w);
    return (struct slice){ w.as.text, (size_t)(w.tag >> JSON_TAG_BITS) };
}

static inline bool json_is(const allm_json *v, const char *text)
{
    return json_has_tag(v, JSON_TAG_TEXT) && slice_is(json_slice(v), text);
}

/* Like allm_json_int64(), with a fast path for non-negative numbers. */
static inline bool json_int64(const allm_json *v, int64_t *out)
{
    struct json_word w;
    if (!v)
        return false;
    memcpy(&w, v, sizeof w);
    if (w.tag != JSON_TAG_UINT || w.as.number > INT64_MAX)
        return allm_json_int64(v, out);
    *out = (int64_t)w.as.number;
    return true;
}

/* A number that a double can hold, however it is written: the one meaning
 * of "a number" wherever one is expected.  Otherwise false, with *out
 * unchanged. */
bool json_finite(const allm_json *v, double *out);

/* Like allm_json_get(); the compiler knows the length of a literal. */
static inline const allm_json *json_at(const allm_json *object, const char *key)
{
    return json_get(object, slice_of(key));
}

/* The same for a string; {NULL, 0} if there is none. */
static inline struct slice json_text_at(const allm_json *object,
                                        const char *key)
{
    return json_slice(json_at(object, key));
}

/*
 * A view of an object that is queried for many members, most of which it may
 * lack: its keys are visited once and entered into slots, chosen by the length
 * and two characters.  A slot holds the distance from the object to its key.
 */
enum { JSON_PLACES = 64, JSON_NOWHERE = 0,
       JSON_SEARCH = 255 };     /* two keys share it, or it is far away */

struct json_view {
    const allm_json *object;
    uint8_t at[JSON_PLACES];
};

/* The view of NULL, or of a value that is not an object, is empty. */
void json_view_init(struct json_view *v, const allm_json *object);

/* Keys end with a NUL, so the empty key has a character, too. */
static inline size_t json_place(struct slice key)
{
    const unsigned char *text = (const unsigned char *)key.ptr;
    return (key.len + 2 * (size_t)text[0] + 4 * (size_t)text[key.len / 2]) %
           JSON_PLACES;
}

static inline const allm_json *json_in(const struct json_view *v,
                                       struct slice key)
{
    uint8_t at = v->at[json_place(key)];
    struct json_word w;
    if (at == JSON_NOWHERE)
        return NULL;
    if (at == JSON_SEARCH)
        return json_get(v->object, key);
    const char *found = (const char *)v->object + at * sizeof w;
    memcpy(&w, found, sizeof w);
    if (w.tag >> JSON_TAG_BITS != key.len ||
        !slice_same(w.as.text, key.ptr, key.len))
        return NULL;
    return (const allm_json *)(const void *)(found + sizeof w);
}

/*
 * Roots. json_root_of() makes a root from a value that was parsed, copied or
 * built in the arena of a home, and takes ownership of the home.  If v is
 * NULL, the root represents a failure: it has type NONE and the given error of
 * that arena (NULL: it is simply empty).  If memory runs out, the home is
 * dropped and the result is NULL.
 */
allm_json *json_root_of(struct allm_home *h, const allm_json *v,
                        const allm_error *error);

/* A copy of v as a root in a new home; the copy of a failure has its error. */
allm_json *json_root(struct mem mem, const allm_json *v);

/* A root of type NONE with the error of another home, which it keeps alive. */
allm_json *json_root_failed(struct mem mem, struct allm_home *other);

/* NULL if v is not a root. */
struct allm_home *json_home(const allm_json *root);

/*
 * New values in an arena, strings copied; NULL if out of memory.  A value that
 * is not an object counts as an empty one.  A NULL value removes the member.
 */
const allm_json *json_set(struct arena *a, const allm_json *object,
                          struct slice key, const allm_json *value);
const allm_json *json_merge(struct arena *a, const allm_json *under,
                            const allm_json *over);
