/* multipart.h - write a multipart/form-data body */
#pragma once

#include "allm.h"
#include "base/buf.h"

enum { MULTIPART_TRIES = 8 };

struct multipart {
    struct buf *out;
    const char *boundary;
    size_t count;               /* of parts */
};

/* Begin a body in an empty buffer.  `try` is less than MULTIPART_TRIES and
 * selects the boundary. */
void multipart_init(struct multipart *m, struct buf *out, size_t try);
void multipart_text(struct multipart *m, const char *name, struct slice value);
/* The caller makes sure that names and types need no quoting. */
void multipart_file(struct multipart *m, const char *name, const char *file,
                    const char *type, struct slice bytes);
/* False: a part contains the boundary.  Write the whole body again, with the
 * next try. */
bool multipart_end(struct multipart *m);
