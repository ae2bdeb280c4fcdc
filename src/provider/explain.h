/* explain.h - what an answer that is no success means, by its status */
#ifndef PROVIDER_EXPLAIN_H
#define PROVIDER_EXPLAIN_H

#include "allm.h"
#include "base/arena.h"
#include "base/slice.h"
#include "json/build.h"

/* The reason that an HTTP status stands for, if nothing else is known. */
const char *explain_status(int32_t status);

/* Does the text have the word in it, or one of these, in upper or lower case?
 * A NULL text has none; NULL ends the list. */
bool explain_has(const char *text, const char *word);
bool explain_says(const char *text, const char *const *list);

/* Does a message, or the name of an error, say that the request does not fit
 * into the context of the model? */
bool explain_too_long(const char *message);
bool explain_names_context(const char *name);

/* The sentence in the body of an error, in any of the shapes that providers
 * use; NULL: there is none.  `body` is a parsed document or NULL. */
const char *explain_message(const allm_json *body);

/* "HTTP status 503: " (0: none, as in a stream) and what was said, whole; NULL:
 * no memory. */
const char *explain_sentence(struct arena *a, int32_t status, const char *said);

/* For `metadata`: the members of a provider's error that are not null, but
 * those of `skip`, which a NULL ends, behind what `b` has already; NULL: there
 * are none.  `b` is an object that was begun. */
const allm_json *explain_details(struct build *b, const allm_json *core,
                                 const char *const *skip);

/* A member that is a string; NULL: it is missing, or something else. */
const char *explain_text_at(const allm_json *object, const char *key);

/* The error that a document describes; `status` is that of HTTP, or 0. */
typedef allm_error explain_reader(struct arena *a, const allm_json *document,
                                  int32_t status);

/* For the explain() of a dialect: fail with the error that `read` finds. */
allm_status explain_body(const allm_call *call, const allm_http_head *head,
                         struct slice body, allm_sink *sink,
                         explain_reader *read);

/* Tell the sink the error that follows from status and body alone. */
allm_status explain_default(const allm_http_head *head, const char *body,
                            size_t len, allm_sink *sink);

#endif
