/* gemini_model.c - what the name of a model tells */
#include "provider/gemini_model.h"

#include <stddef.h>
#include <string.h>

/* The version, times ten; 99: it has none, 0: it is somebody else's. */
static int version_of(const char *model)
{
    const char *at = model ? strstr(model, "gemini-") : NULL;
    int version = 0;
    if (!at)
        return 0;
    for (at += strlen("gemini-"); *at && (*at < '0' || *at > '9'); at++)
        ;
    if (!*at)
        return 99;
    for (size_t n = 0; *at >= '0' && *at <= '9' && n < 4; n++, at++)
        version = version * 10 + (*at - '0');
    version *= 10;
    if (at[0] == '.' && at[1] >= '0' && at[1] <= '9')
        version += at[1] - '0';
    return version;
}

bool gemini_model_is_new(const char *model)
{
    return version_of(model) >= 30;
}

bool gemini_model_thinks(const char *model)
{
    return version_of(model) >= 25;
}

bool gemini_model_is_flash(const char *model)
{
    return model && strstr(model, "flash");
}
