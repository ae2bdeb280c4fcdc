/* redact.h - where secrets stand in a text */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include "base/arena.h"

/* What is secret: keys, literally, and with `looks` whatever begins like a key
 * of a known provider.  Keys of less than six bytes would hit ordinary words,
 * and are not looked for. */
struct redact {
    size_t count;
    const struct slice *key;
    bool looks;
};

#define REDACT_MARK "[REDACTED]"

/* The first secret at or behind `from`, which is the beginning of the text or
 * the end of the secret before: its place, and *len; else the text's length. */
size_t redact_find(struct slice text, size_t from, const struct redact *what,
                   size_t *len);

/* The text with every secret replaced by REDACT_MARK, a NUL behind it; the
 * text itself if there is none.  A ptr of NULL: no memory. */
struct slice redact_slice(struct arena *a, struct slice text,
                          const struct redact *what);

/* The same of a NUL-terminated text and one key, with looks. */
const char *redact_text(struct arena *a, const char *text, struct slice key);

#endif
