/* decode.h - read structs from JSON, by the table of their fields */
#pragma once

#include "data/path.h"
#include "data/shape.h"

/* Levels that structs and their envelopes add around a free-form value: what
 * the JSON reader accepted must still be readable inside a session. */
enum { DECODE_ENVELOPES = 64 };

/* The state of reading a document. */
struct decoder {
    struct allm_home *home;     /* will own what is read */
    struct arena *arena;        /* the home's */
    struct arena *errors;         /* owns the errors */
    const struct path *path;    /* to the current position */
    bool lenient;               /* an unknown enum name is kept for the
                                   validator instead of rejected */
    bool tagged;                /* inside an envelope every field is present,
                                   so [] is the same as absent */
    bool guessing;              /* in free-form JSON only a value that is
                                   marked as a struct is one */
    const allm_error *error;    /* the first; nothing is read after it */
};

void decode_init(struct decoder *d, struct allm_home *home,
                 struct arena *errors);

/*
 * Read a struct of shape s, with or without its envelope.  NULL: it does not
 * fit (not an object, another tag), or d->error is set.
 */
const void *decode_value(struct decoder *d, const struct shape *s,
                         const allm_json *v);

/* Read a list of structs; false: it does not fit, or d->error is set.  An
 * element that is not a struct is kept in an empty one. */
bool decode_list(struct decoder *d, const struct shape *s, const allm_json *v,
                 size_t *count, const void *const **out);

/* Fill a zeroed struct, its home set if it has one, from a plain object. */
bool decode_members(struct decoder *d, const struct shape *s,
                    const allm_json *object, void *value);

/* Reject the document with the position: (path, reason).  Always false. */
bool decode_refuse(struct decoder *d, const char *reason);
bool decode_refuse_at(struct decoder *d, const char *member,
                      const char *reason);
bool decode_nomem(struct decoder *d);

/* Read a member that selected the shape already: always true. */
bool decode_selector(struct decoder *d, const allm_json *v, void *value);

/* A copy of a string without a NUL in it; false: it does not fit, or out of
 * memory. */
bool decode_text(struct decoder *d, const allm_json *v, const char **out);
bool decode_bytes(struct decoder *d, const allm_json *v, const char **out,
                  size_t *len);
bool decode_copy(struct decoder *d, const allm_json *v, const allm_json **out);

/* The error for a document rejected at this path, as the codec reports it. */
const allm_error *decode_error(struct arena *a, const struct path *path,
                               const char *reason);
