/* error.h - map Anthropic's errors to ours */
#pragma once

#include "allm.h"
#include "base/arena.h"

/*
 * Read an error from a document or an event.  Its strings are in the arena or
 * in the document. `status` is the HTTP status, or 0 if that was a success.
 */
allm_error anthropic_error_read(struct arena *a, const allm_json *document,
                                int32_t status);

/* The explain() function of the adapter. */
allm_status anthropic_error_explain(const allm_call *call,
                                    const allm_http_head *head,
                                    const char *body, size_t len,
                                    allm_sink *sink);
