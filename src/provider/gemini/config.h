/*
 * config.h - how Gemini is to answer: its "generationConfig"
 *
 * Fields of the request and all options that are not of the body go into it.
 */
#ifndef PROVIDER_GEMINI_CONFIG_H
#define PROVIDER_GEMINI_CONFIG_H

#include "provider/extra.h"

/* The object, in the arena; *error: an option is wrong.  NULL without an
 * error: no memory. */
const allm_json *gemini_config(const struct extra *x, struct arena *a,
                               const allm_error **error);

/* The name in the body of an option that belongs there; NULL: it does not. */
const char *gemini_config_body(const struct extra *x, struct slice option);

#endif
