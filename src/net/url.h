/* url.h - parts of URLs, and relative ones */
#ifndef NET_URL_H
#define NET_URL_H

#include "base/arena.h"

struct url {
    const char *scheme;         /* in lower case */
    const char *host;           /* the same, in ASCII ("xn--..."), or "";
                                   version 6 has brackets */
    bool has_user;              /* there is a name or a password */
};

/* In the arena.  False: it is not a URL, its host has no form in ASCII, or out
 * of memory. */
bool url_read(struct arena *a, const char *text, struct url *out);

/* A URL that may be relative to another one; NULL: it is not a URL, or out of
 * memory. */
const char *url_resolve(struct arena *a, const char *base, const char *text);

#endif
