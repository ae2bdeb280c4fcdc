/* test_warden.c - where the warden is searched */
#include "proc/warden.h"

#include "harness/check.h"
#include "harness/external.h"

#include <stdlib.h>

static void is_found_by_its_variable(void)
{
    struct arena a;
    const allm_error *error;
    const char *known = external_warden();
    arena_init(&a, mem_default());
    const char *path = warden_path(&a, &error);
    CHECK_TEXT(path, known);
    arena_release(&a);
}

static void is_missed_by_name(void)
{
    static char keep[4096];
    struct arena a;
    const allm_error *error;
    strncpy(keep, external_warden(), sizeof keep - 1);
    arena_init(&a, mem_default());
    setenv("ALLM_WARDEN", "/no/such/file", 1);
    CHECK_ALWAYS(!warden_path(&a, &error));
    CHECK_TEXT(error ? error->reason : NULL, "warden_missing");
    CHECK(error && strstr(error->message, "/no/such/file"));
    unsetenv("ALLM_WARDEN");
    if (!warden_path(&a, &error)) {     /* unless it is installed */
        CHECK(error && strstr(error->message, "/libexec/allm/allm-warden, "));
    }
    setenv("ALLM_WARDEN", keep, 1);
    arena_release(&a);
}

TESTS = { TEST(is_found_by_its_variable), TEST(is_missed_by_name),
          TESTS_END };
