/*
 * field.h - members of Gemini's objects, in both of their spellings
 *
 * The API writes "finishReason"; gateways that go by its field names write
 * "finish_reason".
 */
#ifndef PROVIDER_GEMINI_FIELD_H
#define PROVIDER_GEMINI_FIELD_H

#include "base/slice.h"
#include "json/json.h"

/* A name in both spellings. */
struct gemini_name {
    struct slice camel, snake;
};

#define GEMINI_NAME(first, second) \
    ((struct gemini_name){ SLICE(first), SLICE(second) })

/* The member of that name in an object that is asked for several. */
static inline const allm_json *gemini_in(const struct json_view *object,
                                         struct gemini_name name)
{
    const allm_json *found = json_in(object, name.camel);
    return found ? found : json_in(object, name.snake);
}

/* The member of that name, given in its first spelling; NULL: none. */
const allm_json *gemini_field(const allm_json *object, const char *name);

/* The same as a text; {NULL, 0}: none. */
struct slice gemini_field_text(const allm_json *object, const char *name);

bool gemini_field_true(const allm_json *object, const char *name);

#endif
