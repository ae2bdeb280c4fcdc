/* config.c - allm config: show and change the settings */
#include "cli/command.h"
#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "conf/child.h"
#include "conf/edit.h"
#include "conf/file.h"
#include "conf/keyring.h"
#include "conf/member.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct config_flags flags_given;

#define AT(member) offsetof(struct config_flags, member)

static const struct flag flags[] = {
    { 0, "--origin", FLAG_SWITCH, AT(origin), NULL,
      "show: also print where each value is set", .use = FLAG_MOST },
    { 0, "--json", FLAG_SWITCH, AT(json), NULL, "show: print a JSON document",
      .use = FLAG_MOST },
    { 0, "--project", FLAG_SWITCH, AT(project), NULL,
      "set, unset, edit: this project's .allm.json",
      .use = FLAG_MOST },
    { 0, "--show", FLAG_SWITCH, AT(show), NULL,
      "trust: only show what waits, and the digest" },
    { 0, "--sha256", FLAG_LIST, AT(digests), "HEX",
      "trust: exactly this content; may be repeated" },
    { 0, "--config", FLAG_TEXT, AT(file), "FILE",
      "also read this file of settings", FILL_FILE, .variable = "ALLM_CONFIG" },
    { .name = NULL },
};

/* -------------------------------------------------------- the file --- */

bool config_own_file(char path[PLACES_PATH])
{
    return config_user_file(path) ||
           print_fault("there is no home directory: set HOME, XDG_CONFIG_HOME "
                       "or ALLM_HOME");
}

/* The file to change.  False: an error was printed. */
static bool find_file(char path[PLACES_PATH])
{
    char folder[PLACES_PATH];
    if (!flags_given.project)
        return config_own_file(path);
    if (places_project(path, folder))
        return true;
    snprintf(path, PLACES_PATH, ".allm.json");
    return !places_is_home(".") ||
           print_fault("your home directory is no project: %s there is not "
                       "read; use a folder of its own, or the command without "
                       "--project",
                       path);
}

bool config_load_text(const char *path, struct bytes *text)
{
    unsigned links = flags_given.project ? FILE_NO_LINKS : 0;
    int error = file_load(path, links, text);
    if (!error || error == ENOENT)
        return true;
    return print_fault("cannot read %.500s: %s", path, file_says(error));
}

int config_store(const char *path, const struct bytes *text, bool fine)
{
    if (!fine)
        return print_misuse("%.500s is unchanged", path);
    int error = file_store(path, bytes_string(text), text->len);
    if (!error)
        return END_DONE;
    return print_misuse("cannot write %.500s: %s", path, file_says(error));
}

/* Check a text, then replace the file.  Returns the exit code. */
static int store_text(const char *path, const struct bytes *text)
{
    return config_store(path, text,
                        config_check(path, text, settings_notice, NULL));
}

/* The place of the settings in a text that may begin with a byte order
 * mark. */
static bool split_mark(struct bytes *text)
{
    bool mark = text->len >= 3 && !memcmp(text->ptr, "\xEF\xBB\xBF", 3);
    if (mark)
        bytes_skip(text, 3);
    return mark;
}

static int change_file(const char *path, const char *key, const char *json)
{
    struct bytes text = { NULL, 0, 0 };
    if (!config_load_text(path, &text)) {
        bytes_release(&text);
        return END_USAGE;
    }
    bool mark = split_mark(&text);
    int code = END_USAGE;
    if (json ? edit_set(&text, key, json) : edit_unset(&text, key)) {
        if (mark)
            bytes_splice(&text, 0, 0, "\xEF\xBB\xBF", 3);
        code = store_text(path, &text);
    } else if (json) {
        config_check(path, &text, settings_notice, NULL);
        print_fault("cannot set %.200s in %.500s: correct the file first "
                    "(allm config edit)",
                    key, path);
    } else {
        print_fault("%.200s is not set in %.500s", key, path);
    }
    bytes_release(&text);
    return code;
}

int config_change(const char *path, const char *key, const char *json)
{
    int lock = file_lock(path, json != NULL);
    int code = change_file(path, key, json);
    if (lock >= 0)
        close(lock);
    return code;
}

/* ----------------------------------------------------- subcommands --- */

static int report_unknown(const char *key)
{
    return print_misuse(
        "unknown setting \"%.200s\"%s (allm help --all config lists them)", key,
        settings_hint(key));
}

static void print_value(const char *path, const allm_json *value)
{
    allm_json *shown = config_mask(path, value);
    const char *text = allm_json_text(shown, NULL);
    if (text)
        print_format("%s\n", text);
    else
        print_json(shown, ALLM_JSON_PRETTY);
    allm_json_free(shown);
}

static int get_setting(char **argv)
{
    if (settings_open() != END_DONE)
        return END_USAGE;
    if (!setting_find(argv[0]) && !setting_is_group(argv[0]))
        return report_unknown(argv[0]);
    const allm_json *value = settings_value(argv[0]);
    if (value)
        print_value(argv[0], value);
    else
        print_note("%s is not set", argv[0]);
    return value ? END_DONE : END_FAILED;
}

/* Is there a key in the value of a setting, or of a group of settings? */
static bool has_key(const char *path, const allm_json *value)
{
    char below[PLACES_PATH];
    const struct setting *s = setting_find(path);
    const char *word = allm_json_text(value, NULL);
    if (s)
        return s->trust == TRUST_NEVER && s->secret && word &&
               keyring_looks_secret(word);
    for (const allm_json *k = NULL;
         setting_has_members(path) && (k = allm_json_next(value, k));) {
        snprintf(below, sizeof below, "%s.%s", path, allm_json_text(k, NULL));
        if (has_key(below, allm_json_value(k)))
            return true;
    }
    return false;
}

/* The word as JSON that fits the setting (NULL: a group of them): a string
 * unless it is another value that the setting expects. */
static void read_value(const struct setting *s, const char *word,
                       struct bytes *json)
{
    allm_json *value = allm_json_parse(word, strlen(word), NULL);
    allm_json_type type = allm_json_type_of(value);
    bool text = s && (s->kind == SETTING_TEXT || s->kind == SETTING_WORD);
    bool quoted = type == ALLM_JSON_TEXT && *word == '"';
    if (type != ALLM_JSON_NONE && (!text || quoted))
        bytes_text(json, word);
    else
        member_quote(json, word, strlen(word));
    allm_json_free(value);
}

static int set_setting(char **argv)
{
    char path[PLACES_PATH];
    const struct setting *s = setting_find(argv[0]);
    if (!s && !setting_is_group(argv[0]))
        return report_unknown(argv[0]);
    struct bytes json = { NULL, 0, 0 };
    read_value(s, argv[1], &json);
    allm_json *value = allm_json_parse(bytes_string(&json), json.len, NULL);
    int code = END_USAGE;
    if (has_key(argv[0], value))
        print_fault("this looks like a key, which never belongs on a command "
                    "line; store it with: allm keys set NAME");
    else if (find_file(path))
        code = config_change(path, argv[0], bytes_string(&json));
    allm_json_free(value);
    bytes_release(&json);
    return code;
}

static int unset_setting(char **argv)
{
    char path[PLACES_PATH];
    return find_file(path) ? config_change(path, argv[0], NULL) : END_USAGE;
}

const char *config_editor(void)
{
    const char *own = settings_text("chat.editor");
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    return own                 ? own
           : visual && *visual ? visual
           : editor && *editor ? editor
                               : "vi";
}

/* Copy a file, or the text `first` if it is empty, to a new file. */
static bool copy_for_editor(const char *path, const char *first, char *copy)
{
    struct bytes text = { NULL, 0, 0 };
    bool ok = config_load_text(path, &text);
    if (!text.len)
        bytes_text(&text, first);
    int fd = ok ? mkstemp(copy) : -1;
    if (fd >= 0)
        close(fd);
    else if (ok)
        print_fault("cannot create a file in /tmp: %s", strerror(errno));
    ok = fd >= 0 && !file_store(copy, bytes_string(&text), text.len);
    bytes_release(&text);
    return ok;
}

int config_edit_file(const char *path, const char *first,
                     int (*store)(const char *path, const struct bytes *text))
{
    struct bytes text = { NULL, 0, 0 };
    char copy[] = "/tmp/allm-edit-XXXXXX";
    int code = END_USAGE;
    if (!copy_for_editor(path, first, copy))
        return END_USAGE;
    if (child_edit(config_editor(), copy, STDOUT_FILENO) ||
        access(copy, F_OK)) {
        print_fault("the editor %.200s failed; %.500s is unchanged",
                    config_editor(), path);
        code = END_FAILED;
    } else if (config_load_text(copy, &text)) {
        code = store(path, &text);
    }
    if (code == END_USAGE)
        print_note("your text is in %s", copy);
    else
        unlink(copy);
    bytes_release(&text);
    return code;
}

static int edit_settings(char **argv)
{
    char path[PLACES_PATH];
    (void)argv;
    if (!find_file(path))
        return END_USAGE;
    return config_edit_file(path, "{\n}\n", store_text);
}

static int print_path(char **argv)
{
    char path[PLACES_PATH];
    (void)argv;
    if (!find_file(path))
        return END_USAGE;
    print_format("%s\n", path);
    return END_DONE;
}

static int check_settings(char **argv)
{
    const struct config *c = settings_config();
    (void)argv;
    int code = settings_open();
    for (size_t i = 0; code == END_DONE && i < c->count; i++)
        if (*c->layers[i].name)
            print_note("%s: fine", c->layers[i].name);
    return code;
}

static int show_settings(char **argv)
{
    (void)argv;
    return settings_open() == END_DONE ? config_show(&flags_given) : END_USAGE;
}

static int trust_project(char **argv)
{
    (void)argv;
    return config_trust(&flags_given);
}

static const struct command_sub subs[] = {
    { "show", 0, 0, "", show_settings },
    { "get", 1, 1, "KEY", get_setting },
    { "set", 2, 2, "KEY VALUE", set_setting },
    { "unset", 1, 1, "KEY", unset_setting },
    { "edit", 0, 0, "", edit_settings },
    { "path", 0, 0, "", print_path },
    { "check", 0, 0, "", check_settings },
    { "trust", 0, 0, "", trust_project },
    { "untrust", 0, 0, "", config_untrust },
    { .name = NULL },
};

static int run_config_command(int argc, char **argv)
{
    flags_given = (struct config_flags){ 0 };
    if (!flags_read(flags, &flags_given, &argc, argv))
        return END_USAGE;
    settings_use(flags_given.file);
    return command_run_sub("config", subs, argc, argv);
}

const struct command config_command = {
    .name = "config",
    .usage = "show|get|set|unset|edit|path|check|trust|untrust [KEY VALUE]",
    .summary = "show and change the settings",
    .more =
        "Settings are read from /etc/allm/config.json, your own file, the\n"
        ".allm.json of the project, the file in ALLM_CONFIG and ALLM_*\n"
        "variables; later ones override earlier ones.  set and unset change\n"
        "one value and keep every other byte of the file.  A project's file\n"
        "can do little until you run \"allm config trust\" on exactly its\n"
        "content.\n",
    .examples = "allm config set model openai:gpt-5\n"
                "allm config show --origin\n"
                "allm config trust --show\n",
    .subs = "show|get|set|unset|edit|path|check|trust|untrust",
    .args = { FILL_SETTING },
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_config_command,
};
