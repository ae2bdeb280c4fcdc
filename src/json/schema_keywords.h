/* schema_keywords.h - the table of keywords */
#ifndef JSON_SCHEMA_KEYWORDS_H
#define JSON_SCHEMA_KEYWORDS_H

#include "json/schema_parts.h"

/* In the order in which they are checked; the last has no name. */
extern const struct keyword schema_keywords[];

#endif
