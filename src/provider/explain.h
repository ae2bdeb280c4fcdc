/* explain.h - what an answer that is no success means, by its status */
#ifndef PROVIDER_EXPLAIN_H
#define PROVIDER_EXPLAIN_H

#include "allm_ext.h"
#include "base/arena.h"

/* The reason that an HTTP status stands for, if nothing else is known. */
const char *explain_status(int32_t status);

/* The sentence in the body of an error, in any of the shapes that providers
 * use; NULL: there is none.  `body` is a parsed document or NULL. */
const char *explain_message(const allm_json *body);

/* Tell the sink the error that follows from status and body alone. */
allm_status explain_default(const allm_http_head *head, const char *body,
                            size_t len, allm_sink *sink);

#endif
