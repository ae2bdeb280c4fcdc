/* test_version.c - the library and its header have the same version */
#include "allm.h"

#include "harness/check.h"

#include <stdio.h>

static void the_version_is_that_of_the_header(void)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", ALLM_VERSION_MAJOR,
             ALLM_VERSION_MINOR, ALLM_VERSION_PATCH);
    CHECK_TEXT(allm_version(), text);
}

TESTS = {
    TEST(the_version_is_that_of_the_header),
    TESTS_END
};
