/* doctor.c - allm doctor: check keys, local servers and the environment */
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/sandbox.h"
#include "cli/servers.h"
#include "cli/session_store.h"
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct flag flags[] = { { .name = NULL } };

static void print_finding(bool good, const char *what, const char *detail)
{
    print_format("%-4s %-14s %s\n", good ? "ok" : "--", what, detail);
}

static void check_library(void)
{
    char text[64], built[32];
    snprintf(built, sizeof built, "%d.%d.%d", ALLM_VERSION_MAJOR,
             ALLM_VERSION_MINOR, ALLM_VERSION_PATCH);
    snprintf(text, sizeof text, "%s; the program was built for %s",
             allm_version(), built);
    print_finding(!strcmp(allm_version(), built), "library", text);
}

/* Names, limits and prices of models become outdated. */
static void check_catalog(void)
{
    enum { OLD = 90 };
    char text[128], day[11];
    allm_catalog *catalog = catalog_open();
    long age = catalog_age(catalog, day);
    if (age > OLD)
        snprintf(text, sizeof text,
                 "data from %s, %ld days old: update allm, or set ALLM_CATALOG "
                 "to a newer file",
                 day, age);
    else if (age >= 0)
        snprintf(text, sizeof text, "data from %s", day);
    else
        snprintf(text, sizeof text, "data from an unknown date");
    print_finding(catalog && age >= 0 && age <= OLD, "models", text);
    allm_catalog_free(catalog);
}

static bool check_keys(void)
{
    char text[512] = "";
    allm_keys *keys = target_keys();
    allm_json *list = allm_registry_list();
    for (const allm_json *row = NULL; (row = allm_json_next(list, row));) {
        const char *name = registry_text(row, "name");
        size_t len = strlen(text);
        if (registry_is_http(row) &&
            target_find_key(keys, name, NULL) == END_DONE)
            snprintf(text + len, sizeof text - len, "%s%s", len ? ", " : "",
                     name);
    }
    bool any = *text != 0;
    print_finding(any, "keys",
                  any ? text : "none; allm keys lists the variables");
    allm_json_free(list);
    allm_keys_free(keys);
    return any;
}

/* Where named sessions are kept; a store that cannot be opened says why. */
static void check_store(void)
{
    char where[400], text[512];
    allm_store *store = NULL;
    bool there = session_store_exists(NULL);
    session_store_describe(NULL, where, sizeof where);
    bool works = there && session_store_open(&store, NULL, ALLM_STORE_NO_CREATE,
                                             0) == END_DONE;
    snprintf(text, sizeof text, "%s%s", where,
             !there   ? " (not there yet)"
             : !works ? " (does not work)"
                      : "");
    print_finding(!there || works, "store", text);
    allm_store_free(store);
}

static void check_environment(void)
{
    const char *model = getenv("ALLM_MODEL"), *home = getenv("HOME");
    print_finding(model && *model, "ALLM_MODEL",
                  model && *model ? model
                                  : "not set; use -m to choose a model");
    bool writable = home && !access(home, W_OK);
    print_finding(writable, "home",
                  !home       ? "HOME is not set"
                  : !writable ? "not writable"
                              : home);
    print_finding(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO), "terminal",
                  isatty(STDOUT_FILENO)
                      ? "yes"
                      : "no: standard output is not a terminal");
}

static int run_doctor_command(int argc, char **argv)
{
    if (!flags_read_all("doctor", flags, NULL, argc, argv))
        return END_USAGE;
    check_library();
    check_catalog();
    bool key = check_keys();
    bool local = servers_check(print_finding);
    check_store();
    check_environment();
    sandbox_check(print_finding);
    if (key || local)
        return END_DONE;
    print_note("no key and no local server found: set a key, or start a "
               "server; allm demo needs neither");
    return END_KEY;
}

const struct command doctor_command = {
    .name = "doctor",
    .usage = "",
    .summary = "check keys, local servers and the environment",
    .more = "Looks for servers on this machine, and at the addresses in "
            "OLLAMA_HOST,\nLLAMACPP_BASE_URL and the like.  Exit code 4: there "
            "is neither a key nor a\nserver.\n",
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_doctor_command,
};
