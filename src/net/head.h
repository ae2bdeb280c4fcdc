/* head.h - the head of a response, line by line */
#pragma once

#include "allm.h"
#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { HEAD_LIMIT = 64 * 1024 };    /* bytes of all lines */

/* Begins as { .view.size = sizeof(allm_http_head) }. */
struct head {
    allm_http_head view;        /* of the lines so far */
    const char **header;        /* name, value, ... */
    size_t cap, bytes;
    bool http1;                 /* not a later version */
    bool done;                  /* the final head is complete */
    bool over;                  /* it is longer than the limit */
};

/* Responses with 1xx precede the final one; lines behind it (trailers) are
 * ignored, and so are lines that are not a header.  False: no memory, or it is
 * `over`. */
bool head_add(struct head *h, struct arena *a, struct slice line);
