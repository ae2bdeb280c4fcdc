/*
 * config.h - build the member "generationConfig" of a request
 *
 * It contains fields of the request, and all options that are not members of
 * the body.
 */
#pragma once

#include "provider/extra.h"

/* The object, in the arena.  NULL with *error: an option is invalid.  NULL
 * without: out of memory. */
const allm_json *gemini_config(const struct extra *x, struct arena *a,
                               const allm_error **error);

/* The name of an option's member in the body; NULL: it does not belong
 * there. */
const char *gemini_config_body(const struct extra *x, struct slice option);
