/* encoder.h - encode results for the model */
#pragma once

#include "allm.h"
#include "base/buf.h"
#include "tool/outcome.h"

/* The format of failures. */
enum encoder_style {
    ENCODER_CHAT,               /* {"error": message}, by the encoder */
    ENCODER_AGENT               /* Error: message */
};

/* Write a string as it is, any other value as JSON. */
void encoder_write(struct buf *out, const allm_json *value);

/*
 * Encodes a value into the arena.  False: the encoder failed, and *why (also in
 * the arena) says why; *why NULL: out of memory.
 */
bool encoder_value(const allm_encoder *e, struct arena *a,
                   const allm_json *value, struct slice *out, const char **why);

/*
 * Encodes a FAILURE into the arena; `error` is the result of outcome_error().
 * If the encoder fails, the result is {"error": message}.  False: out of
 * memory.
 */
bool encoder_failure(const allm_encoder *e, enum encoder_style style,
                     struct arena *a, const struct outcome *o,
                     const allm_error *error, struct slice *out);
