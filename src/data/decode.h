/* decode.h - JSON as structs, by the table of their fields */
#ifndef DATA_DECODE_H
#define DATA_DECODE_H

#include "data/path.h"
#include "data/shape.h"

/* Levels that structs and their envelopes add around a free-form value: what
 * the JSON reader accepted must still be read when it lies in a session. */
enum { DECODE_ENVELOPES = 64 };

/* One document being read. */
struct decoder {
    struct allm_home *home;     /* who will own what is read */
    struct arena *arena;        /* the home's */
    struct arena *tell;         /* where errors are told */
    const struct path *path;    /* to this place */
    bool lenient;               /* an unknown word of an enum is kept aside,
                                   for the validator, instead of refused */
    bool tagged;                /* inside an envelope: every field is there,
                                   so that [] says no more than nothing */
    bool guessing;              /* in free-form JSON: only what says that it
                                   is a struct is one */
    const allm_error *error;    /* the first; nothing is read after it */
};

void decode_init(struct decoder *d, struct allm_home *home, struct arena *tell);

/*
 * Read a struct of shape s, with or without its envelope.  NULL: *it does not
 * fit* (not an object, another tag), or d->error is set.
 */
const void *decode_value(struct decoder *d, const struct shape *s,
                         const allm_json *v);

/* Read a list of structs; false: it does not fit, or d->error is set.  What is
 * no struct in it is kept in the place of one. */
bool decode_list(struct decoder *d, const struct shape *s, const allm_json *v,
                 size_t *count, const void *const **out);

/* Fill a zeroed struct, its home set if it has one, from a plain object. */
bool decode_members(struct decoder *d, const struct shape *s,
                    const allm_json *object, void *value);

/* Refuse the document, with the place: (path, reason).  Always false. */
bool decode_refuse(struct decoder *d, const char *reason);
bool decode_refuse_at(struct decoder *d, const char *member,
                      const char *reason);
bool decode_nomem(struct decoder *d);

/* A text without NUL inside, copied; false: it does not fit, or no memory. */
bool decode_text(struct decoder *d, const allm_json *v, const char **out);
bool decode_bytes(struct decoder *d, const allm_json *v, const char **out,
                  size_t *len);
bool decode_copy(struct decoder *d, const allm_json *v, const allm_json **out);

/* The error of a refusal at the path in `d`, as the codec tells it. */
const allm_error *decode_error(struct arena *a, const struct path *path,
                               const char *reason);

#endif
