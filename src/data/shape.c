/*
 * shape.c - copy structs by the table of their fields
 *
 * The size of a caller's struct, which may come from an older or newer header,
 * determines which members it has.  If it is shorter than ours, the rest is
 * zero, the default.  If it is longer, the members that we do not know must be
 * zero.
 */
#include "data/shape.h"

#include "base/status.h"
#include "json/json.h"

#include <stdint.h>

/* --------------------------------------------------------------- access --- */

const struct shape *shape_of(const struct shape *s, const void *value)
{
    /* The member after the head, if there is one, selects the variant. */
    size_t n = ((const struct shape_head *)value)->size;
    if (!s->pick || n < sizeof(struct shape_head) + sizeof(uint32_t))
        return s;
    return s->pick(value);
}

struct slice shape_text(const char *text, size_t len)
{
    if (!text || len == 0 || len == ALLM_NUL_ENDED)
        return slice_of(text);
    return (struct slice){ text, len };
}

const allm_json *shape_stranger(const struct shape *s, const void *value)
{
    const allm_json *kept = shape_kept(s, value);
    return allm_json_count(kept) == 1 ? allm_json_at(kept, 0) : NULL;
}

bool shape_is_default(const struct shape_field *f, const void *value)
{
    switch (f->kind) {
    case SHAPE_FLAG:
    case SHAPE_ENUM:
        return *(const uint32_t *)shape_at(f, value) == 0;
    case SHAPE_COUNT:
        return *(const uint64_t *)shape_at(f, value) == 0;
    case SHAPE_INT:
        return !((const allm_int *)shape_at(f, value))->set;
    case SHAPE_NUM:
        return !((const allm_num *)shape_at(f, value))->set;
    case SHAPE_MANY:
        return shape_count(f, value) == 0;
    case SHAPE_OWN:
        return false;
    default:
        return !shape_pointer(f, value);
    }
}

/* --------------------------------------------------------------- making --- */

void *shape_make(struct arena *a, const struct shape *s)
{
    struct shape_head *v = arena_zero(a, s->size);
    if (!v)
        return NULL;
    v->size = s->size;
    if (s->begin)
        s->begin(v);
    return v;
}

void *shape_root(struct mem mem, const struct shape *s, size_t hint)
{
    struct allm_home *home = home_new(mem, s->size + hint);
    struct shape_head *v = home ? shape_make(home_arena(home), s) : NULL;
    if (!v) {
        home_drop(home);
        return NULL;
    }
    v->home = home;
    home_set_value(home, v);
    return v;
}

const allm_error *shape_settle(struct allm_home *home, const struct shape *s,
                               void *value)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (!(f->flags & SHAPE_FILLED) || !shape_is_default(f, value))
            continue;
        void *empty = shape_make(home_arena(home), f->of);
        if (!empty)
            return status_nomem();
        shape_set_pointer(f, value, empty);
    }
    return s->settle ? s->settle(home, value) : NULL;
}

/* -------------------------------------------------------------- copying --- */

/* The state of a copy: its target, and the error. */
struct copy {
    struct allm_home *home;
    struct arena *arena;
    const allm_error *error;
};

static bool no_memory(struct copy *c)
{
    c->error = status_nomem();
    return false;
}

static bool fail_copy(struct copy *c, const allm_error *error)
{
    c->error = error ? error : status_nomem();
    return false;
}

static bool all_zero(const char *bytes, size_t n)
{
    while (n && *bytes == 0)
        bytes++, n--;
    return n == 0;
}

const char *shape_size_fault(const void *given, size_t least, size_t known)
{
    size_t n;
    memcpy(&n, given, sizeof n);
    if (n < least)
        return "the struct has no size; fill it in with ALLM(), or set .size";
    if (n > known && !all_zero((const char *)given + known, n - known))
        return "the struct sets members that this version of the library "
               "does not know";
    return NULL;
}

/* The caller's struct with all members that we know; NULL: misuse. */
static const void *view_of(struct copy *c, const struct shape *s,
                           const void *from)
{
    size_t n = ((const struct shape_head *)from)->size;
    const char *fault = shape_size_fault(from, sizeof(struct shape_head),
                                         s->size);
    if (fault) {
        fail_copy(c, status_error(c->arena, ALLM_ERR_MISUSE, "struct_size",
                                  "allm_%s: %s", s->noun, fault));
        return NULL;
    }
    if (n >= s->size)
        return from;
    void *longer = arena_zero(c->arena, s->size);
    if (longer)
        memcpy(longer, from, n);
    else
        no_memory(c);
    return longer;
}

static const void *copy_value(struct copy *c, const struct shape *s,
                              const void *from);

static bool copy_plain(const struct shape_field *f, const void *from, void *to,
                       size_t size)
{
    memcpy(shape_slot(f, to), shape_at(f, from), size);
    return true;
}

static bool copy_text(struct copy *c, const struct shape_field *f,
                      const void *from, void *to)
{
    const char *given = shape_pointer(f, from);
    const char *mine = arena_text(c->arena, given);
    shape_set_pointer(f, to, mine);
    return mine || !given || no_memory(c);
}

static struct slice bytes_of(const struct shape_field *f, const void *from)
{
    return shape_text(shape_pointer(f, from), shape_count(f, from));
}

static bool copy_bytes(struct copy *c, const struct shape_field *f,
                       const void *from, void *to)
{
    struct slice given = bytes_of(f, from);
    const char *mine = arena_copy(c->arena, given);
    shape_set_pointer(f, to, mine);
    shape_set_count(f, to, given.len);
    return mine || !given.ptr || no_memory(c);
}

/* A JSON value at `out`; null instead of an object or an array means absent. */
static bool copy_json(struct copy *c, const struct shape *s, const char *name,
                      enum shape_kind kind, const allm_json *given, void *out)
{
    allm_json_type type = allm_json_type_of(given);
    allm_json_type want = kind == SHAPE_MAP     ? ALLM_JSON_OBJECT
                          : kind == SHAPE_ARRAY ? ALLM_JSON_ARRAY
                                                : type;
    if (!given || (type == ALLM_JSON_NULL && type != want))
        return true;
    if (type == ALLM_JSON_NONE)
        return fail_copy(c,
                         status_error(c->arena, ALLM_ERR_MISUSE, "broken_json",
                                      "allm_%s: %s is a JSON document that "
                                      "was refused; ask allm_json_error()",
                                      s->noun, name));
    if (type != want)
        return fail_copy(
            c, status_error(c->arena, ALLM_ERR_MISUSE, "wrong_type",
                            "allm_%s: %s must be a JSON %s", s->noun, name,
                            kind == SHAPE_MAP ? "object" : "array"));
    const allm_json *mine = json_copy(c->arena, given);
    memcpy(out, &mine, sizeof mine);
    return mine || no_memory(c);
}

static bool copy_one(struct copy *c, const struct shape_field *f,
                     const void *from, void *to)
{
    const void *given = shape_pointer(f, from);
    const void *mine = given ? copy_value(c, f->of, given) : NULL;
    shape_set_pointer(f, to, mine);
    return mine || !given;
}

static bool copy_element(struct copy *c, const struct shape *s,
                         const struct shape_field *f, const void *given,
                         size_t i, const void **mine)
{
    if (!given)
        return fail_copy(c,
                         status_error(c->arena, ALLM_ERR_MISUSE, "null_element",
                                      "allm_%s: element %zu of %s is NULL",
                                      s->noun, i, f->name));
    *mine = copy_value(c, f->of, given);
    return *mine != NULL;
}

static bool copy_many(struct copy *c, const struct shape *s,
                      const struct shape_field *f, const void *from, void *to)
{
    const void *const *given = shape_pointer(f, from);
    size_t n = shape_count(f, from), size;
    if (!given && n)
        return fail_copy(c,
                         status_error(c->arena, ALLM_ERR_MISUSE, "missing_list",
                                      "allm_%s: %s is NULL, but its count is "
                                      "%zu",
                                      s->noun, f->name, n));
    if (!given)
        return true;
    /* One more, so that the list is also NULL-terminated. */
    if (n == SIZE_MAX || !mem_mul(n + 1, sizeof *given, &size))
        return no_memory(c);
    const void **mine = arena_zero(c->arena, size);
    if (!mine)
        return no_memory(c);
    shape_set_pointer(f, to, mine);
    shape_set_count(f, to, n);
    for (size_t i = 0; i < n; i++)
        if (!copy_element(c, s, f, given[i], i, &mine[i]))
            return false;
    return true;
}

static bool copy_thread(struct copy *c, const struct shape_field *f,
                        const void *from, void *to)
{
    const allm_error *trouble = f->own->share(c->home, shape_pointer(f, from),
                                              shape_slot(f, to));
    return !trouble || fail_copy(c, status_retell(c->arena, trouble));
}

static bool copy_field(struct copy *c, const struct shape *s,
                       const struct shape_field *f, const void *from, void *to)
{
    switch (f->kind) {
    case SHAPE_TEXT:    return copy_text(c, f, from, to);
    case SHAPE_BYTES:   return copy_bytes(c, f, from, to);
    case SHAPE_FLAG:    return copy_plain(f, from, to, sizeof(uint32_t));
    case SHAPE_ENUM:    return copy_plain(f, from, to, sizeof(uint32_t));
    case SHAPE_COUNT:   return copy_plain(f, from, to, sizeof(uint64_t));
    case SHAPE_INT:     return copy_plain(f, from, to, sizeof(allm_int));
    case SHAPE_NUM:     return copy_plain(f, from, to, sizeof(allm_num));
    case SHAPE_POINTER: return copy_plain(f, from, to, sizeof(void *));
    case SHAPE_MAP:
    case SHAPE_ARRAY:
    case SHAPE_ANY:
        return copy_json(c, s, f->name, f->kind, shape_pointer(f, from),
                         shape_slot(f, to));
    case SHAPE_ONE:     return copy_one(c, f, from, to);
    case SHAPE_MANY:    return copy_many(c, s, f, from, to);
    case SHAPE_THREAD:  return copy_thread(c, f, from, to);
    case SHAPE_OWN:     break;
    }
    return true;
}

static bool copy_kept(struct copy *c, const struct shape *s, const void *from,
                      void *to)
{
    bool any = s->whole || shape_stranger(s, from);
    return copy_json(c, s, "kept", any ? SHAPE_ANY : SHAPE_MAP,
                     shape_kept(s, from), (char *)to + s->kept);
}

/* Fill `to`, a new struct of shape s in c's home, from the caller's. */
static bool copy_into(struct copy *c, const struct shape *s, const void *from,
                      void *to)
{
    from = view_of(c, s, from);
    if (!from)
        return false;
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (!copy_field(c, s, f, from, to))
            return false;
    if (!copy_kept(c, s, from, to))
        return false;
    c->error = shape_settle(c->home, s, to);
    return !c->error;
}

static bool is_ours(const void *value)
{
    const struct shape_head *head = value;
    return head->size >= sizeof *head && head->home &&
           home_value(head->home) == value;
}

/* The error of a value that its constructor rejected: it must not be used. */
static const allm_error *constructor_error(const void *value)
{
    return is_ours(value) ? home_error(((const struct shape_head *)value)->home)
                          : NULL;
}

/* Approximately the bytes that a field takes in addition to the struct. */
static size_t room_for_field(const struct shape_field *f, const void *from)
{
    enum { ROUND = 8, HOLD = 32 };      /* to align; to hold another home */
    if (shape_is_default(f, from) && !(f->flags & SHAPE_FILLED))
        return 0;
    switch (f->kind) {
    case SHAPE_TEXT:
        return slice_of(shape_pointer(f, from)).len + ROUND;
    case SHAPE_BYTES:
        return bytes_of(f, from).len + ROUND;
    case SHAPE_MAP:
    case SHAPE_ARRAY:
    case SHAPE_ANY:
        return json_size(shape_pointer(f, from)) + ROUND;
    case SHAPE_ONE:
        return f->of->counted ? HOLD : f->of->size;
    case SHAPE_MANY:
        return !shape_pointer(f, from)
                   ? 0
                   : (shape_count(f, from) + 1) * (sizeof(void *) + HOLD);
    default:
        return 0;
    }
}

/* The same for all fields, so that they fit into one block. */
static size_t room_for(const struct shape *s, const void *from)
{
    size_t n = 0;
    if (((const struct shape_head *)from)->size < s->size)
        return n;
    for (const struct shape_field *f = s->fields; f->name; f++)
        n += room_for_field(f, from);
    return n + json_size(shape_kept(s, from));
}

void *shape_keep(const struct shape *s, const void *value, struct mem mem,
                 struct arena *errors, const allm_error **error)
{
    const allm_error *refusal = constructor_error(value);
    s = shape_of(s, value);
    if (refusal) {
        *error = status_retell(errors, refusal);
        return NULL;
    }
    if (is_ours(value))
        return home_value(home_keep(((const struct shape_head *)value)->home));
    struct shape_head *v = shape_root(mem, s, room_for(s, value));
    if (!v) {
        *error = status_nomem();
        return NULL;
    }
    struct copy c = { .home = v->home, .arena = home_arena(v->home) };
    if (copy_into(&c, s, value, v))
        return v;
    *error = status_retell(errors, c.error);
    home_drop(v->home);
    return NULL;
}

/* A reference-counted value: the home keeps it alive. */
static const void *share_value(struct copy *c, const struct shape *s,
                               const void *from)
{
    const struct shape_head *v = shape_keep(s, from, home_mem(c->home),
                                            c->arena, &c->error);
    if (!v)
        return NULL;
    bool held = home_hold(c->home, v->home);
    home_drop(v->home);
    if (!held)
        no_memory(c);
    return held ? v : NULL;
}

static const void *copy_value(struct copy *c, const struct shape *s,
                              const void *from)
{
    const allm_error *refusal = constructor_error(from);
    s = shape_of(s, from);
    if (refusal) {
        c->error = status_retell(c->arena, refusal);
        return NULL;
    }
    if (s->counted)
        return share_value(c, s, from);
    void *to = shape_make(c->arena, s);
    if (!to) {
        no_memory(c);
        return NULL;
    }
    return copy_into(c, s, from, to) ? to : NULL;
}

const void *shape_copy(struct allm_home *home, const struct shape *s,
                       const void *from, const allm_error **error)
{
    struct copy c = { .home = home, .arena = home_arena(home) };
    const void *v = copy_value(&c, s, from);
    if (!v && error)
        *error = c.error;
    return v;
}

/* ---------------------------------------------------------------- roots --- */

/* A field that a constructor requires and that is not set; NULL if none. */
static const char *find_missing(const struct shape *s, const void *value)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (!(f->flags & SHAPE_NEEDED))
            continue;
        /* An empty list counts as set. */
        if (f->kind == SHAPE_MANY ? !shape_pointer(f, value)
                                  : shape_is_default(f, value))
            return f->name;
    }
    return NULL;
}

/* A field whose value has no JSON form; NULL if there is none.  The validator,
 * not this function, checks a required enum, such as a message's role. */
static const char *wrong_value(const struct shape *s, const void *value)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (f->kind == SHAPE_ENUM && !(f->flags & SHAPE_NEEDED) &&
            *(const uint32_t *)shape_at(f, value) >= f->words->count)
            return f->name;
    }
    return NULL;
}

/* The result of a constructor that failed: a root that has only an error,
 * which lives in its arena; or NULL. */
static void *refuse_root(const struct shape *s, struct shape_head *v,
                         const allm_error *error)
{
    if (error->kind == ALLM_ERR_NOMEM) {
        home_drop(v->home);
        return NULL;
    }
    memset(v + 1, 0, v->size - sizeof *v);
    if (s->failure)
        memcpy((char *)v + s->failure, &error, sizeof error);
    home_set_error(v->home, error);
    return v;
}

void *shape_failed(const struct shape *s, const allm_error *error)
{
    struct shape_head *v = shape_root(mem_default(), s, 256);
    return v ? refuse_root(s, v, status_retell(home_arena(v->home), error))
             : NULL;
}

void *shape_refused(const struct shape *s, const char *reason,
                    const char *sentence)
{
    allm_error error = STATUS_ERROR(ALLM_ERR_MISUSE, reason, sentence);
    return shape_failed(s, &error);
}

void *shape_new(const struct shape *s, const void *fields)
{
    struct shape_head none = { .size = sizeof none };
    if (!fields)
        fields = &none;
    if (constructor_error(fields))
        return shape_failed(s, constructor_error(fields));
    s = shape_of(s, fields);
    struct shape_head *v = shape_root(mem_default(), s, room_for(s, fields));
    if (!v)
        return NULL;
    struct copy c = { .home = v->home, .arena = home_arena(v->home) };
    if (!copy_into(&c, s, fields, v))
        return refuse_root(s, v, c.error);
    const char *absent = find_missing(s, v);
    const char *wrong = absent ? NULL : wrong_value(s, v);
    if (absent)
        fail_copy(&c, status_error(c.arena, ALLM_ERR_MISUSE, "missing_field",
                                   "allm_%s_new: %s is missing; set it in the "
                                   "struct you pass",
                                   s->noun, absent));
    else if (wrong)
        fail_copy(&c, status_error(c.arena, ALLM_ERR_MISUSE, "wrong_value",
                                   "allm_%s_new: %s is not a constant of its "
                                   "enum",
                                   s->noun, wrong));
    return absent || wrong ? refuse_root(s, v, c.error) : v;
}

void *shape_keep_root(const struct shape *s, const void *value)
{
    const allm_error *error = NULL;
    if (!value)
        return NULL;
    if (is_ours(value))         /* a rejected one, too: it keeps its error */
        return home_value(home_keep(((const struct shape_head *)value)->home));
    struct arena errors = arena_in(mem_default());
    void *root = shape_keep(s, value, errors.mem, &errors, &error);
    if (!root)
        root = shape_failed(s, error);
    arena_release(&errors);
    return root;
}

void shape_free(void *value)
{
    if (value && is_ours(value))
        home_drop(((struct shape_head *)value)->home);
}

const allm_error *shape_error(const void *value)
{
    return value ? constructor_error(value) : status_nomem();
}

const allm_error *shape_failure(const struct shape *s, const void *value)
{
    const allm_error *error = shape_error(value);
    const struct shape_head *head = value;
    if (!error && s->failure && head->size >= s->failure + sizeof error)
        memcpy(&error, (const char *)value + s->failure, sizeof error);
    return error;
}
