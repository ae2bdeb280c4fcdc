/*
 * allm_json.h - free-form values
 *
 *    1  JSON                  parse, read, change, build, write
 *    2  JSON Schema           check a value
 */
#ifndef ALLM_JSON_H
#define ALLM_JSON_H

#include "allm_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- 1  JSON --- */

/* The type of a value. */
typedef enum allm_json_type {
    ALLM_JSON_NONE,             /* no value: NULL, or a rejected document   */
    ALLM_JSON_NULL,
    ALLM_JSON_BOOL,
    ALLM_JSON_INT,              /* fits int64_t or uint64_t                 */
    ALLM_JSON_REAL,             /* fits double                              */
    ALLM_JSON_BIG,              /* fits neither: a string of digits         */
    ALLM_JSON_TEXT,
    ALLM_JSON_ARRAY,
    ALLM_JSON_OBJECT
} allm_json_type;

/* The options of the parser. */
typedef struct allm_json_opts {
    size_t   size;
    size_t   max_bytes;               /* 0: 256 MiB                         */
    uint32_t max_depth;               /* 0: 128                             */
    uint32_t flags;                   /* ALLM_JSON_*, below                 */
    const allm_allocator *allocator;
} allm_json_opts;

/* The flags of the parser and the writer. */
typedef enum allm_json_flags {
    ALLM_JSON_DUPLICATES = 1 << 0,    /* parser: use the first of equal keys
                                         instead of rejecting the document  */
    ALLM_JSON_PRETTY     = 1 << 1,    /* writer: indent by two spaces       */
    ALLM_JSON_COMMENTS   = 1 << 2     /* parser: accept // and block comments,
                                         and a comma after the last member  */
} allm_json_flags;

/*
 * Parses a document.  The caller frees the result.  A rejected document is a
 * value of type NONE, and allm_json_error() returns a validation error (reason
 * "json", "malformed" and so on) whose metadata has the offset, line, column
 * and path.
 */
ALLM_API allm_json *allm_json_parse(const char *text, size_t len,
                                    const allm_json_opts *);

/*
 * Parses the beginning of a document: open strings and containers are closed,
 * an incomplete key or number is left out.  *complete is true if the document
 * was complete.  A text that is not the beginning of JSON is an error.
 */
ALLM_API allm_json *allm_json_partial(const char *text, size_t len,
                                      bool *complete);
/*
 * allm_json_error() returns why a document was rejected, or NULL;
 * allm_json_copy() returns a copy that the caller frees.
 */
ALLM_API const allm_error *allm_json_error(const allm_json *root);
ALLM_API void allm_json_free(allm_json *root);
ALLM_API allm_json *allm_json_copy(const allm_json *);

/*
 * Writes a value; the caller frees the text.  Equal values give equal bytes,
 * and members keep their order.
 */
ALLM_API allm_text *allm_json_write(const allm_json *, uint32_t flags);

/*
 * These read a value, borrowed from its root.  Each accepts NULL and any type,
 * and returns NULL, 0 or false if the value is not of the right type.
 */
ALLM_API allm_json_type allm_json_type_of(const allm_json *);
ALLM_API const allm_json *allm_json_get(const allm_json *, const char *key);
ALLM_API const allm_json *allm_json_at(const allm_json *, size_t index);
ALLM_API size_t allm_json_count(const allm_json *);
ALLM_API bool allm_json_true(const allm_json *);
ALLM_API double allm_json_number(const allm_json *);
ALLM_API bool allm_json_int64(const allm_json *, int64_t *out);
ALLM_API bool allm_json_uint64(const allm_json *, uint64_t *out);
/* The bytes of a string, or the digits of a BIG number.  len may be NULL. */
ALLM_API const char *allm_json_text(const allm_json *, size_t *len);
/* True if two values are equal, whatever the order of their members. */
ALLM_API bool allm_json_equal(const allm_json *, const allm_json *);

/*
 * Iterates: returns the element of an array, or the key of an object, after
 * `previous` (NULL: the first one); NULL after the last.  allm_json_value()
 * returns the value of a key.
 */
ALLM_API const allm_json *allm_json_next(const allm_json *container,
                                         const allm_json *previous);
ALLM_API const allm_json *allm_json_value(const allm_json *key);

/*
 * The value at a JSON Pointer (RFC 6901) such as "/a/0/b"; "" is the value
 * itself.  NULL: there is none.
 */
ALLM_API const allm_json *allm_json_pointer(const allm_json *,
                                            const char *pointer);

/*
 * Finds the bytes from..to-1 of a text that hold the value at a JSON Pointer,
 * so that a program can change it and keep the rest of the text.  The options
 * are those of the parser.  ALLM_AGAIN: there is no such value;
 * ALLM_ERR_VALIDATION: the parser rejects the text.
 */
ALLM_API allm_status allm_json_span(const char *text, size_t len,
                                    const allm_json_opts *,
                                    const char *pointer, size_t *from,
                                    size_t *to);

/*
 * These create a new value, which the caller frees: set sets one member, or
 * removes it if value is NULL; merge overrides the members of a with those of
 * b; patch applies a merge patch (RFC 7396).
 */
ALLM_API allm_json *allm_json_set(const allm_json *object, const char *key,
                                  const allm_json *value);
ALLM_API allm_json *allm_json_merge(const allm_json *a, const allm_json *b);
ALLM_API allm_json *allm_json_patch(const allm_json *target,
                                    const allm_json *patch);

/*
 * A builder creates a value from the outside in:
 *
 *      allm_json_build *b = allm_json_build_new(NULL);
 *      allm_json_build_object(b);
 *      allm_json_build_key(b, "city");
 *      allm_json_build_text(b, "Ulm", 3);
 *      allm_json_build_end(b);
 *      allm_json *v = allm_json_build_done(b);    (frees b)
 *
 * Check the result once, at the end, with allm_json_error(): calls in a wrong
 * order make it an error.
 */
typedef struct allm_json_build allm_json_build;
/* Creates a builder.  allm_json_build_done() frees it. */
ALLM_API allm_json_build *allm_json_build_new(const allm_allocator *);
/* These begin a container, and end it. */
ALLM_API void allm_json_build_object(allm_json_build *);
ALLM_API void allm_json_build_array(allm_json_build *);
ALLM_API void allm_json_build_end(allm_json_build *);
/* Adds a key; its value follows. */
ALLM_API void allm_json_build_key(allm_json_build *, const char *key);
/* These add a value. */
ALLM_API void allm_json_build_text(allm_json_build *, const char *, size_t len);
ALLM_API void allm_json_build_int(allm_json_build *, int64_t);
ALLM_API void allm_json_build_uint(allm_json_build *, uint64_t);
ALLM_API void allm_json_build_number(allm_json_build *, double);
ALLM_API void allm_json_build_bool(allm_json_build *, bool);
ALLM_API void allm_json_build_null(allm_json_build *);
ALLM_API void allm_json_build_value(allm_json_build *, const allm_json *);
/* Frees the builder and returns the value, which the caller frees. */
ALLM_API allm_json *allm_json_build_done(allm_json_build *);

/* ------------------------------------------------------- 2  JSON Schema --- */

/*
 * A compiled schema (JSON Schema 2020-12; docs/json-schema.md lists the
 * keywords).  The caller frees it.  allm_json_schema_error() returns what is
 * wrong with the schema, such as a type that does not exist or a $ref without
 * a target, or NULL.
 */
typedef struct allm_json_schema allm_json_schema;
ALLM_API allm_json_schema *allm_json_schema_new(const allm_json *schema);
ALLM_API const allm_error *allm_json_schema_error(const allm_json_schema *);
ALLM_API void allm_json_schema_free(allm_json_schema *);

/*
 * Checks a value.  Returns every error in document order, an array of { "path",
 * "keyword", "schema_path", "message" } whose paths are JSON Pointers; an empty
 * array if the value is valid.  The caller frees it.
 */
ALLM_API allm_json *allm_json_schema_check(const allm_json_schema *,
                                           const allm_json *value);

#ifdef __cplusplus
}
#endif
#endif
