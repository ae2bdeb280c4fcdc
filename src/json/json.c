/*
 * json.c - JSON values in memory that an arena or a home owns
 *
 * A value and its members are contiguous, as yyjson's reader leaves them; the
 * strings are elsewhere in the same arena:
 *
 *      {"a": [1, "x"]}     head | object | key a | array | 1 | "x"
 *
 * So the size of a value is known without looking inside, a copy is one memcpy
 * and one pass over the strings, and nothing here recurses.
 *
 * Invariants
 *   (1) A value that is not a member of another follows a val_head.
 *   (2) Every string is followed by a NUL that is not counted.
 *   (3) The keys of an object differ.
 *   (4) An integer that is not negative has the subtype UINT; a negative one
 *       has SINT.  Minus zero is a REAL.
 */
#include "json/json.h"

#include "base/status.h"
#include "json/number.h"

#include "json/val.h"
#include <math.h>

/* ---------------------------------------------------------- constants --- */

#define CONSTANT(type, subtype, offset) \
    { { .tag = VAL_HEAD }, { .tag = (type) | (subtype), .uni.ofs = (offset) } }

static const yyjson_val empty_object[2] = CONSTANT(YYJSON_TYPE_OBJ, 0,
                                                   sizeof(yyjson_val));
static const yyjson_val empty_array[2] = CONSTANT(YYJSON_TYPE_ARR, 0,
                                                  sizeof(yyjson_val));
static const yyjson_val null_value[2] = CONSTANT(YYJSON_TYPE_NULL, 0, 0);
static const yyjson_val true_value[2] = CONSTANT(YYJSON_TYPE_BOOL,
                                                 YYJSON_SUBTYPE_TRUE, 0);
static const yyjson_val false_value[2] = CONSTANT(YYJSON_TYPE_BOOL,
                                                  YYJSON_SUBTYPE_FALSE, 0);

const allm_json *json_empty_object(void)
{
    return val_json(empty_object + 1);
}

const allm_json *json_empty_array(void)
{
    return val_json(empty_array + 1);
}

const allm_json *json_null(void)
{
    return val_json(null_value + 1);
}

const allm_json *json_bool(bool b)
{
    return val_json(b ? true_value + 1 : false_value + 1);
}

/* ------------------------------------------------------------- copies --- */

size_t json_size(const allm_json *v)
{
    if (!v)
        return 0;
    const yyjson_val *val = val_of(v);
    size_t n = val_span(val);
    return (1 + n) * sizeof *val + val_text_bytes(val, n);
}

const allm_json *json_copy(struct arena *a, const allm_json *v)
{
    if (!v)
        return NULL;
    size_t n = val_span(val_of(v));
    yyjson_val *copy = arena_alloc(a, json_size(v));
    if (!copy)
        return NULL;
    copy++;
    memcpy(copy, v, n * sizeof *copy);
    val_copy_texts(copy, n, (char *)(copy + n));
    val_set_head(copy, NULL);   /* keeps (1) */
    return val_json(copy);
}

/* -------------------------------------------------------------- roots --- */

struct allm_home *json_home(const allm_json *root)
{
    struct val_head head;
    if (!root)
        return NULL;
    memcpy(&head, val_of(root) - 1, sizeof head);
    return head.tag == VAL_HEAD ? head.home : NULL;
}

allm_json *json_root_of(struct allm_home *h, const allm_json *v,
                        const allm_error *error)
{
    if (!h)
        return NULL;
    yyjson_val *val = val_own(v);
    if (!val && error != status_nomem()) {
        val = arena_zero(home_arena(h), 2 * sizeof *val);
        home_set_error(h, error);
        if (val)
            val++;              /* a head, then a value of type NONE */
    }
    if (!val) {
        home_drop(h);
        return NULL;
    }
    val_set_head(val, h);
    return (allm_json *)(void *)val;
}

allm_json *json_root_failed(struct mem mem, struct allm_home *other)
{
    struct allm_home *h = home_new(mem, sizeof(struct val_head));
    if (h && other && !home_hold(h, other)) {
        home_drop(h);
        return NULL;
    }
    return json_root_of(h, NULL, other ? home_error(other) : NULL);
}

allm_json *json_root(struct mem mem, const allm_json *v)
{
    if (!v || val_type(val_of(v)) == YYJSON_TYPE_NONE)
        return json_root_failed(mem, json_home(v));
    struct allm_home *h = home_new(mem, json_size(v));
    if (!h)
        return NULL;
    const allm_json *copy = json_copy(home_arena(h), v);
    return json_root_of(h, copy, copy ? NULL : status_nomem());
}

const allm_error *allm_json_error(const allm_json *root)
{
    struct allm_home *h = json_home(root);
    if (!root)
        return status_nomem();
    return h ? home_error(h) : NULL;
}

void allm_json_free(allm_json *root)
{
    home_drop(json_home(root));
}

allm_json *allm_json_copy(const allm_json *v)
{
    return v ? json_root(mem_default(), v) : NULL;
}

/* ------------------------------------------------------------ getters --- */

/* What json.h assumes about a value. */
_Static_assert((int)JSON_TAG_NULL == (int)YYJSON_TYPE_NULL, "type");
_Static_assert((int)JSON_TAG_UINT ==
                   (int)(YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT),
               "type");
_Static_assert((int)JSON_TAG_TEXT == (int)YYJSON_TYPE_STR, "type");
_Static_assert((int)JSON_TAG_ARRAY == (int)YYJSON_TYPE_ARR, "type");
_Static_assert((int)JSON_TAG_OBJECT == (int)YYJSON_TYPE_OBJ, "type");
_Static_assert((int)JSON_TAG_MASK == (int)YYJSON_TYPE_MASK, "type");
_Static_assert((int)JSON_TAG_BITS == (int)YYJSON_TAG_BIT, "length");
_Static_assert(sizeof(struct json_word) == sizeof(yyjson_val), "size");
_Static_assert(offsetof(struct json_word, as) == offsetof(yyjson_val, uni),
               "text");

allm_json_type allm_json_type_of(const allm_json *v)
{
    if (!v)
        return ALLM_JSON_NONE;
    switch (val_type(val_of(v))) {
    case YYJSON_TYPE_RAW:  return ALLM_JSON_BIG;
    case YYJSON_TYPE_NULL: return ALLM_JSON_NULL;
    case YYJSON_TYPE_BOOL: return ALLM_JSON_BOOL;
    case YYJSON_TYPE_STR:  return ALLM_JSON_TEXT;
    case YYJSON_TYPE_ARR:  return ALLM_JSON_ARRAY;
    case YYJSON_TYPE_OBJ:  return ALLM_JSON_OBJECT;
    case YYJSON_TYPE_NUM:
        return val_subtype(val_of(v)) == YYJSON_SUBTYPE_REAL ? ALLM_JSON_REAL
                                                             : ALLM_JSON_INT;
    default:
        return ALLM_JSON_NONE;
    }
}

static inline const allm_json *lookup_key(const yyjson_val *v, struct slice key)
{
    if (!v || val_type(v) != YYJSON_TYPE_OBJ)
        return NULL;
    size_t left = val_len(v++);
    for (; left; left--, v = val_after(v + 1))
        if (val_names(v, key))
            return val_json(v + 1);
    return NULL;
}

const allm_json *json_get(const allm_json *object, struct slice key)
{
    return lookup_key(val_of(object), key);
}

const allm_json *allm_json_get(const allm_json *object, const char *key)
{
    return key ? lookup_key(val_of(object), slice_of(key)) : NULL;
}

void json_view_init(struct json_view *view, const allm_json *object)
{
    const yyjson_val *first = val_of(object);
    *view = (struct json_view){ .object = object };
    if (!first || val_type(first) != YYJSON_TYPE_OBJ)
        return;
    const yyjson_val *end = val_after(first);
    for (const yyjson_val *k = first + 1; k < end; k = val_after(k + 1)) {
        uint8_t *at = &view->at[json_place(val_slice(k))];
        size_t far = (size_t)(k - first);
        *at = *at || far > JSON_SEARCH ? JSON_SEARCH : (uint8_t)far;
    }
}

size_t allm_json_count(const allm_json *v)
{
    return v && val_holds(val_of(v)) ? val_len(val_of(v)) : 0;
}

const allm_json *allm_json_at(const allm_json *array, size_t index)
{
    const yyjson_val *v = val_of(array);
    if (!v || val_type(v) != YYJSON_TYPE_ARR || index >= val_len(v))
        return NULL;
    if (val_span(v) == val_len(v) + 1)      /* no containers inside */
        return val_json(v + 1 + index);
    for (v++; index > 0; index--)
        v = val_after(v);
    return val_json(v);
}

bool allm_json_true(const allm_json *v)
{
    return v && val_type(val_of(v)) == YYJSON_TYPE_BOOL &&
           val_subtype(val_of(v)) == YYJSON_SUBTYPE_TRUE;
}

double allm_json_number(const allm_json *v)
{
    return v ? number_double(val_of(v)) : 0;
}

bool json_finite(const allm_json *v, double *out)
{
    allm_json_type type = allm_json_type_of(v);
    if (type != ALLM_JSON_INT && type != ALLM_JSON_REAL &&
        type != ALLM_JSON_BIG)
        return false;
    double x = number_double(val_of(v));
    if (!isfinite(x))
        return false;
    *out = x;
    return true;
}

bool allm_json_int64(const allm_json *v, int64_t *out)
{
    int64_t n;
    if (!v || !number_int64(val_of(v), &n))
        return false;
    if (out)
        *out = n;
    return true;
}

bool allm_json_uint64(const allm_json *v, uint64_t *out)
{
    uint64_t n;
    if (!v || !number_uint64(val_of(v), &n))
        return false;
    if (out)
        *out = n;
    return true;
}

const char *allm_json_text(const allm_json *v, size_t *len)
{
    bool has = v && val_has_text(val_of(v));
    if (len)
        *len = has ? val_len(val_of(v)) : 0;
    return has ? val_of(v)->uni.str : NULL;
}

/* -------------------------------------------------------------- walks --- */

const allm_json *allm_json_next(const allm_json *container,
                                const allm_json *previous)
{
    const yyjson_val *in = val_of(container);
    const yyjson_val *v = val_of(previous);
    if (!in || !val_holds(in))
        return NULL;
    if (!v)
        v = in + 1;
    else
        v = val_after(val_type(in) == YYJSON_TYPE_OBJ ? v + 1 : v);
    return v < val_after(in) ? val_json(v) : NULL;
}

const allm_json *allm_json_value(const allm_json *key)
{
    const yyjson_val *v = val_of(key);
    return v && val_type(v) == YYJSON_TYPE_STR ? val_json(v + 1) : NULL;
}
