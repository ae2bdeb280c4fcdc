/* schema_losses.h - where the translation of a schema reports what it lost */
#pragma once

#include "json/build.h"

struct gemini_schema_losses {
    struct build *list;         /* an open list of {"tool"?, "path",
                                   "keyword"}; NULL: do not report */
    const char *tool;           /* the schema's tool; NULL: the response */
};
