/*
 * field.h - find members of Gemini's objects, in both spellings
 *
 * The API writes "finishReason"; gateways that use the field names of its
 * protocol buffers write "finish_reason".
 */
#pragma once

#include "base/slice.h"
#include "json/json.h"

/* A name in both spellings. */
struct gemini_name {
    struct slice camel, snake;
};

#define GEMINI_NAME(first, second) \
    ((struct gemini_name){ SLICE(first), SLICE(second) })

/* The member with this name, for objects that are searched several times. */
static inline const allm_json *gemini_in(const struct json_view *object,
                                         struct gemini_name name)
{
    const allm_json *found = json_in(object, name.camel);
    return found ? found : json_in(object, name.snake);
}

/* The member with this name, in camel case; NULL if there is none. */
const allm_json *gemini_field(const allm_json *object, const char *name);

/* The same as a string; { NULL, 0 } if there is none. */
struct slice gemini_field_text(const allm_json *object, const char *name);

bool gemini_field_true(const allm_json *object, const char *name);
