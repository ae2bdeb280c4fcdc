/* format.h - response_format as /chat/completions takes it */
#ifndef PROVIDER_OPENAI_FORMAT_H
#define PROVIDER_OPENAI_FORMAT_H

#include "provider/extra.h"

/* The member "response_format" of the request's body, unless an option has its
 * name or the format is plain text. */
void openai_format_write(struct emit *out, const allm_request *request,
                         const struct extra *extra);

/* Write what the option "prompt_cache" asks for, {"key", "retention": "short"
 * or "long"}, as far as a model with these rules takes it. */
void openai_format_write_cache(struct emit *out, const struct extra *extra,
                               uint32_t rules);

#endif
