/* explain.h - the error for an unsuccessful HTTP response */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "base/slice.h"
#include "json/build.h"

/* The reason for an HTTP status, if nothing else is known. */
const char *explain_status(int32_t status);

/* Does the text contain the word, or one word of the list, ignoring case?  A
 * NULL text contains none.  NULL ends the list. */
bool explain_has(const char *text, const char *word);
bool explain_says(const char *text, const char *const *list);

/* Does a message, or the name of an error, mean that the request exceeds the
 * context of the model? */
bool explain_too_long(const char *message);
bool explain_names_context(const char *name);

/* The message in the body of an error, in any of the forms that providers use;
 * NULL: there is none.  `body` is a parsed document or NULL. */
const char *explain_message(const allm_json *body);

/* "HTTP status 503: " and the provider's message, not truncated; NULL: out of
 * memory.  `status` is 0 in a stream: then the message alone. */
const char *explain_sentence(struct arena *a, int32_t status,
                             const char *message);

/* For `metadata`: append the members of a provider's error to the object that
 * `b` has begun, and end it.  Null members and those in `skip` are left out.
 * NULL ends `skip`.  Returns NULL if the object is empty. */
const allm_json *explain_details(struct build *b, const allm_json *core,
                                 const char *const *skip);

/* A member that is a string; NULL: it is missing, or something else. */
const char *explain_text_at(const allm_json *object, const char *key);

/* The error that a document describes; `status` is the HTTP status, or 0. */
typedef allm_error explain_reader(struct arena *a, const allm_json *document,
                                  int32_t status);

/* For the explain() of a dialect: fail with the error that `read` returns. */
allm_status explain_body(const allm_call *call, const allm_http_head *head,
                         struct slice body, allm_sink *sink,
                         explain_reader *read);

/* Fail with the error that is derived from status and body alone. */
allm_status explain_default(const allm_http_head *head, const char *body,
                            size_t len, allm_sink *sink);
