/* doctor.c - allm doctor: check settings, keys, servers and the terminal */
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/exit.h"
#include "cli/mcp_entries.h"
#include "cli/print.h"
#include "cli/sandbox.h"
#include "cli/servers.h"
#include "cli/session_store.h"
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/toolbox_names.h"
#include "conf/keyring.h"
#include "conf/member.h"
#include "term/style.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The files of settings, and what they set. */
static void check_settings(void)
{
    char names[300], text[1024];
    const struct config *c = settings_config();
    bool any = false;
    for (size_t i = 0; i < c->count; i++) {
        const struct config_layer *l = &c->layers[i];
        member_join(l->value, names, sizeof names);
        if (!*names && !*l->name)
            continue;
        any = true;
        snprintf(text, sizeof text, "%.600s: %s",
                 *l->name ? l->name : "variables ALLM_*",
                 *names ? names : "sets nothing");
        print_finding(true, "config", text);
    }
    if (c->broken)
        print_finding(false, "config", "cannot be used; see the message");
    else if (!any)
        print_finding(true, "config", "no file; allm config path says where");
}

/* May the project's file set all that it sets? */
static void check_trust(void)
{
    char text[1024];
    const struct config *c = settings_config();
    if (!c->project.found)
        return;
    if (c->project.waiting)
        snprintf(text, sizeof text,
                 "%.600s: %zu waiting for \"allm config trust\"",
                 c->project.path, c->project.waiting);
    else
        snprintf(text, sizeof text, "%.600s %s", c->project.path,
                 c->project.trusted ? "is trusted" : "needs no trust");
    print_finding(!c->project.waiting, "trust", text);
}

/* The model of a call without -m. */
static void check_model(void)
{
    char text[1024];
    size_t line = 0;
    const char *model = settings_text("model");
    const struct config_layer *l = config_origin(settings_config(), "model",
                                                 &line);
    snprintf(text, sizeof text, "%.200s (%.600s)", model ? model : "",
             l && *l->name ? l->name : "ALLM_MODEL");
    print_finding(model != NULL, "model",
                  model ? text
                        : "not set: the first whose provider has a key, or -m");
}

static void check_key_file(void)
{
    int error = 0;
    allm_json *file = keyring_load(&error);
    if (error)
        print_finding(false, "keys.json",
                      error == EBADMSG ? "is damaged"
                      : error == EPERM ? "others can read it; use: chmod 600"
                                       : strerror(error));
    allm_json_free(file);
}

static bool check_keys(void)
{
    char text[512];
    allm_json *names = target_providers_with_key();
    member_join(names, text, sizeof text);
    bool any = *text != 0;
    print_finding(any, "keys",
                  any ? text : "none; allm keys lists the variables");
    allm_json_free(names);
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

static void check_home(void)
{
    const char *home = getenv("HOME");
    bool writable = home && !access(home, W_OK);
    print_finding(writable, "home",
                  !home       ? "HOME is not set"
                  : !writable ? "not writable"
                              : home);
}

static void check_terminal(void)
{
    char text[256];
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO)) {
        print_finding(false, "terminal",
                      "no: standard output is not a terminal");
        return;
    }
    snprintf(text, sizeof text, "%.100s, %zu columns, %s, %s",
             term && *term ? term : "TERM is not set",
             console_columns(STDOUT_FILENO),
             style_wanted(settings_text("output.color"), true) ? "colours"
                                                               : "no colours",
             console_is_possible() ? "lines can be edited"
                                   : "lines cannot be edited");
    print_finding(isatty(STDIN_FILENO), "terminal", text);
}

static void check_folder(const char *folder)
{
    char text[600];
    allm_toolbox *box = allm_toolbox_new(NULL);
    allm_toolbox_add_program(box, folder);
    allm_json *all = allm_toolbox_report(box);
    size_t count = allm_json_count(allm_json_get(all, "tools"));
    const allm_json *failed = allm_json_get(all, "failed"), *f = NULL;
    snprintf(text, sizeof text, "%zu tool%s in %.500s", count,
             count == 1 ? "" : "s", folder);
    print_finding(true, "tools", text);
    while ((f = allm_json_next(failed, f)))
        print_finding(false, "tools", member_read(f, "error"));
    allm_json_free(all);
    allm_toolbox_free(box);
}

static void check_server(const char *name, allm_json *own)
{
    char text[300], known[64] = "not started yet";
    allm_json *entry = mcp_entries_with_manifest(name, own);
    const allm_json *tools = allm_json_pointer(entry, "/manifest/tools");
    bool remote = allm_json_get(entry, "url") != NULL;
    bool confined = allm_json_get(entry, "sandbox") != NULL;
    if (tools)
        snprintf(known, sizeof known, "%zu tools", allm_json_count(tools));
    snprintf(text, sizeof text, "%.100s: %s, %s", name, known,
             remote     ? "another machine"
             : confined ? "confined by the sandbox"
                        : "not confined: it can do whatever you can");
    print_finding(true, "MCP server", text);
    allm_json_free(entry);
}

/* The tools in the user's folders, and the servers in the settings, of which
 * none is started. */
static void check_tools(void)
{
    char folder[PLACES_PATH];
    struct stat about;
    for (size_t i = 0; toolbox_names_folder(i, folder); i++)
        if (!stat(folder, &about))
            check_folder(folder);
    allm_json *all = mcp_entries_all();
    for (const allm_json *k = NULL; (k = allm_json_next(all, k));)
        check_server(allm_json_text(k, NULL),
                     allm_json_copy(allm_json_value(k)));
    allm_json_free(all);
}

static int run_doctor_command(int argc, char **argv)
{
    if (!flags_read_all("doctor", NULL, NULL, argc, argv))
        return END_USAGE;
    check_library();
    check_catalog();
    check_settings();
    check_trust();
    check_model();
    bool key = check_keys();
    check_key_file();
    bool local = servers_check();
    check_store();
    check_home();
    check_terminal();
    sandbox_check();
    check_tools();
    if (key || local)
        return END_DONE;
    print_note("no key and no local server found: set a key, or start a "
               "server; allm demo needs neither");
    return END_KEY;
}

const struct command doctor_command = {
    .name = "doctor",
    .usage = "",
    .summary = "check settings, keys, local servers and the terminal",
    .more = "Looks for servers on this machine, and at the addresses in "
            "OLLAMA_HOST,\nLLAMACPP_BASE_URL and the like.  Exit code 4: there "
            "is neither a key nor a\nserver.\n",
    .examples = "allm doctor\n",
    .group = GROUP_SETUP,
    .run = run_doctor_command,
};
