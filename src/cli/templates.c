/* templates.c - allm templates: prompts in files */
#include "cli/command.h"
#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/template_list.h"
#include "cli/template_save.h"
#include "conf/member.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct template_flags {
    bool json;
} given;

static const struct flag flags[] = {
    { 0, "--json", FLAG_SWITCH, offsetof(struct template_flags, json), NULL,
      "list: print a JSON document", .use = FLAG_MOST },
    { .name = NULL },
};

/* ---------------------------------------------------------------- list --- */

static void ignore_notice(void *ud, const struct notice *n)
{
    (void)ud;
    (void)n;
}

/* The names of the parameters: a list, or printed. */
static void list_params(const char *path, bool project, allm_json_build *b)
{
    struct template_file t = { .header = NULL };
    struct bytes lines = { NULL, 0, 0 };
    if (template_load(&t, path, project, ignore_notice, NULL))
        template_describe(&t, &lines);
    for (const char *l = bytes_string(&lines); *l;) {
        size_t n = strcspn(l, "\n"), name = strcspn(l + 2, " \n");
        if (given.json)
            allm_json_build_text(b, l + 2, name);
        else
            print_format(" %.*s", (int)name, l + 2);
        l += n + (l[n] != '\0');
    }
    bytes_release(&lines);
    template_release(&t);
}

static const char *state_of(const char *path, bool project)
{
    return !project                    ? "yours"
           : template_is_trusted(path) ? "trusted"
                                       : "waits for trust";
}

static void list_one(void *ud, const char *name, const char *path, bool project)
{
    const char *state = state_of(path, project);
    if (!given.json) {
        print_format("%-20s %-15s", name, state);
        list_params(path, project, ud);
        print_text("\n");
        return;
    }
    allm_json_build_object(ud);
    member_text(ud, "name", name);
    member_text(ud, "path", path);
    member_text(ud, "state", state);
    member_array(ud, "params");
    list_params(path, project, ud);
    allm_json_build_end(ud);
    allm_json_build_end(ud);
}

static int list_all(char **argv)
{
    (void)argv;
    allm_json_build *b = member_new_array();
    template_list_each(list_one, b);
    allm_json *all = member_done(b);
    if (given.json)
        print_json(all, ALLM_JSON_PRETTY);
    allm_json_free(all);
    return END_DONE;
}

/* ---------------------------------------------------------------- one --- */

/* The path of the user's template, of the folder if name is NULL; false: an
 * error was printed. */
static bool find_own(const char *name, char path[PLACES_PATH])
{
    return template_users_path(name, path) ||
           print_fault("\"%.100s\" is not the name of a template, or there is "
                       "no home directory",
                       name ? name : "");
}

static int show_template(char **argv)
{
    char path[PLACES_PATH];
    bool project;
    struct bytes text = { NULL, 0, 0 };
    if (!template_find(argv[0], path, &project) || access(path, F_OK))
        return print_misuse(
            "there is no template \"%.100s\"; allm templates lists them",
            argv[0]);
    bool ok = config_load_text(path, &text);
    if (ok)
        print_ended(bytes_string(&text), text.len);
    bytes_release(&text);
    return ok ? END_DONE : END_USAGE;
}

static int edit_template(char **argv)
{
    char path[PLACES_PATH];
    return find_own(argv[0], path)
               ? config_edit_file(path, "---\nsystem: \n---\n$input\n",
                                  template_save_text)
               : END_USAGE;
}

static int remove_template(char **argv)
{
    char path[PLACES_PATH];
    if (!find_own(argv[0], path))
        return END_USAGE;
    if (!unlink(path))
        return END_DONE;
    return print_misuse("cannot remove %.500s: %s", path, strerror(errno));
}

static int print_path(char **argv)
{
    char path[PLACES_PATH];
    bool project, found = argv[0] && template_is_name(argv[0]) &&
                          template_find(argv[0], path, &project);
    if (!found && !find_own(argv[0], path))
        return END_USAGE;
    print_format("%s\n", path);
    return END_DONE;
}

static const struct command_sub subs[] = {
    { "list", 0, 0, "", list_all },
    { "show", 1, 1, "NAME", show_template },
    { "edit", 1, 1, "NAME", edit_template },
    { "rm", 1, 1, "NAME", remove_template },
    { "path", 0, 1, "[NAME]", print_path },
    { .name = NULL },
};

static int run_templates_command(int argc, char **argv)
{
    given = (struct template_flags){ 0 };
    return flags_read(flags, &given, &argc, argv)
               ? command_run_sub("templates", subs, argc, argv)
               : END_USAGE;
}

const struct command templates_command = {
    .name = "templates",
    .usage = "[list] | show NAME | edit NAME | rm NAME | path [NAME]",
    .summary = "prompts in files, for -t",
    .more =
        "A template is a text file in the directory that \"allm templates\n"
        "path\" prints.  Its text is the prompt; $input is the standard\n"
        "input, and $name a parameter that -p sets.  A header between two\n"
        "--- lines can set the model and more.  --save makes one of the\n"
        "flags of a call.  Those in .allm/templates of a project need\n"
        "\"allm config trust\".\n",
    .examples = "allm -s \"Be brief.\" 'Explain: $input' --save explain\n"
                "man tar | allm -t explain\n"
                "allm templates edit explain\n",
    .subs = "list|show|edit|rm|path",
    .args = { FILL_TEMPLATE },
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_templates_command,
};
