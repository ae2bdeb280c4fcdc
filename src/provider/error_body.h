/* error_body.h - errors of OpenAI and of compatible servers */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "json/json.h"

/* Is this document, or this frame, an error?  It may have choices as well. */
bool error_body_is(const allm_json *document);
bool error_body_in(const struct json_view *object);

/*
 * The error that a document describes; its strings are in the arena or in the
 * document.  `status` is the HTTP status, or 0 if that was a success.
 */
allm_error error_body_read(struct arena *a, const allm_json *document,
                           int32_t status);

/* The explain() of these dialects. */
allm_status error_body_explain(const allm_call *call,
                               const allm_http_head *head, const char *body,
                               size_t len, allm_sink *sink);
