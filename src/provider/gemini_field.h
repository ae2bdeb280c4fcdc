/*
 * gemini_field.h - members of Gemini's objects, in both of their spellings
 *
 * The API writes "finishReason"; gateways that go by its field names write
 * "finish_reason".
 */
#ifndef PROVIDER_GEMINI_FIELD_H
#define PROVIDER_GEMINI_FIELD_H

#include "allm.h"
#include "base/slice.h"

/* The member of that name, given in its first spelling; NULL: none. */
const allm_json *gemini_field(const allm_json *object, const char *name);

/* Does a key have that name, in either spelling? */
bool gemini_field_is(struct slice key, const char *name);

/* The same as a text; {NULL, 0}: none. */
struct slice gemini_field_text(const allm_json *object, const char *name);

bool gemini_field_true(const allm_json *object, const char *name);

#endif
