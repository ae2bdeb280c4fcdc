/* error.h - what Anthropic means by an error */
#ifndef PROVIDER_ANTHROPIC_ERROR_H
#define PROVIDER_ANTHROPIC_ERROR_H

#include "allm.h"
#include "base/arena.h"

/*
 * The error that a document or an event stands for, its texts in the arena or
 * the document.  status: of HTTP, or 0 where that said "fine".
 */
allm_error anthropic_error_read(struct arena *a, const allm_json *document,
                                int32_t status);

/* The explain() of this dialect. */
allm_status anthropic_error_explain(const allm_call *call,
                                    const allm_http_head *head,
                                    const char *body, size_t len,
                                    allm_sink *sink);

#endif
