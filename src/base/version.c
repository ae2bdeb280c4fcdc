/* version.c - the version of the library */
#include "allm.h"

#define TEXT_OF(x)  #x
#define TEXT(x)     TEXT_OF(x)

const char *allm_version(void)
{
    return TEXT(ALLM_VERSION_MAJOR) "." TEXT(ALLM_VERSION_MINOR) "." TEXT(
        ALLM_VERSION_PATCH);
}
