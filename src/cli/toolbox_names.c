/* toolbox_names.c - the names of tools that the user has */
#include "cli/toolbox_names.h"

#include "cli/mcp_entries.h"
#include "cli/settings.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool toolbox_names_folder(size_t index, char path[PLACES_PATH])
{
    const allm_json *list = settings_value("tools.dirs");
    if (!list)
        return !index && places_find(PLACE_CONFIG, "tools", path);
    const char *word = allm_json_text(allm_json_at(list, index), NULL);
    return word && settings_path("tools.dirs", word, path);
}

/* A regular file that can be executed. */
static bool is_program(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode) && !access(path, X_OK);
}

/* Is it NAME, or NAME.EXTENSION? */
static bool has_stem(const char *file, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(file, name, n) && (!file[n] || file[n] == '.');
}

static bool join_path(const char *folder, const char *file,
                      char path[PLACES_PATH])
{
    return snprintf(path, PLACES_PATH, "%s/%s", folder, file) < PLACES_PATH;
}

static bool find_in_folder(const char *folder, const char *name,
                           char path[PLACES_PATH])
{
    bool found = join_path(folder, name, path) && is_program(path);
    DIR *d = found ? NULL : opendir(folder);
    struct dirent *e;
    while (d && !found && (e = readdir(d)))
        found = has_stem(e->d_name, name) &&
                join_path(folder, e->d_name, path) && is_program(path);
    if (d)
        closedir(d);
    return found;
}

bool toolbox_names_program(const char *name, char path[PLACES_PATH])
{
    char folder[PLACES_PATH];
    if (!*name || *name == '.' || strchr(name, '/'))
        return false;
    for (size_t i = 0; toolbox_names_folder(i, folder); i++)
        if (find_in_folder(folder, name, path))
            return true;
    return false;
}

static void each_builtin(toolbox_names_fn fn, void *ud)
{
    static const char *const groups[] = { "read", "code", "web", "all" };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        fn(ud, groups[i], "a group of built-in tools");
    allm_toolbox *box = allm_toolbox_new(NULL);
    allm_toolbox_add_builtin(box, "all");
    const allm_executor *x = allm_toolbox_executor(box);
    size_t count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        fn(ud, tools[i]->name, "built in");
    allm_toolbox_free(box);
}

bool toolbox_names_builtin(const char *name)
{
    allm_toolbox *box = allm_toolbox_new(NULL);
    bool is = allm_toolbox_add_builtin(box, name) == ALLM_OK;
    allm_toolbox_free(box);
    return is;
}

static void each_program(const char *folder, toolbox_names_fn fn, void *ud)
{
    char path[PLACES_PATH];
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d)))
        if (*e->d_name != '.' && join_path(folder, e->d_name, path) &&
            is_program(path))
            fn(ud, e->d_name, "a program");
    if (d)
        closedir(d);
}

void toolbox_names_each(toolbox_names_fn fn, void *ud)
{
    char folder[PLACES_PATH];
    each_builtin(fn, ud);
    for (size_t i = 0; toolbox_names_folder(i, folder); i++)
        each_program(folder, fn, ud);
    allm_json *servers = mcp_entries_all();
    for (const allm_json *k = NULL; (k = allm_json_next(servers, k));)
        fn(ud, allm_json_text(k, NULL), "an MCP server");
    allm_json_free(servers);
}
