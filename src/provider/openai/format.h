/* format.h - write response_format for /chat/completions */
#pragma once

#include "provider/extra.h"

/* Write the member "response_format", unless an option has its name or the
 * format is plain text. */
void openai_format_write(struct emit *out, const allm_request *request,
                         const struct extra *extra);

/* Write the members for the option "prompt_cache", {"key", "retention": "short"
 * or "long"}, that a model with these rules accepts. */
void openai_format_write_cache(struct emit *out, const struct extra *extra,
                               uint32_t rules);
