/* toolbox_check.c - lines of allm doctor about tools and MCP servers */
#include "cli/toolbox_check.h"

#include "cli/mcp_entries.h"
#include "cli/toolbox_names.h"

#include <stdio.h>
#include <sys/stat.h>

typedef void (*finding_fn)(bool good, const char *what, const char *detail);

static void check_folder(const char *folder, finding_fn report)
{
    char text[600];
    allm_toolbox *box = allm_toolbox_new(NULL);
    allm_toolbox_add_program(box, folder);
    allm_json *all = allm_toolbox_report(box);
    size_t count = allm_json_count(allm_json_get(all, "tools"));
    const allm_json *failed = allm_json_get(all, "failed"), *f = NULL;
    snprintf(text, sizeof text, "%zu tool%s in %.500s", count,
             count == 1 ? "" : "s", folder);
    report(true, "tools", text);
    while ((f = allm_json_next(failed, f)))
        report(false, "tools", allm_json_text(allm_json_get(f, "error"), NULL));
    allm_json_free(all);
    allm_toolbox_free(box);
}

static void check_server(const char *name, allm_json *own, finding_fn report)
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
    report(true, "MCP server", text);
    allm_json_free(entry);
}

void toolbox_check(finding_fn report)
{
    char folder[PLACES_PATH];
    struct stat about;
    for (size_t i = 0; toolbox_names_folder(i, folder); i++)
        if (!stat(folder, &about))
            check_folder(folder, report);
    allm_json *all = mcp_entries_all();
    for (const allm_json *k = NULL; (k = allm_json_next(all, k));)
        check_server(allm_json_text(k, NULL),
                     allm_json_copy(allm_json_value(k)), report);
    allm_json_free(all);
}
