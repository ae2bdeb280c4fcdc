/* encoder.h - results as the model reads them */
#ifndef TOOL_ENCODER_H
#define TOOL_ENCODER_H

#include "allm.h"
#include "tool/outcome.h"

/* How failures are written. */
enum encoder_style {
    ENCODER_CHAT,               /* {"error": text}, by the encoder */
    ENCODER_AGENT               /* Error: text */
};

/*
 * The text of a value, in the arena.  False: the encoder failed, and *why (in
 * the arena, too) says why; *why NULL: no memory.
 */
bool encoder_value(const allm_encoder *e, struct arena *a,
                   const allm_json *value, struct slice *out, const char **why);

/*
 * The text of what went wrong; error is the one of outcome_error().  An
 * encoder that fails is passed over: {"error": text}.  False: no memory.
 */
bool encoder_failure(const allm_encoder *e, enum encoder_style style,
                     struct arena *a, const struct outcome *o,
                     const allm_error *error, struct slice *out);

#endif
