/* toolbox_servers.c - the MCP servers of a toolbox: --mcp, --mcp-config */
#include "cli/toolbox_servers.h"

#include "cli/exit.h"
#include "cli/mcp_entries.h"
#include "cli/print.h"
#include "conf/member.h"
#include "conf/server_entry.h"
#include "term/mem.h"

#include <stdio.h>
#include <string.h>

/* One that is optional is left out if its entry is wrong. */
static int report_server_error(const allm_toolbox *box, const char *name,
                               bool optional)
{
    const allm_error *error = allm_toolbox_error(box);
    bool goes_on = optional && error && error->kind == ALLM_ERR_VALIDATION;
    print_fault("the MCP server %.100s%s: %s", name,
                goes_on ? " is left out" : "",
                error ? error->message : "out of memory");
    return goes_on ? END_DONE : END_USAGE;
}

static bool has_server(const allm_toolbox *box, const char *name)
{
    allm_json *report = allm_toolbox_report(box);
    const allm_json *list = allm_json_get(report, "servers"), *s = NULL;
    bool has = false;
    while (!has && (s = allm_json_next(list, s)))
        has = !strcmp(member_read(s, "name"), name);
    allm_json_free(report);
    return has;
}

/* Add a server; a name that is taken gets a number. */
static int add_entry(allm_toolbox *box, const char *name,
                     const allm_json *entry, bool optional)
{
    char free_name[SERVER_NAME];
    snprintf(free_name, sizeof free_name, "%s", name);
    for (int i = 2; has_server(box, free_name); i++)
        snprintf(free_name, sizeof free_name, "%.50s-%d", name, i);
    return allm_toolbox_add_server(box, free_name, entry) < 0
               ? report_server_error(box, free_name, optional)
               : END_DONE;
}

/* ---------------------------------------------------------------- words --- */

static allm_json *entry_of_line(const char *line)
{
    const char *words[SERVER_WORDS];
    char *own = term_copy(line, strlen(line));
    size_t count = server_entry_split(own, words);
    allm_json *entry = count ? server_entry_command(words, count) : NULL;
    if (!entry)
        print_fault("--mcp %.200s: this is neither a configured server nor an "
                    "address nor a command (is a quote open?)",
                    line);
    term_free(own);
    return entry;
}

allm_json *toolbox_servers_entry(const char *word, char name[65])
{
    allm_json *entry = mcp_entries_find(word);
    if (entry) {
        snprintf(name, SERVER_NAME, "%s", word);
        return entry;
    }
    entry = strstr(word, "://") ? server_entry_url(word, NULL, 0)
                                : entry_of_line(word);
    if (entry)
        server_entry_name(entry, name);
    return entry;
}

static int add_word(allm_toolbox *box, const char *word)
{
    char name[SERVER_NAME] = "";
    if (toolbox_servers_knows(word))
        return toolbox_servers_name(box, word);
    allm_json *entry = toolbox_servers_entry(word, name);
    int code = entry ? add_entry(box, name, entry, false) : END_USAGE;
    allm_json_free(entry);
    return code;
}

/* ----------------------------------------------------------- configured --- */

bool toolbox_servers_knows(const char *name)
{
    allm_json *all = mcp_entries_all();
    bool known = allm_json_get(all, name) != NULL;
    allm_json_free(all);
    return known;
}

int toolbox_servers_name(allm_toolbox *box, const char *name)
{
    allm_json *entry = has_server(box, name) ? NULL : mcp_entries_find(name);
    int code = entry ? add_entry(box, name, entry, false) : END_DONE;
    allm_json_free(entry);
    return code;
}

/* Add all servers of {NAME: entry}. */
static int add_entries(allm_toolbox *box, const allm_json *all)
{
    int code = END_DONE;
    for (const allm_json *k = NULL;
         code == END_DONE && (k = allm_json_next(all, k));) {
        const char *name = allm_json_text(k, NULL);
        allm_json *entry =
            mcp_entries_with_manifest(name, allm_json_copy(allm_json_value(k)));
        code = add_entry(box, name, entry,
                         !allm_json_true(allm_json_get(entry, "required")));
        allm_json_free(entry);
    }
    return code;
}

int toolbox_servers_all(allm_toolbox *box)
{
    allm_json *all = mcp_entries_all();
    int code = add_entries(box, all);
    allm_json_free(all);
    return code;
}

int toolbox_servers_add(allm_toolbox *box, const struct flag_list *words,
                        const struct flag_list *files)
{
    int code = END_DONE;
    for (size_t i = 0; code == END_DONE && i < words->count; i++)
        code = add_word(box, words->word[i]);
    for (size_t i = 0; code == END_DONE && i < files->count; i++) {
        allm_json *all = mcp_entries_load(files->word[i]);
        code = all ? add_entries(box, all) : END_USAGE;
        allm_json_free(all);
    }
    return code;
}

/* ----------------------------------------------------------------- wait --- */

int toolbox_servers_wait(allm_toolbox *box)
{
    allm_status status = allm_toolbox_wait(box, -1);
    allm_json *report = allm_toolbox_report(box);
    const allm_json *list = allm_json_get(report, "servers"), *s = NULL;
    while (status >= 0 && (s = allm_json_next(list, s))) {
        const char *error = member_read(s, "error");
        if (error)
            print_fault("the MCP server %.100s is left out: %s",
                        member_read(s, "name"), error);
    }
    allm_json_free(report);
    if (status >= 0)
        return END_DONE;
    const allm_error *error = allm_toolbox_error(box);
    print_fault("a required MCP server has failed: %s",
                error ? error->message : "out of memory");
    return END_FAILED;
}
