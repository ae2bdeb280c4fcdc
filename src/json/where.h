/* where.h - explain why a text was refused: place, path, and what to do */
#ifndef JSON_WHERE_H
#define JSON_WHERE_H

#include "base/arena.h"

struct fault {
    const char *word;           /* "malformed", "too_deep", ... */
    const char *detail;         /* which kind of it, one word */
    const char *what;           /* what was expected, or is wrong */
    struct slice name;          /* of whom, if it has one */
    const char *advice;         /* what the reader can do */
    size_t offset;              /* where, in bytes */
    bool expected;              /* say what was found in its place */
};

struct where {
    size_t line, column;        /* from 1; columns are characters */
    struct slice path;          /* JSON Pointer, as far as the text led */
};

/* Find the place; the text must be well formed up to the offset.  The path
 * lives in the arena, and ends at the 128th level.  False: no memory. */
bool where_find(struct arena *a, struct slice text, size_t offset,
                struct where *out);

/* The error, in the arena; status_nomem() if there is no memory. */
const allm_error *where_error(struct arena *a, struct slice text,
                              const struct fault *fault);

#endif
