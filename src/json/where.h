/* where.h - explain why a text was rejected: position, path, advice */
#pragma once

#include "base/arena.h"

struct fault {
    const char *word;           /* "malformed", "too_deep", ... */
    const char *detail;         /* a more specific identifier */
    const char *what;           /* what was expected, or is wrong */
    struct slice name;          /* of what, if it has one */
    const char *advice;         /* what the user can do */
    size_t offset;              /* where, in bytes */
    bool expected;              /* also report what was found instead */
};

struct where {
    size_t line, column;        /* from 1; columns are characters */
    struct slice path;          /* JSON Pointer, as far as it is known */
};

/* Find the position; the text must be well formed up to the offset.  The path
 * is in the arena and ends at the 128th level.  False: out of memory. */
bool where_find(struct arena *a, struct slice text, size_t offset,
                struct where *out);

/* The error, in the arena; status_nomem() if out of memory. */
const allm_error *where_error(struct arena *a, struct slice text,
                              const struct fault *fault);
