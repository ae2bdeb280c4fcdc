/* url.h - parts of URLs, and relative ones */
#pragma once

#include "base/arena.h"

#include <curl/curl.h>

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

/* The same without its name, password, query and fragment, which may be
 * secret. */
const char *url_show(struct arena *a, const char *base, const char *text);

/* A URL in the form of libcurl, which is parsed once for many requests to the
 * same one.  { 0 }: none. */
struct parsed_url {
    CURLU *parts;
    char *text;
    size_t size;                /* of the text, with its end */
};

/* Parse another one, if it is not the same.  None: libcurl rejects it, or out
 * of memory. */
void parsed_url_set(struct parsed_url *u, struct mem mem, const char *text);
void parsed_url_release(struct parsed_url *u, struct mem mem);

/* Valid until it is set to another one; NULL: it is not that one. */
CURLU *parsed_url_parts(const struct parsed_url *u, const char *text);
