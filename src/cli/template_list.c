/* template_list.c - the templates that the user and the project have */
#include "cli/template_list.h"

#include "term/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct names {
    char **at;
    size_t count;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(struct names *n, const char *file)
{
    size_t len = strlen(file);
    char *name = len > 3 && !strcmp(file + len - 3, ".md")
                     ? term_copy(file, len - 3)
                     : NULL;
    if (!name || !template_is_name(name)) {
        term_free(name);
        return;
    }
    n->at = term_resize(n->at, (n->count + 1) * sizeof *n->at);
    n->at[n->count++] = name;
}

static struct names read_names(const char *folder)
{
    struct names n = { NULL, 0 };
    DIR *dir = opendir(folder);
    struct dirent *e;
    while (dir && (e = readdir(dir)))
        add_name(&n, e->d_name);
    if (dir)
        closedir(dir);
    if (n.count)
        qsort(n.at, n.count, sizeof *n.at, compare_names);
    return n;
}

static void list_folder(const char *folder, bool project, template_list_fn each,
                        void *ud)
{
    struct names n = read_names(folder);
    for (size_t i = 0; i < n.count; i++) {
        char path[PLACES_PATH];
        bool is_projects;
        if (template_find(n.at[i], path, &is_projects) &&
            is_projects == project)
            each(ud, n.at[i], path, project);
        term_free(n.at[i]);
    }
    term_free(n.at);
}

void template_list_each(template_list_fn each, void *ud)
{
    char folder[PLACES_PATH];
    if (template_users_path(NULL, folder))
        list_folder(folder, false, each, ud);
    if (template_projects_path(folder))
        list_folder(folder, true, each, ud);
}
