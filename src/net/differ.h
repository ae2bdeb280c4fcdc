/* differ.h - in what an expected JSON value and another one differ */
#ifndef NET_DIFFER_H
#define NET_DIFFER_H

#include "base/buf.h"

struct differ {
    size_t count;               /* places that differ */
    struct buf path;            /* the first one, a JSON Pointer */
    const allm_json *want, *got;        /* what stands there; NULL: nothing */
};

/* Compare.  Members that `want` itself, an object, leaves out do not count;
 * below it they do.  False: no memory. */
bool differ_find(struct differ *d, struct arena *a, const allm_json *want,
                 const allm_json *got);

#endif
