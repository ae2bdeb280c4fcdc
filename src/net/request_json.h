/*
 * request_json.h - a request as JSON, without secrets
 *
 *      { "method": "POST", "url": "https://...", "headers": ["a: b", ...],
 *        "body": ... }           or "body_text", "body_base64"
 */
#pragma once

#include "allm.h"
#include "base/buf.h"
#include "base/redact.h"

enum { ASKED_SPELLINGS = 4 };

/* The key of an exchange, in every spelling that may occur. */
struct request_json_secret {
    size_t count;
    struct slice spelling[ASKED_SPELLINGS];
};

/* The spellings, in the arena, which should wipe its memory.  False: out of
 * memory. */
bool request_json_secret_of(struct arena *a, const allm_http_view *view,
                            struct request_json_secret *out);

/* The strings to remove: the key and, with `looks`, anything that looks like
 * one. */
struct redact request_json_hidden(const struct request_json_secret *s,
                                  bool looks);

/* The request as JSON.  The scratch arena, which should wipe its memory, holds
 * the original.  NULL: out of memory. */
const allm_json *request_json_of(struct arena *a, struct arena *scratch,
                                 const allm_http_view *view,
                                 const struct request_json_secret *s);

/* "name: value", with the name in lower case, and without the value if the name
 * says that it is secret.  In the arena; ptr NULL: out of memory. */
struct slice request_json_header(struct arena *a, const char *name,
                                 const char *value,
                                 const struct request_json_secret *s);

/* A URL without user and password, without the values of parameters whose names
 * say that they are secret, and without the key, unless the secret is NULL.
 * NUL-terminated, in the arena; ptr NULL: out of memory. */
struct slice request_json_url(struct arena *a, struct slice url,
                              const struct request_json_secret *s);

/*
 * The form in which requests are compared: the method in upper case, the
 * headers as an object without those that differ between runs.  Members that
 * the request leaves out are left out.  NULL: out of memory.
 */
const allm_json *request_json_normal(struct arena *a, const allm_json *request);
