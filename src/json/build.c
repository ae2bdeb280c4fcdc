/*
 * build.c - build a JSON value from the outermost container inwards
 *
 *      vals:  head | root | member | member ...
 *                    ^ open container: uni.ofs is `open` of its parent, the
 *                      tag counts its members (a key and its value are two)
 *
 * Closing a container turns both into what the reader produces: uni.ofs
 * becomes the size in bytes, the tag the number of elements or pairs.
 *
 * Invariant: open is 0 or 1 + the index of an open container, and from there
 * the parents chain back to the root.
 */
#include "json/build.h"

#include "base/status.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/members.h"
#include "json/val.h"

enum { FIRST = 16 };

static void mark_misuse(struct build *b)
{
    if (!b->broken)
        b->misused = true;
    b->broken = true;
}

static yyjson_val *open_container(const struct build *b)
{
    return b->open ? (yyjson_val *)b->vals + (b->open - 1) : NULL;
}

static bool reserve_values(struct build *b, size_t n)
{
    size_t want, bytes;
    if (!mem_add(b->count, n, &want))
        return false;
    if (want <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap * 2 : FIRST;
    if (cap < want)
        cap = want;
    if (!mem_mul(cap, sizeof(yyjson_val), &bytes))
        return false;
    void *vals = arena_resize(b->arena, b->vals, b->cap * sizeof(yyjson_val),
                              bytes);
    if (!vals)
        return false;
    b->vals = vals;
    b->cap = cap;
    return true;
}

/* Append room for n values; NULL breaks the builder. */
static yyjson_val *add_room(struct build *b, size_t n)
{
    size_t head = b->count == 0;
    if (!reserve_values(b, n + head)) {
        b->broken = true;
        return NULL;
    }
    b->count += head;
    yyjson_val *v = (yyjson_val *)b->vals + b->count;
    b->count += n;
    return v;
}

/* Append room for a value of n parts, if a value is allowed here. */
static yyjson_val *add_value(struct build *b, size_t n)
{
    if (b->broken)
        return NULL;
    yyjson_val *in = open_container(b);
    bool keyed = in && val_type(in) == YYJSON_TYPE_OBJ;
    if ((!in && b->count) || keyed != b->wants_value) {
        mark_misuse(b);
        return NULL;
    }
    yyjson_val *v = add_room(b, n);
    if (v && in) {
        open_container(b)->tag += (uint64_t)1 << YYJSON_TAG_BIT;
        b->wants_value = false;
    }
    return v;
}

static void add_plain(struct build *b, uint8_t type, uint64_t payload)
{
    yyjson_val *v = add_value(b, 1);
    if (v)
        *v = (yyjson_val){ .tag = type, .uni.u64 = payload };
}

static void add_container(struct build *b, uint8_t type)
{
    yyjson_val *v = add_value(b, 1);
    if (!v)
        return;
    *v = (yyjson_val){ .tag = type, .uni.ofs = b->open };
    b->open = b->count;
}

void build_object(struct build *b)
{
    add_container(b, YYJSON_TYPE_OBJ);
}

void build_array(struct build *b)
{
    add_container(b, YYJSON_TYPE_ARR);
}

void build_end(struct build *b)
{
    yyjson_val *in = open_container(b);
    if (b->broken)
        return;
    if (!in || b->wants_value) {
        mark_misuse(b);
        return;
    }
    size_t members = val_len(in);
    if (val_type(in) == YYJSON_TYPE_OBJ)
        members /= 2;
    size_t index = b->open - 1;
    b->open = in->uni.ofs;
    in->tag = ((uint64_t)members << YYJSON_TAG_BIT) | val_type(in);
    in->uni.ofs = (b->count - index) * sizeof *in;
}

static yyjson_val text_value(struct slice text)
{
    return (yyjson_val){ .tag = val_text_tag(text.len),
                         .uni.str = text.ptr ? text.ptr : "" };
}

void build_key(struct build *b, struct slice key)
{
    yyjson_val *in = open_container(b);
    if (b->broken)
        return;
    if (!in || val_type(in) != YYJSON_TYPE_OBJ || b->wants_value) {
        mark_misuse(b);
        return;
    }
    yyjson_val *v = add_room(b, 1);
    if (!v)
        return;
    *v = text_value(key);
    open_container(b)->tag += (uint64_t)1 << YYJSON_TAG_BIT;
    b->wants_value = true;
}

void build_text(struct build *b, struct slice text)
{
    yyjson_val *v = add_value(b, 1);
    if (v)
        *v = text_value(text);
}

void build_value(struct build *b, const allm_json *json)
{
    const yyjson_val *val = val_of(json);
    if (!val) {
        b->broken = true;       /* it could not be made: out of memory */
        return;
    }
    if (val_type(val) == YYJSON_TYPE_NONE) {
        mark_misuse(b);
        return;
    }
    size_t n = val_span(val);
    yyjson_val *v = add_value(b, n);
    if (v)
        memcpy(v, val, n * sizeof *v);
}

/* A copy in the arena; the empty string needs none. */
static struct slice copy_of(struct build *b, struct slice text)
{
    if (text.len == 0 || b->broken)
        return SLICE("");
    char *copy = arena_copy(b->arena, text);
    if (!copy)
        b->broken = true;
    return (struct slice){ copy, text.len };
}

void build_key_copy(struct build *b, struct slice key)
{
    build_key(b, copy_of(b, key));
}

void build_text_copy(struct build *b, struct slice text)
{
    build_text(b, copy_of(b, text));
}

void build_text_or_null(struct build *b, const char *text)
{
    if (text)
        build_text(b, slice_of(text));
    else
        build_null(b);
}

void build_entry(struct build *b, const allm_json *key)
{
    build_key(b, json_slice(key));
    build_value(b, allm_json_value(key));
}

void build_entries(struct build *b, const allm_json *object,
                   const char *const *except)
{
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));)
        if (!slice_in(json_slice(k), except))
            build_entry(b, k);
}

void build_value_copy(struct build *b, const allm_json *json)
{
    build_value(b, json);
    if (b->broken)
        return;
    size_t n = val_span(val_of(json));
    size_t from = b->count - n;
    char *room = arena_alloc(b->arena, val_text_bytes(val_of(json), n));
    if (room)
        val_copy_texts((yyjson_val *)b->vals + from, n, room);
    else
        b->broken = true;
}

void build_int(struct build *b, int64_t n)
{
    uint8_t subtype = n < 0 ? YYJSON_SUBTYPE_SINT : YYJSON_SUBTYPE_UINT;
    add_plain(b, YYJSON_TYPE_NUM | subtype, (uint64_t)n);
}

void build_uint(struct build *b, uint64_t n)
{
    add_plain(b, YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT, n);
}

void build_number(struct build *b, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x - x != 0)             /* infinite, or not a number */
        build_null(b);
    else
        add_plain(b, YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL, bits);
}

void build_bool(struct build *b, bool value)
{
    uint8_t subtype = value ? YYJSON_SUBTYPE_TRUE : YYJSON_SUBTYPE_FALSE;
    add_plain(b, YYJSON_TYPE_BOOL | subtype, 0);
}

void build_null(struct build *b)
{
    add_plain(b, YYJSON_TYPE_NULL, 0);
}

const allm_json *build_done(struct build *b)
{
    if (b->broken || b->open || b->count < 2)
        return NULL;
    yyjson_val *root = (yyjson_val *)b->vals + 1;
    val_set_head(root, NULL);
    return val_json(root);
}

const allm_json *build_one(struct arena *a, const char *key,
                           const allm_json *value)
{
    struct build b = build_object_in(a);
    build_value_at(&b, key, value);
    return build_finish(&b);
}

const allm_json *build_one_text(struct arena *a, const char *key,
                                struct slice text)
{
    struct build b = build_object_in(a);
    build_text_at(&b, key, text);
    return build_finish(&b);
}

const allm_json *build_alone(struct arena *a, struct slice text)
{
    struct build b = build_in(a);
    build_text(&b, text);
    return build_done(&b);
}

const allm_json *build_alone_copy(struct arena *a, struct slice text)
{
    struct build b = build_in(a);
    build_text_copy(&b, text);
    return build_done(&b);
}

/* --------------------------------------------------------- the public --- */

struct allm_json_build {
    struct allm_home *home;
    struct build build;
    const char *said;           /* a description of the first misuse */
};

allm_json_build *allm_json_build_new(const allm_allocator *allocator)
{
    struct allm_home *h = home_new(mem_from(allocator), 1024);
    if (!h)
        return NULL;
    allm_json_build *b = arena_zero(home_arena(h), sizeof *b);
    if (!b) {
        home_drop(h);
        return NULL;
    }
    b->home = h;
    build_init(&b->build, home_arena(h));
    return b;
}

/* Record what the call was, if it is the one that broke the builder. */
static void remember_call(allm_json_build *b, const char *what)
{
    if (b->build.misused && !b->said)
        b->said = what;
}

/* The text with malformed bytes replaced, in the arena. */
static struct slice repaired(allm_json_build *b, struct slice text)
{
    if (text.len == 0 || utf8_valid(text, NULL))
        return copy_of(&b->build, text);
    struct slice out = utf8_repair(b->build.arena, text);
    if (!out.ptr)
        b->build.broken = true;
    return out;
}

void allm_json_build_object(allm_json_build *b)
{
    if (!b)
        return;
    build_object(&b->build);
    remember_call(b, "an object was begun where no value is allowed");
}

void allm_json_build_array(allm_json_build *b)
{
    if (!b)
        return;
    build_array(&b->build);
    remember_call(b, "an array was begun where no value is allowed");
}

void allm_json_build_end(allm_json_build *b)
{
    if (!b)
        return;
    build_end(&b->build);
    remember_call(b, "an end was added with no open container, or after a key");
}

void allm_json_build_key(allm_json_build *b, const char *key)
{
    if (!b)
        return;
    if (key)
        build_key(&b->build, repaired(b, slice_of(key)));
    else
        mark_misuse(&b->build);
    remember_call(b,
                  key ? "a key was added outside of an object, or after a key"
                      : "a key was NULL");
}

void allm_json_build_text(allm_json_build *b, const char *text, size_t len)
{
    if (!b)
        return;
    if (text)
        build_text(&b->build, repaired(b, slice_given(text, len)));
    else
        build_null(&b->build);
    remember_call(b, "a string was added where no value is allowed");
}

static const char number_misplaced[] =
    "a number was added where no value is allowed";

void allm_json_build_int(allm_json_build *b, int64_t n)
{
    if (!b)
        return;
    build_int(&b->build, n);
    remember_call(b, number_misplaced);
}

void allm_json_build_uint(allm_json_build *b, uint64_t n)
{
    if (!b)
        return;
    build_uint(&b->build, n);
    remember_call(b, number_misplaced);
}

void allm_json_build_number(allm_json_build *b, double x)
{
    if (!b)
        return;
    build_number(&b->build, x);
    remember_call(b, number_misplaced);
}

void allm_json_build_bool(allm_json_build *b, bool value)
{
    if (!b)
        return;
    build_bool(&b->build, value);
    remember_call(b, "true or false was added where no value is allowed");
}

void allm_json_build_null(allm_json_build *b)
{
    if (!b)
        return;
    build_null(&b->build);
    remember_call(b, "null was added where no value is allowed");
}

void allm_json_build_value(allm_json_build *b, const allm_json *v)
{
    if (!b)
        return;
    build_value_copy(&b->build, v);
    remember_call(b, v && val_type(val_of(v)) == YYJSON_TYPE_NONE
                         ? "a value was added that failed to be read or built"
                         : "a value was added where no value is allowed");
}

/* What is unfinished in a builder that is not broken; NULL if nothing is. */
static const char *unfinished(const struct build *b)
{
    if (b->count == 0)
        return "no value was added";
    if (b->open)
        return "a container was not ended";
    return NULL;
}

allm_json *allm_json_build_done(allm_json_build *b)
{
    if (!b)
        return NULL;
    struct allm_home *h = b->home;
    const allm_error *error = status_nomem();
    const allm_json *v = build_done(&b->build);
    const yyjson_val *twice = NULL;

    if (v && !members_differ_deep(val_of(v), home_mem(h), &twice))
        v = NULL;
    if (twice)
        error = status_error(home_arena(h), ALLM_ERR_MISUSE, "misuse",
                             "a JSON value was built wrongly: the key \"%s\" "
                             "occurs twice in one object",
                             twice->uni.str);
    else if (!v && (b->build.misused || !b->build.broken))
        error = status_error(home_arena(h), ALLM_ERR_MISUSE, "misuse",
                             "a JSON value was built wrongly: %s; add keys "
                             "only to objects, end every container, and "
                             "build exactly one value",
                             b->said ? b->said : unfinished(&b->build));
    return json_root_of(h, v, error ? error : status_nomem());
}
