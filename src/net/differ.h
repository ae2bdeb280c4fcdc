/* differ.h - where an expected JSON value and another one differ */
#pragma once

#include "base/buf.h"

struct differ {
    size_t count;               /* places that differ */
    struct buf path;            /* the first one, a JSON Pointer */
    const allm_json *want, *got;        /* the values there; NULL: none */
};

/* Compare.  Members that the object `want` lacks are ignored, except in objects
 * inside it.  False: no memory. */
bool differ_find(struct differ *d, struct arena *a, const allm_json *want,
                 const allm_json *got);
