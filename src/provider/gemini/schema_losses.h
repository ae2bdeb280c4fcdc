/* schema_losses.h - where the translation of a schema reports what it lost */
#ifndef PROVIDER_GEMINI_SCHEMA_LOSSES_H
#define PROVIDER_GEMINI_SCHEMA_LOSSES_H

#include "json/build.h"

struct gemini_schema_losses {
    struct build *list;         /* an open list of {"tool"?, "path",
                                   "keyword"}; NULL: do not report */
    const char *tool;           /* the schema's tool; NULL: the response */
};

#endif
