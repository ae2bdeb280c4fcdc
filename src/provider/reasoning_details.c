/* reasoning_details.c - a router's list of thoughts, put together again */
#include "provider/reasoning_details.h"

#include "json/build.h"
#include "json/json.h"

/* The members whose pieces are joined; the others replace each other. */
static const char *const joined[] = { "text", "summary", "data" };
enum { JOINED = sizeof joined / sizeof *joined };

struct reasoning_detail {
    struct reasoning_detail *next;
    const allm_json *rest;      /* all members that are not joined */
    struct buf text[JOINED];
    bool given[JOINED];
};

struct slice reasoning_details_text(const allm_json *element)
{
    struct slice text = json_slice(json_at(element, "text"));
    return text.len ? text : json_slice(json_at(element, "summary"));
}

/* Does an element go on with what a detail began? */
static bool goes_on(const struct reasoning_detail *d, const allm_json *element)
{
    const allm_json *index = json_at(element, "index");
    const allm_json *type = json_at(element, "type");
    const allm_json *was = json_at(d->rest, "type");
    return allm_json_type_of(index) == ALLM_JSON_INT &&
           allm_json_equal(index, json_at(d->rest, "index")) &&
           (!type || !was || allm_json_equal(type, was));
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
    return d->last = one;
}

static bool is_joined(const allm_json *key)
{
    for (size_t i = 0; i < JOINED; i++)
        if (json_is(key, joined[i]))
            return true;
    return false;
}

bool reasoning_details_add(struct reasoning_details *d, struct arena *life,
                           const allm_json *element)
{
    struct reasoning_detail *one = d->first;
    if (allm_json_type_of(element) != ALLM_JSON_OBJECT)
        return true;
    while (one && !goes_on(one, element))
        one = one->next;
    if (!one)
        one = open_detail(d, life);
    if (!one)
        return false;
    for (size_t i = 0; i < JOINED; i++) {
        struct slice piece = json_slice(json_at(element, joined[i]));
        buf_add(&one->text[i], piece);
        one->given[i] = one->given[i] || piece.ptr;
    }
    for (const allm_json *k = NULL; (k = allm_json_next(element, k));) {
        const allm_json *v = allm_json_value(k);
        const allm_json *was = json_get(one->rest, json_slice(k));
        if (!is_joined(k) && allm_json_type_of(v) != ALLM_JSON_NULL &&
            one->rest && !(was && allm_json_equal(was, v)))
            one->rest = json_set(life, one->rest, json_slice(k), v);
    }
    return !life->broken && one->rest;
}

const allm_json *reasoning_details_list(const struct reasoning_details *d,
                                        struct arena *a)
{
    struct build b;
    if (!d->first)
        return NULL;
    build_init(&b, a);
    build_array(&b);
    for (const struct reasoning_detail *one = d->first; one; one = one->next) {
        build_object(&b);
        for (const allm_json *k = NULL; (k = allm_json_next(one->rest, k));) {
            build_key(&b, json_slice(k));
            build_value(&b, allm_json_value(k));
        }
        for (size_t i = 0; i < JOINED; i++) {
            if (!one->given[i])
                continue;
            build_key(&b, slice_of(joined[i]));
            build_text(&b, buf_slice(&one->text[i]));
        }
        build_end(&b);
    }
    build_end(&b);
    return build_done(&b);
}
