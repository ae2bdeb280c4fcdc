/* schema_keywords.h - the table of keywords */
#pragma once

#include "json/schema_parts.h"

/* In the order in which they are checked; the last has no name. */
extern const struct keyword schema_keywords[];
