/*
 * schema.h - a JSON Schema in the words that Gemini knows
 *
 * "parameters" and "responseSchema" take a part of OpenAPI's schemas.  What is
 * said otherwise there is translated: references are put in place, "null"
 * becomes "nullable", a constant an enum of one.  What cannot be said is left
 * out and told as a loss, so that the caller may check it himself.
 */
#ifndef PROVIDER_GEMINI_SCHEMA_H
#define PROVIDER_GEMINI_SCHEMA_H

#include "json/build.h"

/* Where losses are told: an open list, or NULL. */
struct gemini_schema_losses {
    struct build *list;         /* of {"tool"?, "path", "keyword"} */
    const char *tool;           /* whose schema it is; NULL: the answer's */
};

/*
 * The adapted schema, in the arena or pointing into the given one; NULL: no
 * memory.  ordered: properties come in the order of the schema.
 */
const allm_json *gemini_schema_adapt(struct arena *a, const allm_json *schema,
                                     bool ordered,
                                     struct gemini_schema_losses losses);

#endif
