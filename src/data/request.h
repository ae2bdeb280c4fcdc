/* request.h - a request to a model */
#pragma once

#include "data/shape.h"

extern const struct shape request_shape;

/* Is this a valid response_format?  Absent, null, "text", or an object whose
 * type, if it has one, is text, json_object or json_schema. */
bool request_format_fits(const allm_json *format);

/* The schema that the response must match; NULL: there is none. */
const allm_json *request_schema(const allm_request *r);
