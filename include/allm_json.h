/*
 * allm_json.h - free-form values
 *
 *    1  JSON                  read, look, change, build, write
 *    2  JSON Schema           is this value what was asked for?
 */
#ifndef ALLM_JSON_H
#define ALLM_JSON_H

#include "allm_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- 1  JSON --- */

typedef enum allm_json_type {
    ALLM_JSON_NONE,             /* no value: NULL, or a document that failed */
    ALLM_JSON_NULL,
    ALLM_JSON_BOOL,
    ALLM_JSON_INT,              /* fits int64_t or uint64_t                 */
    ALLM_JSON_REAL,             /* fits double                              */
    ALLM_JSON_BIG,              /* fits neither: its text is kept           */
    ALLM_JSON_TEXT,
    ALLM_JSON_ARRAY,
    ALLM_JSON_OBJECT
} allm_json_type;

/* Limits and leniency of the reader. */
typedef struct allm_json_opts {
    size_t   size;
    size_t   max_bytes;               /* 0: 256 MiB                         */
    uint32_t max_depth;               /* 0: 128                             */
    uint32_t flags;                   /* ALLM_JSON_*, below                 */
    const allm_allocator *allocator;
} allm_json_opts;

enum allm_json_flags {
    ALLM_JSON_DUPLICATES = 1 << 0,    /* read: let the first of equal keys
                                         win instead of refusing            */
    ALLM_JSON_PRETTY     = 1 << 1     /* write: indented by two spaces      */
};

/*
 * Read a document.  Ask allm_json_error(): a refused text gives a validation
 * error ("json", "malformed" and its like) whose metadata tells offset, line,
 * column and path, and a value of type NONE.
 */
ALLM_API allm_json *allm_json_parse(const char *text, size_t len,
                                    const allm_json_opts *);

/*
 * Make sense of the beginning of a document: what is there so far, open texts
 * and containers closed, half a key or number left out.  *complete tells
 * whether it was whole.  A text that cannot become JSON is an error.
 */
ALLM_API allm_json *allm_json_partial(const char *text, size_t len,
                                      bool *complete);
ALLM_API const allm_error *allm_json_error(const allm_json *root);
ALLM_API void allm_json_free(allm_json *root);
ALLM_API allm_json *allm_json_copy(const allm_json *);

/* The same value gives the same bytes.  Members keep their order. */
ALLM_API allm_text *allm_json_write(const allm_json *, uint32_t flags);

/* Every getter accepts NULL and any type, and answers NULL, 0 or false. */
ALLM_API allm_json_type allm_json_type_of(const allm_json *);
ALLM_API const allm_json *allm_json_get(const allm_json *, const char *key);
ALLM_API const allm_json *allm_json_at(const allm_json *, size_t index);
ALLM_API size_t allm_json_count(const allm_json *);
ALLM_API bool allm_json_true(const allm_json *);
ALLM_API double allm_json_number(const allm_json *);
ALLM_API bool allm_json_int64(const allm_json *, int64_t *out);
ALLM_API bool allm_json_uint64(const allm_json *, uint64_t *out);
/* Of a text; of a BIG number its digits.  len may be NULL. */
ALLM_API const char *allm_json_text(const allm_json *, size_t *len);
ALLM_API bool allm_json_equal(const allm_json *, const allm_json *);

/* Walk: the element (of an array) or key (of an object) after `previous`;
 * NULL starts, NULL ends.  allm_json_value() is what stands behind a key. */
ALLM_API const allm_json *allm_json_next(const allm_json *container,
                                         const allm_json *previous);
ALLM_API const allm_json *allm_json_value(const allm_json *key);

/* "/a/0/b", RFC 6901; "" is the value itself. */
ALLM_API const allm_json *allm_json_pointer(const allm_json *,
                                            const char *pointer);

/* New values from old ones: one member set (value NULL: removed); members of
 * b over those of a; merge patch, RFC 7396. */
ALLM_API allm_json *allm_json_set(const allm_json *object, const char *key,
                                  const allm_json *value);
ALLM_API allm_json *allm_json_merge(const allm_json *a, const allm_json *b);
ALLM_API allm_json *allm_json_patch(const allm_json *target,
                                    const allm_json *patch);

/*
 * Build a value from the outside in:
 *
 *      allm_json_build *b = allm_json_build_new(NULL);
 *      allm_json_build_object(b);
 *      allm_json_build_key(b, "city");
 *      allm_json_build_text(b, "Ulm", 3);
 *      allm_json_build_end(b);
 *      allm_json *v = allm_json_build_done(b);    (frees b)
 *
 * Check once, at the end: a wrong order of calls makes the result an error.
 */
typedef struct allm_json_build allm_json_build;
ALLM_API allm_json_build *allm_json_build_new(const allm_allocator *);
ALLM_API void allm_json_build_object(allm_json_build *);
ALLM_API void allm_json_build_array(allm_json_build *);
ALLM_API void allm_json_build_end(allm_json_build *);
ALLM_API void allm_json_build_key(allm_json_build *, const char *key);
ALLM_API void allm_json_build_text(allm_json_build *, const char *, size_t len);
ALLM_API void allm_json_build_int(allm_json_build *, int64_t);
ALLM_API void allm_json_build_uint(allm_json_build *, uint64_t);
ALLM_API void allm_json_build_number(allm_json_build *, double);
ALLM_API void allm_json_build_bool(allm_json_build *, bool);
ALLM_API void allm_json_build_null(allm_json_build *);
ALLM_API void allm_json_build_value(allm_json_build *, const allm_json *);
ALLM_API allm_json *allm_json_build_done(allm_json_build *);

/* ------------------------------------------------------- 2  JSON Schema --- */

/*
 * A compiled schema of JSON Schema 2020-12; docs/json-schema.md names the
 * keywords.  A schema that cannot be meant, such as a type that does not exist
 * or a $ref that leads nowhere, is an error of the object.
 */
typedef struct allm_json_schema allm_json_schema;
ALLM_API allm_json_schema *allm_json_schema_new(const allm_json *schema);
ALLM_API const allm_error *allm_json_schema_error(const allm_json_schema *);
ALLM_API void allm_json_schema_free(allm_json_schema *);

/*
 * Every fault of a value, in document order: an array, empty if there is none,
 * of { "path", "keyword", "schema_path", "message" }, the paths being JSON
 * Pointers.
 */
ALLM_API allm_json *allm_json_schema_check(const allm_json_schema *,
                                           const allm_json *value);

#ifdef __cplusplus
}
#endif
#endif
