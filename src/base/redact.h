/* redact.h - find and replace secrets in a string */
#pragma once

#include "base/arena.h"

/* The secrets: keys, literally, and with `looks` anything that begins like a
 * key of a known provider.  Keys of less than four bytes would match ordinary
 * words and are ignored. */
struct redact {
    size_t count;
    const struct slice *key;
    bool looks;
};

#define REDACT_MARK "[REDACTED]"

/* The first secret at or after `from`, which is the start of the text or the
 * end of the previous secret: its offset, and *len.  The length of the text if
 * there is none. */
size_t redact_find(struct slice text, size_t from, const struct redact *what,
                   size_t *len);

/* The text with every secret replaced by REDACT_MARK, followed by a NUL; the
 * text itself if it contains none.  A ptr of NULL: out of memory. */
struct slice redact_slice(struct arena *a, struct slice text,
                          const struct redact *what);

/* The same for a NUL-terminated string and one key, with `looks`. */
const char *redact_text(struct arena *a, const char *text, struct slice key);
