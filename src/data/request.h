/* request.h - what is asked of a model */
#ifndef DATA_REQUEST_H
#define DATA_REQUEST_H

#include "data/shape.h"

extern const struct shape request_shape;

/* May a request have this response_format?  Absent, null, "text", or a map
 * whose type, if it has one, is text, json_object or json_schema. */
bool request_format_fits(const allm_json *format);

#endif
