/* reasoning_details.c - assemble the reasoning_details of a router */
#include "provider/openai/reasoning_details.h"

#include "json/build.h"
#include "json/json.h"

/* The members whose pieces are concatenated; for others the last piece counts.
 * Encrypted "data" is never split: concatenated, it could not be decrypted. */
static const char *const joined[] = { "text", "summary" };
enum { JOINED = sizeof joined / sizeof *joined };

/* A server may send any number; lists that are searched must be short. */
enum { MOST = 65536, MOST_INDEXED = 8192, MOST_MEMBERS = 256 };

struct reasoning_detail {
    struct reasoning_detail *next;
    struct reasoning_detail *indexed;   /* the next one that has an index */
    int64_t index;              /* if it has one */
    const allm_json *rest;      /* the members that are not concatenated */
    struct buf text[JOINED];
    bool present[JOINED];
};

struct slice reasoning_details_text(const allm_json *element)
{
    struct slice text = json_slice(json_at(element, "text"));
    return text.len ? text : json_slice(json_at(element, "summary"));
}

/* Do both have this member, with different values? */
static bool members_differ(const struct reasoning_detail *d,
                           const allm_json *element, const char *name)
{
    const allm_json *v = json_at(element, name);
    const allm_json *was = json_at(d->rest, name);
    return v && was && allm_json_type_of(v) != ALLM_JSON_NULL &&
           !allm_json_equal(v, was);
}

/* Does an element continue this detail? */
static bool continues_detail(const struct reasoning_detail *d, int64_t index,
                             const allm_json *element)
{
    return d->index == index && !members_differ(d, element, "type") &&
           !members_differ(d, element, "id") &&
           !members_differ(d, element, "data");
}

static struct reasoning_detail *open_detail(struct reasoning_details *d,
                                            struct arena *life)
{
    struct reasoning_detail *one = arena_zero(life, sizeof *one);
    if (!one)
        return NULL;
    one->rest = json_empty_object();
    for (size_t i = 0; i < JOINED; i++)
        buf_init(&one->text[i], life, SIZE_MAX / 2);
    if (d->last)
        d->last->next = one;
    else
        d->first = one;
    d->count++;
    return d->last = one;
}

/* The detail that an element belongs to; NULL: there are too many, or out of
 * memory.  An element without an index begins a new detail. */
static struct reasoning_detail *detail_of(struct reasoning_details *d,
                                          struct arena *life,
                                          const allm_json *element)
{
    int64_t index;
    const allm_json *at = json_at(element, "index");
    bool has_index = allm_json_type_of(at) == ALLM_JSON_INT &&
                     allm_json_int64(at, &index);
    struct reasoning_detail **one = &d->indexed;
    size_t searched = 0;
    for (; has_index && *one; one = &(*one)->indexed, searched++)
        if (continues_detail(*one, index, element))
            return *one;
    d->over = d->count == MOST || searched == MOST_INDEXED;
    struct reasoning_detail *fresh = d->over ? NULL : open_detail(d, life);
    if (fresh && has_index) {
        fresh->index = index;
        *one = fresh;
    }
    return fresh;
}

static bool is_joined(const allm_json *key)
{
    for (size_t i = 0; i < JOINED; i++)
        if (json_is(key, joined[i]))
            return true;
    return false;
}

/* Set a member that is not concatenated. */
static void set_member(struct reasoning_details *d,
                       struct reasoning_detail *one, struct arena *life,
                       const allm_json *key)
{
    const allm_json *v = allm_json_value(key);
    const allm_json *was = json_get(one->rest, json_slice(key));
    if (is_joined(key) || allm_json_type_of(v) == ALLM_JSON_NULL ||
        !one->rest || (was && allm_json_equal(was, v)))
        return;
    if (!was && allm_json_count(one->rest) == MOST_MEMBERS)
        d->over = true;
    else
        one->rest = json_set(life, one->rest, json_slice(key), v);
}

bool reasoning_details_add(struct reasoning_details *d, struct arena *life,
                           const allm_json *element)
{
    if (allm_json_type_of(element) != ALLM_JSON_OBJECT || d->over)
        return true;
    struct reasoning_detail *one = detail_of(d, life, element);
    if (!one)
        return d->over;
    for (size_t i = 0; i < JOINED; i++) {
        struct slice piece = json_slice(json_at(element, joined[i]));
        buf_add(&one->text[i], piece);
        one->present[i] = one->present[i] || piece.ptr;
    }
    for (const allm_json *k = NULL;
         !d->over && (k = allm_json_next(element, k));)
        set_member(d, one, life, k);
    return !life->broken && one->rest;
}

const allm_json *reasoning_details_list(const struct reasoning_details *d,
                                        struct arena *a)
{
    if (!d->first)
        return NULL;
    struct build b = build_array_in(a);
    for (const struct reasoning_detail *one = d->first; one; one = one->next) {
        build_object(&b);
        for (const allm_json *k = NULL; (k = allm_json_next(one->rest, k));)
            build_entry(&b, k);
        for (size_t i = 0; i < JOINED; i++)
            if (one->present[i])
                build_text_at(&b, joined[i], buf_slice(&one->text[i]));
        build_end(&b);
    }
    return build_finish(&b);
}
