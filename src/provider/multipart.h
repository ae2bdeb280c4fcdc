/* multipart.h - a body of several parts, as forms with files are sent */
#ifndef PROVIDER_MULTIPART_H
#define PROVIDER_MULTIPART_H

#include "allm.h"
#include "base/buf.h"

enum { MULTIPART_TRIES = 8 };

struct multipart {
    struct buf *out;
    const char *boundary;
    size_t count;               /* of parts */
};

/* Into an empty buffer; `try` is below MULTIPART_TRIES. */
void multipart_init(struct multipart *m, struct buf *out, size_t try);
void multipart_text(struct multipart *m, const char *name, struct slice value);
/* The name of a file and its type are literals or checked words. */
void multipart_file(struct multipart *m, const char *name, const char *file,
                    const char *type, struct slice bytes);
/* False: what stands between the parts is in one of them, too.  Write it all
 * once more, with the next try. */
bool multipart_end(struct multipart *m);

#endif
