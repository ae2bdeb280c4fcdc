/*
 * request_json.h - what was asked of a server, as JSON and without secrets
 *
 *      { "method": "POST", "url": "https://...", "headers": ["a: b", ...],
 *        "body": ... }           or "body_text", "body_base64"
 */
#ifndef NET_REQUEST_JSON_H
#define NET_REQUEST_JSON_H

#include "allm.h"
#include "base/buf.h"
#include "base/redact.h"

enum { ASKED_SPELLINGS = 4 };

/* What may not be told: the key of an exchange, as it may be spelled. */
struct request_json_secret {
    size_t count;
    struct slice spelling[ASKED_SPELLINGS];
};

/* The spellings, in the arena, which should wipe.  False: no memory. */
bool request_json_secret_of(struct arena *a, const allm_http_view *view,
                            struct request_json_secret *out);

/* What is to be found in texts: the key; with looks, too. */
struct redact request_json_hidden(const struct request_json_secret *s,
                                  bool looks);

/* The request; `scratch`, which should wipe, holds it as it is.  NULL: no
 * memory. */
const allm_json *request_json_of(struct arena *a, struct arena *scratch,
                                 const allm_http_view *view,
                                 const struct request_json_secret *s);

/* "name: value", the name in lower case, the value hidden where the name says
 * that it is secret.  In the arena; ptr NULL: no memory. */
struct slice request_json_header(struct arena *a, const char *name,
                                 const char *value,
                                 const struct request_json_secret *s);

/* An address without a user and his password, and with the values hidden of
 * those parameters whose names say that they are secret; also the key, unless
 * the secret is NULL.  In the arena, a NUL behind it; ptr NULL: no memory. */
struct slice request_json_url(struct arena *a, struct slice url,
                              const struct request_json_secret *s);

/*
 * The form in which requests are compared: the method in upper case, the
 * headers as an object without those that differ each time.  What the request
 * leaves out is left out.  NULL: no memory.
 */
const allm_json *request_json_normal(struct arena *a, const allm_json *request);

#endif
