/*
 * shape.h - describe the fields of a struct in a table
 *
 * Every type of the public interface is described once, by a table of its
 * fields.  Copying a struct (shape.c), writing it as JSON (encode.c) and
 * reading it back (decode.c) are one piece of code each, driven by that table;
 * a type's own file holds the table and what is special about it.
 */
#pragma once

#include "base/home.h"
#include "json/emit.h"

enum shape_kind {               /* in the struct            default in JSON */
    SHAPE_TEXT,                 /* const char *                        null */
    SHAPE_BYTES,                /* const char *, and a length          null */
    SHAPE_FLAG,                 /* uint32_t                           false */
    SHAPE_ENUM,                 /* int, an index into words         word 0 */
    SHAPE_COUNT,                /* uint64_t                               0 */
    SHAPE_INT,                  /* allm_int                            null */
    SHAPE_NUM,                  /* allm_num                            null */
    SHAPE_MAP,                  /* const allm_json *                     {} */
    SHAPE_ARRAY,                /* const allm_json *                     [] */
    SHAPE_ANY,                  /* const allm_json *                   null */
    SHAPE_ONE,                  /* const T *                           null */
    SHAPE_MANY,                 /* const T *const *, and a count         [] */
    SHAPE_THREAD,               /* const allm_thread *           by `own`   */
    SHAPE_POINTER,              /* copied as it is; has no JSON form        */
    SHAPE_OWN                   /* written and read by `own`; not copied    */
};

enum shape_flags {
    SHAPE_NEEDED = 1 << 0,      /* a constructor requires it                */
    SHAPE_FILLED = 1 << 1,      /* NULL becomes an empty struct             */
    SHAPE_HIDDEN = 1 << 2,      /* copied, but written by another field     */
    SHAPE_SPARE  = 1 << 3,      /* written only if set                      */
    SHAPE_LIFTED = 1 << 4,      /* inside "metadata" in JSON                */
    SHAPE_PLAIN  = 1 << 5       /* written in the plain form only           */
};

/* The names of an enum, by value.  A NULL name is JSON null. */
struct shape_words {
    const char *const *word;
    size_t count;
};

struct encoder;
struct decoder;

/*
 * Functions for a field that the table cannot describe.  They get the struct;
 * those of a SHAPE_THREAD get the thread, and where to store it.
 */
struct shape_own {
    void (*write)(struct encoder *e, const void *value);
    /* False: the member does not fit and is kept. */
    bool (*read)(struct decoder *d, const allm_json *member, void *value);
    /* Share a thread with the owner of the slot.  Returns NULL, or the
     * error. */
    const allm_error *(*share)(struct allm_home *home, const void *from,
                               void *slot);
};

struct shape_field {
    const char *name;           /* of the JSON member; NULL ends the table */
    size_t len;                 /* of the name */
    struct emit_label label;    /* the name, as it is written */
    enum shape_kind kind;
    uint32_t flags;
    size_t at;                  /* offset in the struct */
    size_t length_at;           /* offset of its length or count */
    const struct shape *of;
    const struct shape_words *words;
    const struct shape_own *own;
    int64_t fallback;           /* an absent SHAPE_INT is written as this... */
    bool has_fallback;          /* ...if this is set, otherwise as null */
};

/* Rows of a table: struct allm_T, member m. */
#define NAMED(literal) \
    .name = (literal), .len = sizeof(literal) - 1, .label = EMIT_LABEL(literal)
#define FIELD(T, m, k) { NAMED(#m), .kind = (k), .at = offsetof(allm_##T, m) }
#define FIELD_FLAGS(T, m, k, fl) \
    { NAMED(#m), .kind = (k), .at = offsetof(allm_##T, m), .flags = (fl) }
#define FIELD_NAMED(T, member, m, k, fl) \
    { NAMED(member), .kind = (k), .at = offsetof(allm_##T, m), .flags = (fl) }
#define FIELD_BYTES(T, m, len, fl) \
    { NAMED(#m), .kind = SHAPE_BYTES, .at = offsetof(allm_##T, m), \
      .length_at = offsetof(allm_##T, len), .flags = (fl) }
#define FIELD_ENUM(T, m, w, fl) \
    { NAMED(#m), .kind = SHAPE_ENUM, .at = offsetof(allm_##T, m), \
      .words = &(w), .flags = (fl) }
#define FIELD_ONE(T, m, s, fl) \
    { NAMED(#m), .kind = SHAPE_ONE, .at = offsetof(allm_##T, m), .of = &(s), \
      .flags = (fl) }
#define FIELD_MANY(T, m, n, s, fl) \
    { NAMED(#m), .kind = SHAPE_MANY, .at = offsetof(allm_##T, m), \
      .length_at = offsetof(allm_##T, n), .of = &(s), .flags = (fl) }
#define FIELD_THREAD(T, m, o) \
    { NAMED(#m), .kind = SHAPE_THREAD, .at = offsetof(allm_##T, m), \
      .own = &(o) }
#define FIELD_OWN(member, o, fl) \
    { NAMED(member), .kind = SHAPE_OWN, .own = &(o), .flags = (fl) }
#define FIELD_END { .name = NULL }

#define WORDS(...) \
    { (const char *const[]){ __VA_ARGS__ }, \
      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *) }

struct shape {
    const char *tag;            /* "ALLM.Message" */
    const char *noun;           /* "message": for C names in messages */
    size_t size;
    size_t kept;                /* offset of `kept` */
    size_t failure;             /* offset of `error`, for results; 0: none */
    const struct shape_field *fields;
    bool counted;               /* reference-counted: each value has a home */
    bool whole;                 /* `kept` is a value of any type, and all */

    /* For a type with several tags: how to find the tag of a struct, by the
     * enum after its head, or of a plain JSON object; and the NULL-terminated
     * list of all. */
    const struct shape *const *variants;
    const struct shape *(*pick)(const void *value);
    const struct shape *(*pick_json)(const allm_json *plain);

    /* Set the members of a new struct that follow from the tag. */
    void (*begin)(void *value);
    /* Complete a struct that was copied or read.  Returns the error, or
     * NULL. */
    const allm_error *(*settle)(struct allm_home *home, void *value);
};

/* The first members of the shape of struct allm_T. */
#define SHAPE_OF(T, tag_) \
    .tag = (tag_), .noun = #T, .size = sizeof(allm_##T), \
    .kept = offsetof(allm_##T, kept)

/* The first members of all structs. */
struct shape_head {
    size_t size;
    struct allm_home *home;
};

/* The variant of a struct; the shape itself if there is only one. */
const struct shape *shape_of(const struct shape *s, const void *value);

/*
 * What is wrong with the size of a caller's struct, which begins with it, as a
 * message; NULL if nothing is.  It must have at least `least` bytes, and only
 * zeros after the `known` ones.
 */
const char *shape_size_fault(const void *given, size_t least, size_t known);

/* Access by means of the table. */
static inline struct slice shape_name(const struct shape_field *f)
{
    return (struct slice){ f->name, f->len };
}

static inline const void *shape_at(const struct shape_field *f,
                                   const void *value)
{
    return (const char *)value + f->at;
}

static inline void *shape_slot(const struct shape_field *f, void *value)
{
    return (char *)value + f->at;
}

static inline const void *shape_pointer(const struct shape_field *f,
                                        const void *value)
{
    const void *p;
    memcpy(&p, shape_at(f, value), sizeof p);
    return p;
}

static inline void shape_set_pointer(const struct shape_field *f, void *value,
                                     const void *pointer)
{
    memcpy(shape_slot(f, value), &pointer, sizeof pointer);
}

static inline size_t shape_count(const struct shape_field *f, const void *value)
{
    size_t n;
    memcpy(&n, (const char *)value + f->length_at, sizeof n);
    return n;
}

static inline void shape_set_count(const struct shape_field *f, void *value,
                                   size_t n)
{
    memcpy((char *)value + f->length_at, &n, sizeof n);
}

static inline const allm_json *shape_kept(const struct shape *s,
                                          const void *value)
{
    const allm_json *kept;
    memcpy(&kept, (const char *)value + s->kept, sizeof kept);
    return kept;
}

/* The value that an empty struct represents, if its `kept` is an array of
 * one. */
const allm_json *shape_stranger(const struct shape *s, const void *value);

/* A text and its length, which the caller may leave out. */
struct slice shape_text(const char *text, size_t len);

/* Does the field have its default value? */
bool shape_is_default(const struct shape_field *f, const void *value);

/*
 * A zeroed struct in the arena, its size set.  For a reference-counted shape
 * or a root use shape_root().  NULL: out of memory.
 */
void *shape_make(struct arena *a, const struct shape *s);

/* A struct in a home of its own, as the home's value. */
void *shape_root(struct mem mem, const struct shape *s, size_t hint);

/*
 * Copy a struct, ours or a caller's, into `home`; reference-counted ones are
 * shared.  NULL with *error, in the home: misuse (size not set, unknown
 * members set, a rejected value), or out of memory.  `error` may be NULL.
 */
const void *shape_copy(struct allm_home *home, const struct shape *s,
                       const void *from, const allm_error **error);

/* Complete a struct: add the empty structs of SHAPE_FILLED, then settle(). */
const allm_error *shape_settle(struct allm_home *home, const struct shape *s,
                               void *value);

/* The functions that every type has, to be called by its own file. */
void *shape_new(const struct shape *s, const void *fields);
void *shape_keep_root(const struct shape *s, const void *value);

/* The result of a constructor that rejects its fields: an empty root with an
 * error of kind MISUSE. NULL: out of memory. */
void *shape_refused(const struct shape *s, const char *reason,
                    const char *sentence);
/* The same for any error. */
void *shape_failed(const struct shape *s, const allm_error *error);
void shape_free(void *value);
const allm_error *shape_error(const void *value);
/* The same; else the member that the shape calls `failure`. */
const allm_error *shape_failure(const struct shape *s, const void *value);

/*
 * A root for a struct: shared if it is one of ours, otherwise copied, even if
 * required fields are missing.  NULL with *error, in `errors`, as above.
 */
void *shape_keep(const struct shape *s, const void *value, struct mem mem,
                 struct arena *errors, const allm_error **error);
