/* differ.c - in what an expected JSON value and another one differ */
#include "net/differ.h"

#include "json/json.h"
#include "json/pointer.h"

/* A path that is being walked; the first place that differs keeps its own. */
struct walk {
    struct differ *out;
    struct buf path;
};

static void note(struct walk *w, const allm_json *want, const allm_json *got)
{
    if (w->out->count++)
        return;
    w->out->want = want;
    w->out->got = got;
    buf_add(&w->out->path, buf_slice(&w->path));
}

static void step_back(struct walk *w, size_t len)
{
    if (w->path.broken || w->path.len == len)
        return;
    w->path.len = len;
    w->path.ptr[len] = '\0';
}

static void compare(struct walk *w, const allm_json *want,
                    const allm_json *got);

static void compare_at(struct walk *w, const allm_json *want,
                       const allm_json *got, const allm_json *key, size_t index)
{
    size_t len = w->path.len;
    if (key)
        pointer_add_key(&w->path, json_slice(key));
    else
        pointer_add_index(&w->path, index);
    compare(w, want, got);
    step_back(w, len);
}

static void compare_objects(struct walk *w, const allm_json *want,
                            const allm_json *got, bool whole)
{
    for (const allm_json *k = NULL; (k = allm_json_next(want, k));)
        compare_at(w, allm_json_value(k), json_get(got, json_slice(k)), k, 0);
    for (const allm_json *k = NULL; whole && (k = allm_json_next(got, k));)
        if (!json_get(want, json_slice(k)))
            compare_at(w, NULL, allm_json_value(k), k, 0);
}

static void compare_arrays(struct walk *w, const allm_json *want,
                           const allm_json *got)
{
    const allm_json *a = allm_json_next(want, NULL);
    const allm_json *b = allm_json_next(got, NULL);
    for (size_t i = 0; a || b; i++) {
        compare_at(w, a, b, NULL, i);
        a = a ? allm_json_next(want, a) : NULL;
        b = b ? allm_json_next(got, b) : NULL;
    }
}

static void compare(struct walk *w, const allm_json *want, const allm_json *got)
{
    allm_json_type type = allm_json_type_of(want);
    bool same = type == allm_json_type_of(got);
    if (same && type == ALLM_JSON_OBJECT)
        compare_objects(w, want, got, true);
    else if (same && type == ALLM_JSON_ARRAY)
        compare_arrays(w, want, got);
    else if (!want || !got || !allm_json_equal(want, got))
        note(w, want, got);
}

bool differ_find(struct differ *d, struct arena *a, const allm_json *want,
                 const allm_json *got)
{
    struct walk w = { .out = d };
    *d = (struct differ){ .count = 0 };
    buf_init(&d->path, a, SIZE_MAX / 2);
    buf_init(&w.path, a, SIZE_MAX / 2);
    compare_objects(&w, want, got, false);
    return !w.path.broken && !d->path.broken;
}
