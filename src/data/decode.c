/*
 * decode.c - read structs from JSON, by the table of their fields
 *
 * Missing members take their default.  Unknown members, and those whose value
 * does not fit, are stored in `kept`, so nothing of a document is lost.  An
 * element of a list that is not one of our structs keeps its position: an
 * empty struct represents it, whose `kept` is an array of that element alone.
 * Only an unknown enum name rejects the document.
 */
#include "data/decode.h"

#include "base/status.h"
#include "json/build.h"
#include "json/json.h"

#include <math.h>

void decode_init(struct decoder *d, struct allm_home *home,
                 struct arena *errors)
{
    *d = (struct decoder){
        .home = home, .arena = home_arena(home), .errors = errors
    };
}

/* ----------------------------------------------------------- refusing --- */

/* Advice for a rejected document, appended to the position. */
static const char *advice_for(const char *reason)
{
    static const struct {
        const char *reason, *advice;
    } known[] = {
        { "atom_decode_failed", "; this string is not an allowed value" },
        { "missing_type_tag", "; it has no \"__type__\"; or name its type in "
                              "`as` of allm_codec_decode()" },
        { "unknown_type_tag", "; `as` must be a type such as \"Message\"" },
        { "missing", "; an object with \"__type__\" must have \"data\", too" },
        { "malformed_struct", "; an object with the members of the type is "
                              "expected there" },
        { "invalid_base64", "; bytes must be base64 with padding" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].reason, reason))
            return known[i].advice;
    return "";
}

const allm_error *decode_error(struct arena *a, const struct path *path,
                               const char *reason)
{
    struct buf where = buf_in(a, 4096);
    path_spell(&where, path);
    struct build b = build_array_in(a);
    /* This one always has its path as a list, even at the top level. */
    path_write_pair(&b, path, !strcmp(reason, "invalid_base64"), reason);
    const allm_json *errors = build_finish(&b);
    allm_error *e = status_draft(a, ALLM_ERR_VALIDATION, "invalid_request",
                                 "the document cannot be read: %s at %s%s",
                                 reason, where.len ? where.ptr : "its root",
                                 advice_for(reason));
    if (!e || !errors)
        return status_nomem();
    e->errors = errors;
    return e;
}

bool decode_refuse(struct decoder *d, const char *reason)
{
    if (!d->error)
        d->error = decode_error(d->errors, d->path, reason);
    return false;
}

bool decode_refuse_at(struct decoder *d, const char *member, const char *reason)
{
    struct path step = PATH_KEY(d->path, member);
    if (!d->error)
        d->error = decode_error(d->errors, &step, reason);
    return false;
}

bool decode_nomem(struct decoder *d)
{
    if (!d->error)
        d->error = status_nomem();
    return false;
}

/* ------------------------------------------------------------- values --- */

static bool is_null(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_NULL;
}

bool decode_selector(struct decoder *d, const allm_json *v, void *value)
{
    (void)d;
    (void)v;
    (void)value;
    return true;
}

bool decode_bytes(struct decoder *d, const allm_json *v, const char **out,
                  size_t *len)
{
    if (is_null(v))
        return true;
    if (allm_json_type_of(v) != ALLM_JSON_TEXT)
        return false;
    struct slice text = json_slice(v);
    *out = arena_copy(d->arena, text);
    *len = text.len;
    return *out || decode_nomem(d);
}

bool decode_text(struct decoder *d, const allm_json *v, const char **out)
{
    size_t len;
    struct slice text = json_slice(v);
    if (text.len && memchr(text.ptr, '\0', text.len))
        return false;
    return decode_bytes(d, v, out, &len);
}

bool decode_copy(struct decoder *d, const allm_json *v, const allm_json **out)
{
    *out = is_null(v) ? NULL : json_copy(d->arena, v);
    return *out || is_null(v) || decode_nomem(d);
}

static bool read_word(struct decoder *d, const struct shape_field *f,
                      const allm_json *v, uint32_t *out)
{
    if (is_null(v))
        return true;
    for (uint32_t i = 0; i < f->words->count; i++) {
        if (f->words->word[i] && json_is(v, f->words->word[i])) {
            *out = i;
            return true;
        }
    }
    if (d->lenient || (f->flags & SHAPE_SPARE))
        return false;
    return decode_refuse(d, "atom_decode_failed");
}

static bool read_int(const allm_json *v, allm_int *out)
{
    if (is_null(v))
        return true;
    out->set = allm_json_int64(v, &out->value);
    return out->set;
}

/* An integer beyond 2^53, or a long decimal, may be a number that a double
 * cannot hold; for others the nearest double is used. */
static bool read_num(const allm_json *v, allm_num *out)
{
    const int64_t most = (int64_t)1 << 53;
    int64_t n = 0;
    if (is_null(v))
        return true;
    allm_json_type t = allm_json_type_of(v);
    out->set = json_finite(v, &out->value) &&
               (t == ALLM_JSON_REAL || fabs(out->value) <= (double)most) &&
               (t != ALLM_JSON_INT ||
                (allm_json_int64(v, &n) && n <= most && n >= -most));
    return out->set;
}

static bool read_flag(const allm_json *v, uint32_t *out)
{
    *out = allm_json_true(v);
    return is_null(v) || allm_json_type_of(v) == ALLM_JSON_BOOL;
}

static bool read_json(struct decoder *d, const struct shape_field *f,
                      const allm_json *v, const allm_json **out)
{
    allm_json_type want = f->kind == SHAPE_MAP     ? ALLM_JSON_OBJECT
                          : f->kind == SHAPE_ARRAY ? ALLM_JSON_ARRAY
                                                   : allm_json_type_of(v);
    if (!is_null(v) && allm_json_type_of(v) != want)
        return false;
    return decode_copy(d, v, out);
}

/* Store what was built in `kept` of a struct. */
static bool set_kept(struct decoder *d, const struct shape *s,
                     struct build *kept, void *value)
{
    const allm_json *v = build_done(kept);
    memcpy((char *)value + s->kept, &v, sizeof v);
    return v || decode_nomem(d);
}

/* A zeroed struct that lives as long as the document: in its home or, if it is
 * reference-counted, in a home of its own that the document's home holds.
 * *inner reads into it. */
static void *place_struct(struct decoder *d, const struct shape *s,
                          const allm_json *v, struct decoder *inner)
{
    *inner = *d;
    struct shape_head *made = s->counted ? shape_root(home_mem(d->home), s,
                                                      json_size(v))
                                         : shape_make(d->arena, s);
    if (made && s->counted) {
        inner->home = made->home;
        inner->arena = home_arena(made->home);
        bool held = home_hold(d->home, made->home);
        home_drop(made->home);
        if (!held)
            made = NULL;
    }
    if (!made)
        decode_nomem(d);
    return made;
}

/* The element is not a struct of shape s: keep it in an empty one. */
static const void *keep_stranger(struct decoder *d, const struct shape *s,
                                 const allm_json *v)
{
    struct decoder inner;
    void *made = place_struct(d, s, v, &inner);
    if (!made)
        return NULL;
    struct build kept = build_array_in(inner.arena);
    build_value_copy(&kept, v);
    build_end(&kept);
    return set_kept(d, s, &kept, made) ? made : NULL;
}

/* NULL: d->error is set or, when guessing, it is not a struct. */
static const void *read_element(struct decoder *d, const struct shape *s,
                                const allm_json *v)
{
    const void *made = decode_value(d, s, v);
    return made || d->error || d->guessing ? made : keep_stranger(d, s, v);
}

bool decode_list(struct decoder *d, const struct shape *s, const allm_json *v,
                 size_t *count, const void *const **out)
{
    if (is_null(v))
        return true;
    if (allm_json_type_of(v) != ALLM_JSON_ARRAY)
        return false;
    size_t n = allm_json_count(v);
    if (n == 0 && d->tagged)
        return true;
    const void **item = arena_zero(d->arena, (n + 1) * sizeof *item);
    if (!item)
        return decode_nomem(d);
    struct path step = PATH_INDEX(d->path, 0);
    d->path = &step;
    for (const allm_json *e = NULL; (e = allm_json_next(v, e));) {
        item[step.index] = read_element(d, s, e);
        if (!item[step.index])
            break;
        step.index++;
    }
    d->path = step.outer;
    *count = n;
    *out = item;
    return step.index == n;
}

static bool read_one(struct decoder *d, const struct shape_field *f,
                     const allm_json *v, void *value)
{
    const void *one = is_null(v) ? NULL : decode_value(d, f->of, v);
    shape_set_pointer(f, value, one);
    return one || is_null(v);
}

static bool read_many(struct decoder *d, const struct shape_field *f,
                      const allm_json *v, void *value)
{
    size_t n = 0;
    const void *const *list = NULL;
    bool fits = decode_list(d, f->of, v, &n, &list);
    shape_set_count(f, value, fits ? n : 0);
    shape_set_pointer(f, value, fits ? list : NULL);
    return fits;
}

/* False: the member does not fit, or d->error is set. */
static bool read_field(struct decoder *d, const struct shape_field *f,
                       const allm_json *v, void *value)
{
    void *slot = shape_slot(f, value);
    size_t n = 0;

    switch (f->kind) {
    case SHAPE_TEXT:
        return decode_text(d, v, slot);
    case SHAPE_BYTES:
        if (!decode_bytes(d, v, slot, &n))
            return false;
        shape_set_count(f, value, n);
        return true;
    case SHAPE_FLAG:
        return read_flag(v, slot);
    case SHAPE_ENUM:
        return read_word(d, f, v, slot);
    case SHAPE_COUNT:
        return is_null(v) || allm_json_uint64(v, slot) ||
               decode_refuse(d, "invalid_type");
    case SHAPE_INT:
        return read_int(v, slot);
    case SHAPE_NUM:
        return read_num(v, slot);
    case SHAPE_MAP:
    case SHAPE_ARRAY:
    case SHAPE_ANY:
        return read_json(d, f, v, slot);
    case SHAPE_ONE:
        return read_one(d, f, v, value);
    case SHAPE_MANY:
        return read_many(d, f, v, value);
    case SHAPE_THREAD:
        return f->own->read(d, v, slot);
    case SHAPE_OWN:
        return f->own->read(d, v, value);
    case SHAPE_POINTER:
        return is_null(v);
    }
    return false;
}

/* ------------------------------------------------------------ structs --- */

/* The field of this name between two rows of the table. */
static const struct shape_field *search_fields(const struct decoder *d,
                                               const struct shape_field *from,
                                               const struct shape_field *to,
                                               struct slice name)
{
    uint32_t hidden = SHAPE_HIDDEN | SHAPE_LIFTED;
    if (d->tagged)
        hidden |= SHAPE_PLAIN;
    for (const struct shape_field *f = from; f != to && f->name; f++)
        if (!(f->flags & hidden) && slice_eq(name, shape_name(f)))
            return f;
    return NULL;
}

static void keep_aside(struct build *kept, struct arena *a, struct slice name,
                       const allm_json *v)
{
    if (!kept->arena)
        build_start_object(kept, a);
    build_key_copy(kept, name);
    build_value_copy(kept, v);
}

/* Move a field out of the metadata, where it is in JSON, if it is there. */
static bool lift_field(struct decoder *d, const struct shape_field *f,
                       const struct shape_field *metadata, void *value)
{
    const allm_json *map = shape_pointer(metadata, value);
    const allm_json *v = json_get(map, shape_name(f));
    if (!v || is_null(v))
        return true;
    struct decoder attempt = *d;    /* what does not fit stays where it is */
    attempt.guessing = true;
    bool fits = read_field(&attempt, f, v, value);
    if (attempt.error && attempt.error->kind == ALLM_ERR_NOMEM)
        return decode_nomem(d);
    if (!fits || shape_is_default(f, value)) {
        memset(shape_slot(f, value), 0, sizeof(void *));
        if (f->kind == SHAPE_MANY)
            shape_set_count(f, value, 0);
        return true;
    }
    map = json_set(d->arena, map, shape_name(f), NULL);
    shape_set_pointer(metadata, value, map);
    return map || decode_nomem(d);
}

static bool lift_all(struct decoder *d, const struct shape *s, void *value)
{
    const struct shape_field *metadata = NULL;
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (f->kind == SHAPE_MAP && !strcmp(f->name, "metadata"))
            metadata = f;
    for (const struct shape_field *f = s->fields; metadata && f->name; f++)
        if ((f->flags & SHAPE_LIFTED) && !lift_field(d, f, metadata, value))
            return false;
    return true;
}

/* Read the members that have a field; the others are kept. */
static void read_members(struct decoder *d, const struct shape *s,
                         const allm_json *object, void *value,
                         struct build *kept)
{
    struct path step = PATH_INDEX(d->path, 0);
    const struct shape_field *next = s->fields;
    d->path = &step;
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        step.key = json_slice(k);
        /* Our own documents have the members in the order of the table. */
        const struct shape_field *f = search_fields(d, next, NULL, step.key);
        if (!f)
            f = search_fields(d, s->fields, next, step.key);
        bool fits = f && read_field(d, f, allm_json_value(k), value);
        if (d->error)
            break;
        if (!fits)
            keep_aside(kept, d->arena, step.key, allm_json_value(k));
        if (f)
            next = f + 1;
    }
    d->path = step.outer;
}

bool decode_members(struct decoder *d, const struct shape *s,
                    const allm_json *object, void *value)
{
    struct build kept = { .arena = NULL };
    read_members(d, s, object, value, &kept);
    if (kept.arena)
        build_end(&kept);
    if (d->error || !lift_all(d, s, value) ||
        (kept.arena && !set_kept(d, s, &kept, value)))
        return false;
    d->error = shape_settle(d->home, s, value);
    return !d->error;
}

/* Which variant of s an object is, and its members; NULL if none. */
static const struct shape *recognise(const struct decoder *d,
                                     const struct shape *s, const allm_json *v,
                                     const allm_json **members, bool *tagged)
{
    const allm_json *type = json_get(v, SLICE("__type__"));
    *tagged = allm_json_type_of(type) == ALLM_JSON_TEXT;
    *members = *tagged ? json_get(v, SLICE("data")) : v;
    if (allm_json_type_of(*members) != ALLM_JSON_OBJECT)
        return NULL;
    if (!*tagged && d->guessing && d->tagged)
        return NULL;
    if (!*tagged && (d->guessing || s->variants))
        return s->pick_json ? s->pick_json(v) : NULL;
    if (!*tagged)
        return s;
    if (!s->variants)
        return json_is(type, s->tag) ? s : NULL;
    for (const struct shape *const *one = s->variants; *one; one++)
        if (json_is(type, (*one)->tag))
            return *one;
    return NULL;
}

const void *decode_value(struct decoder *d, const struct shape *s,
                         const allm_json *v)
{
    const allm_json *members;
    struct decoder inner;
    bool tagged;
    s = recognise(d, s, v, &members, &tagged);
    void *made = s ? place_struct(d, s, members, &inner) : NULL;
    if (!made)
        return NULL;
    inner.tagged = tagged;
    bool ok = decode_members(&inner, s, members, made);
    d->error = inner.error;
    return ok ? made : NULL;
}
