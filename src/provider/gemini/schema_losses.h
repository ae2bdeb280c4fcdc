/* schema_losses.h - where the translation of a schema reports what it lost */
#ifndef PROVIDER_GEMINI_SCHEMA_LOSSES_H
#define PROVIDER_GEMINI_SCHEMA_LOSSES_H

#include "json/build.h"

struct gemini_schema_losses {
    struct build *list;         /* open, of {"tool"?, "path", "keyword"};
                                   NULL: they are not reported */
    const char *tool;           /* whose schema it is; NULL: the response's */
};

#endif
