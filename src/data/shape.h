/*
 * shape.h - the fields of a struct as a table
 *
 * Every noun of the public interface is described once, by a table of its
 * fields.  Copying a struct into an owner (shape.c), writing its JSON form
 * (encode.c) and reading it back (decode.c) are one piece of code each, driven
 * by that table; a noun's own file holds the table and what is special.
 */
#ifndef DATA_SHAPE_H
#define DATA_SHAPE_H

#include "base/home.h"

enum shape_kind {               /* in the struct            default in JSON */
    SHAPE_TEXT,                 /* const char *                        null */
    SHAPE_BYTES,                /* const char *, length beside         null */
    SHAPE_FLAG,                 /* uint32_t                           false */
    SHAPE_ENUM,                 /* int, an index into words         word 0 */
    SHAPE_COUNT,                /* uint64_t                               0 */
    SHAPE_INT,                  /* allm_int                            null */
    SHAPE_NUM,                  /* allm_num                            null */
    SHAPE_MAP,                  /* const allm_json *                     {} */
    SHAPE_ARRAY,                /* const allm_json *                     [] */
    SHAPE_ANY,                  /* const allm_json *                   null */
    SHAPE_ONE,                  /* const T *                           null */
    SHAPE_MANY,                 /* const T *const *, count beside        [] */
    SHAPE_THREAD,               /* const allm_thread *           by `own`   */
    SHAPE_POINTER,              /* copied as it is; has no JSON form        */
    SHAPE_OWN                   /* written and read by `own`; not copied    */
};

enum shape_flags {
    SHAPE_NEEDED = 1 << 0,      /* a constructor refuses to do without      */
    SHAPE_FILLED = 1 << 1,      /* NULL becomes an empty struct             */
    SHAPE_HIDDEN = 1 << 2,      /* copied, but another field writes it      */
    SHAPE_SPARE  = 1 << 3,      /* written only if set                      */
    SHAPE_LIFTED = 1 << 4,      /* stands inside "metadata" in JSON         */
    SHAPE_PLAIN  = 1 << 5       /* written in the plain form only           */
};

/* The words of an enum, by value.  A NULL word is JSON's null. */
struct shape_words {
    const char *const *word;
    size_t count;
};

struct encoder;
struct decoder;

/*
 * What a field does that the table cannot say.  The functions get the struct;
 * those of a SHAPE_THREAD the thread, and the slot to put it.
 */
struct shape_own {
    void (*write)(struct encoder *e, const void *value);
    /* False: the member does not fit and is kept aside. */
    bool (*read)(struct decoder *d, const allm_json *member, void *value);
    /* Share a thread with the owner of the slot.  NULL, or why not. */
    const allm_error *(*share)(struct allm_home *home, const void *from,
                               void *slot);
};

struct shape_field {
    const char *name;           /* of the JSON member; NULL ends the table */
    size_t len;                 /* of the name */
    enum shape_kind kind;
    uint32_t flags;
    size_t at;                  /* offset in the struct */
    size_t beside;              /* offset of its length or count */
    const struct shape *of;
    const struct shape_words *words;
    const struct shape_own *own;
    int64_t fallback;           /* what an absent SHAPE_INT is written as... */
    bool has_fallback;          /* ...if this is set, else null */
};

/* Rows of a table: struct allm_T, member m. */
#define NAMED(literal) .name = (literal), .len = sizeof(literal) - 1
#define FIELD(T, m, k) { NAMED(#m), .kind = (k), .at = offsetof(allm_##T, m) }
#define FIELD_FLAGS(T, m, k, fl) \
    { NAMED(#m), .kind = (k), .at = offsetof(allm_##T, m), .flags = (fl) }
#define FIELD_NAMED(T, member, m, k, fl) \
    { NAMED(member), .kind = (k), .at = offsetof(allm_##T, m), .flags = (fl) }
#define FIELD_BYTES(T, m, len, fl) \
    { NAMED(#m), .kind = SHAPE_BYTES, .at = offsetof(allm_##T, m), \
      .beside = offsetof(allm_##T, len), .flags = (fl) }
#define FIELD_ENUM(T, m, w, fl) \
    { NAMED(#m), .kind = SHAPE_ENUM, .at = offsetof(allm_##T, m), \
      .words = &(w), .flags = (fl) }
#define FIELD_ONE(T, m, s, fl) \
    { NAMED(#m), .kind = SHAPE_ONE, .at = offsetof(allm_##T, m), .of = &(s), \
      .flags = (fl) }
#define FIELD_MANY(T, m, n, s, fl) \
    { NAMED(#m), .kind = SHAPE_MANY, .at = offsetof(allm_##T, m), \
      .beside = offsetof(allm_##T, n), .of = &(s), .flags = (fl) }
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
    const char *noun;           /* "message": for C names in sentences */
    size_t size;
    size_t kept;                /* offset of `kept` */
    const struct shape_field *fields;
    bool counted;               /* each value has a home and is shared */
    bool whole;                 /* `kept` is a value of any type, and all */

    /* A noun with several tags: which one a struct, by the enum behind its
     * head, or a plain JSON object is; the list of all, NULL at its end. */
    const struct shape *const *variants;
    const struct shape *(*pick)(const void *value);
    const struct shape *(*pick_json)(const allm_json *plain);

    /* Set what the tag says in a fresh struct. */
    void (*begin)(void *value);
    /* Complete a struct that was copied or read.  The error, or NULL. */
    const allm_error *(*settle)(struct allm_home *home, void *value);
};

/* What all structs begin with. */
struct shape_head {
    size_t size;
    struct allm_home *home;
};

/* The variant that a struct is; the shape itself if there is one only. */
const struct shape *shape_of(const struct shape *s, const void *value);

/*
 * What is wrong with the size of a caller's struct, which begins with it, as a
 * sentence; NULL if nothing is.  It must have `least` bytes, and nothing but
 * zeros beyond the `known` ones.
 */
const char *shape_size_fault(const void *given, size_t least, size_t known);

/* Access by table. */
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
    memcpy(&n, (const char *)value + f->beside, sizeof n);
    return n;
}

static inline void shape_set_count(const struct shape_field *f, void *value,
                                   size_t n)
{
    memcpy((char *)value + f->beside, &n, sizeof n);
}

static inline const allm_json *shape_kept(const struct shape *s,
                                          const void *value)
{
    const allm_json *kept;
    memcpy(&kept, (const char *)value + s->kept, sizeof kept);
    return kept;
}

/* What stands in the place of a struct, if its `kept` is an array of one. */
const allm_json *shape_stranger(const struct shape *s, const void *value);

/* A text with a length beside it, which a caller may leave out. */
struct slice shape_text(const char *text, size_t len);

/* Is the field as it would be by default? */
bool shape_is_default(const struct shape_field *f, const void *value);

/*
 * A zeroed struct in the arena, its size set; for a counted shape or a root
 * use shape_root().  NULL: no memory.
 */
void *shape_make(struct arena *a, const struct shape *s);

/* A struct in a home of its own, as the home's value. */
void *shape_root(struct mem mem, const struct shape *s, size_t hint);

/*
 * Copy a struct, ours or a caller's, into `home`; counted ones are shared.
 * NULL with *error, in the home: misuse (size not set, unknown members set, a
 * value that was refused), or no memory.
 */
const void *shape_copy(struct allm_home *home, const struct shape *s,
                       const void *from, const allm_error **error);

/* Complete a struct: empty structs where they are promised, then settle(). */
const allm_error *shape_settle(struct allm_home *home, const struct shape *s,
                               void *value);

/* The functions that every noun has, for its own file to call. */
void *shape_new(const struct shape *s, const void *fields);
void *shape_keep_root(const struct shape *s, const void *value);

/* What a constructor returns for fields that it will not take: an empty root
 * with an error of kind MISUSE.  NULL: no memory. */
void *shape_refused(const struct shape *s, const char *reason,
                    const char *sentence);
/* The same for any error. */
void *shape_failed(const struct shape *s, const allm_error *error);
void shape_free(void *value);
const allm_error *shape_error(const void *value);

/*
 * A root for a struct: counted if it is one of ours, else copied, whether or
 * not its needed fields are there.  NULL with *error, told in `tell`, as above.
 */
void *shape_keep(const struct shape *s, const void *value, struct mem mem,
                 struct arena *tell, const allm_error **error);

#endif
