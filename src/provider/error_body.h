/* error_body.h - what OpenAI and all who look like it mean by an error */
#ifndef PROVIDER_ERROR_BODY_H
#define PROVIDER_ERROR_BODY_H

#include "allm.h"
#include "base/arena.h"
#include "json/json.h"

/* Is this document, or this frame, an error?  One with choices is, too, if it
 * says so. */
bool error_body_is(const allm_json *document);
bool error_body_in(const struct json_view *object);

/*
 * The error that a document stands for, its texts in the arena or the
 * document.  status: of HTTP, or 0 where that said "fine".
 */
allm_error error_body_read(struct arena *a, const allm_json *document,
                           int32_t status);

/* The explain() of these dialects. */
allm_status error_body_explain(const allm_call *call,
                               const allm_http_head *head, const char *body,
                               size_t len, allm_sink *sink);

#endif
