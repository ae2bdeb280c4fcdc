/* mcp_manage.c - allm mcp list, add, rm: the servers in the settings */
#include "cli/mcp_entries.h"
#include "cli/mcp_once.h"
#include "cli/mcp_parts.h"

#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/toolbox_names.h"
#include "conf/keyring.h"
#include "conf/member.h"
#include "conf/server_entry.h"

#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------- list --- */

/* How much of a word names its secret value: "--token" of "--token=x", and of
 * "--token", before its value; 0: none does. */
static size_t secret_name(const char *word)
{
    const char *address = strstr(word, "://");
    size_t end = address ? (size_t)(address - word) : strlen(word), n = end;
    while (n && word[n - 1] != '=' && word[n - 1] != ':')
        n--;
    if (!n && *word == '-')
        n = end;
    return keyring_names_secret(word, n) ? strcspn(word, "=:") : 0;
}

/* Values of secret names are hidden, and what is secret in addresses. */
static void add_arguments(struct bytes *out, const allm_json *args)
{
    bool hide = false;
    for (const allm_json *a = NULL; (a = allm_json_next(args, a));) {
        const char *word = allm_json_text(a, NULL);
        word = word ? word : "?";
        size_t n = secret_name(word);
        bytes_text(out, " ");
        if (hide || (!strchr(word, '/') && keyring_looks_secret(word)))
            bytes_text(out, "***");
        else if (n)
            bytes_format(out, "%.*s%s", (int)n + (word[n] != '\0'), word,
                         word[n] ? "***" : "");
        else if (strstr(word, "://"))
            config_mask_address(word, out);
        else
            bytes_text(out, word);
        hide = n && !word[n];
    }
}

/* "npx -y server .", or the address, without what may be secret in it. */
static void add_target(struct bytes *out, const allm_json *entry,
                       const char *url)
{
    const char *command = member_read(entry, "command");
    bytes_text(out, url ? url : command ? command : "(no command)");
    if (!url)
        add_arguments(out, allm_json_get(entry, "args"));
}

static const char *confinement_of(const allm_json *entry)
{
    return allm_json_get(entry, "url")       ? "remote"
           : allm_json_get(entry, "sandbox") ? "confined"
                                             : "not confined";
}

static void print_server(const char *name, allm_json *own, const char *url)
{
    char tools[32] = "not started yet";
    struct bytes target = { NULL, 0, 0 };
    allm_json *entry = mcp_entries_with_manifest(name, own);
    const allm_json *list = allm_json_pointer(entry, "/manifest/tools");
    if (list)
        snprintf(tools, sizeof tools, "%zu tool%s", allm_json_count(list),
                 allm_json_count(list) == 1 ? "" : "s");
    if (allm_json_true(allm_json_get(entry, "disabled")))
        snprintf(tools, sizeof tools, "disabled");
    add_target(&target, entry, url);
    print_format("%-20s %-13s %-16s %s\n", name, confinement_of(entry), tools,
                 bytes_string(&target));
    bytes_release(&target);
    allm_json_free(entry);
}

int mcp_list(const struct mcp_flags *f, int argc, char **argv)
{
    (void)argv;
    int code = settings_open();
    if (argc) {
        return print_misuse("mcp list takes no argument");
    }
    if (code != END_DONE)
        return code;
    allm_json *all = mcp_entries_all();
    allm_json *masked = config_mask("mcp.x", all);
    if (f->json)
        print_json(masked, ALLM_JSON_PRETTY);
    for (const allm_json *k = NULL; !f->json && (k = allm_json_next(all, k));)
        print_server(
            allm_json_text(k, NULL), allm_json_copy(allm_json_value(k)),
            member_read(allm_json_get(masked, allm_json_text(k, NULL)), "url"));
    if (!allm_json_count(all))
        print_note("no MCP servers; add one: allm mcp add NAME COMMAND...");
    allm_json_free(masked);
    allm_json_free(all);
    return END_DONE;
}

/* ------------------------------------------------------------------ add --- */

static bool has_needs(const struct mcp_flags *f)
{
    return f->needs.read.count || f->needs.write.count || f->needs.net;
}

/* The entry of a command, in the sandbox if its needs are given. */
static allm_json *make_command(const struct mcp_flags *f, int argc, char **argv)
{
    allm_json *entry = server_entry_command((const char *const *)argv,
                                            (size_t)argc);
    if (!has_needs(f))
        return entry;
    allm_json *needs = sandbox_needs_json(&f->needs);
    allm_json *confined = allm_json_set(entry, "sandbox", needs);
    allm_json_free(needs);
    allm_json_free(entry);
    return confined;
}

static allm_json *make_entry(const struct mcp_flags *f, int argc, char **argv)
{
    bool url = strstr(argv[0], "://") != NULL;
    if (url && argc > 1) {
        print_fault("an address takes no arguments, but got \"%.100s\"",
                    argv[1]);
        return NULL;
    }
    if (!url && f->headers.count) {
        print_fault("-H is for an address, and \"%.100s\" is a command",
                    argv[0]);
        return NULL;
    }
    if (url && has_needs(f)) {
        print_fault("--read, --write and --net are for a command, and "
                    "\"%.100s\" is an address",
                    argv[0]);
        return NULL;
    }
    if (!url)
        return make_command(f, argc, argv);
    allm_json *entry = server_entry_url(argv[0], f->headers.word,
                                        f->headers.count);
    if (!entry)
        print_fault("-H needs a name and a value: -H 'Name: value'");
    return entry;
}

/* Does -T take this name for something else? */
static bool is_name_of_tools(const char *name)
{
    char path[PLACES_PATH];
    return !strcmp(name, "none") || toolbox_names_builtin(name) ||
           toolbox_names_program(name, path);
}

static int check_new_name(const char *name)
{
    allm_json *all = mcp_entries_all();
    bool taken = allm_json_get(all, name) != NULL;
    allm_json_free(all);
    if (!mcp_entries_is_name(name) || !strcmp(name, "config"))
        print_fault("\"%.100s\" cannot be the name of a server: use letters, "
                    "digits, _ and -",
                    name);
    else if (taken)
        print_fault("there is a server \"%s\" already, in your settings, a "
                    "file of mcp.config or the project; remove it first (allm "
                    "mcp rm %s), or use another name",
                    name, name);
    else if (is_name_of_tools(name))
        print_fault("-T %s means other tools; give the server another name",
                    name);
    else
        return END_DONE;
    return END_USAGE;
}

static int store_entry(const char *name, const allm_json *entry)
{
    char path[PLACES_PATH], key[80];
    if (!config_user_file(path)) {
        return print_misuse(
            "there is no home directory to store the server in");
    }
    snprintf(key, sizeof key, "mcp.%s", name);
    allm_text *text = allm_json_write(entry, 0);
    const char *json = allm_text_bytes(text, NULL);
    int code = json ? config_change(path, key, json) : END_FAILED;
    allm_text_free(text);
    return code;
}

/* What the server offers.  It gets more time than later: it may have to be
 * downloaded first. */
static allm_json *get_manifest(const char *name, const allm_json *entry)
{
    allm_json *seconds = allm_json_parse("120", 3, NULL);
    allm_json *patient = allm_json_get(entry, "start_timeout")
                             ? allm_json_copy(entry)
                             : allm_json_set(entry, "start_timeout", seconds);
    allm_json *manifest = mcp_once_request(name, patient, "manifest", NULL);
    allm_json_free(patient);
    allm_json_free(seconds);
    return manifest;
}

/* Start it once, and keep what it offers. */
static int try_entry(const char *name, const allm_json *entry)
{
    allm_json *started = mcp_entries_expand("mcp add", name, entry);
    allm_json *manifest = started ? get_manifest(name, started) : NULL;
    int code = manifest ? store_entry(name, entry) : END_FAILED;
    if (code == END_DONE && !mcp_entries_keep(name, started, manifest))
        print_note("what the server offers cannot be stored; it is started by "
                   "each call");
    if (code == END_DONE)
        print_note("%s: %zu tools, %zu prompts; to use it: allm -T %s ...",
                   name, allm_json_count(allm_json_get(manifest, "tools")),
                   allm_json_count(allm_json_get(manifest, "prompts")), name);
    if (code == END_DONE && !strcmp(confinement_of(entry), "not confined"))
        print_note("it can do whatever you can; --read, --write and --net "
                   "confine it");
    allm_json_free(manifest);
    allm_json_free(started);
    return code;
}

int mcp_add(const struct mcp_flags *f, int argc, char **argv)
{
    int code = settings_open();
    if (argc < 2) {
        return print_misuse(
            "usage: allm mcp add NAME COMMAND [ARG...], or NAME URL "
            "[-H 'K: V']");
    }
    if (code == END_DONE)
        code = check_new_name(argv[0]);
    if (code != END_DONE)
        return code;
    allm_json *entry = make_entry(f, argc - 1, argv + 1);
    code = entry ? try_entry(argv[0], entry) : END_USAGE;
    allm_json_free(entry);
    return code;
}

/* ------------------------------------------------------------------- rm --- */

int mcp_rm(const struct mcp_flags *f, int argc, char **argv)
{
    char path[PLACES_PATH], key[80];
    (void)f;
    if (argc != 1 || !mcp_entries_is_name(argv[0]) || !config_user_file(path)) {
        return print_misuse("usage: allm mcp rm NAME");
    }
    snprintf(key, sizeof key, "mcp.%.64s", argv[0]);
    int code = config_change(path, key, NULL);
    if (code == END_DONE)
        mcp_entries_keep(argv[0], NULL, NULL);
    return code;
}
