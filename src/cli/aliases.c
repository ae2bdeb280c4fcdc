/* aliases.c - allm aliases: other names for models, with their options */
#include "cli/command.h"
#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/model_name.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "conf/member.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct alias_flags {
    bool json;
    const char *system;
    struct flag_list options;
} given;

static const struct flag flags[] = {
    { 0, "--json", FLAG_SWITCH, offsetof(struct alias_flags, json), NULL,
      "print a JSON object", .use = FLAG_MOST },
    { 's', "--system", FLAG_TEXT, offsetof(struct alias_flags, system), "TEXT",
      "set: the system prompt of this alias", .use = FLAG_MOST },
    { 'o', "--option", FLAG_PAIR, offsetof(struct alias_flags, options), "K V",
      "set: a provider option of this alias", .use = FLAG_MOST },
    { .name = NULL },
};

static int list_aliases(char **argv)
{
    (void)argv;
    if (settings_open() != END_DONE)
        return END_USAGE;
    const allm_json *all = settings_value("aliases");
    allm_json *shown = all ? config_mask("aliases", all)
                           : allm_json_parse("{}", 2, NULL);
    if (given.json)
        print_json(shown, ALLM_JSON_PRETTY);
    for (const allm_json *k = NULL;
         !given.json && (k = allm_json_next(shown, k));) {
        const allm_json *alias = allm_json_value(k);
        const char *model = allm_json_text(alias, NULL);
        allm_text *more = allm_json_write(alias, 0);
        print_format("%-16s %s\n", allm_json_text(k, NULL),
                     model ? model : allm_text_bytes(more, NULL));
        allm_text_free(more);
    }
    allm_json_free(shown);
    return END_DONE;
}

/* The alias as JSON text: a name, or an object with its options. */
static allm_text *make_alias(const char *model, const allm_json *options)
{
    allm_json_build *b = member_new_object();
    member_text(b, "model", model);
    member_text(b, "system", given.system);
    if (options)
        member_value(b, "options", options);
    allm_json *alias = member_done(b);
    bool simple = !given.system && !options;
    allm_text *text =
        allm_json_write(simple ? allm_json_get(alias, "model") : alias, 0);
    allm_json_free(alias);
    return text;
}

/* Change the user's file; model NULL: remove the alias. */
static int change_alias(const char *name, const char *model)
{
    char path[PLACES_PATH], key[300];
    struct opts options;
    if (!*name || strlen(name) > 200)
        return print_misuse("the name of an alias has 1 to 200 bytes");
    snprintf(key, sizeof key, "aliases.%s", name);
    if (!config_own_file(path))
        return END_USAGE;
    if (!model)
        return config_change(path, key, NULL);
    if (!opts_read(&options, &given.options))
        return END_USAGE;
    allm_text *text = make_alias(model, options.json);
    const char *json = allm_text_bytes(text, NULL);
    int code = json ? config_change(path, key, json) : END_USAGE;
    if (!json)
        print_fault("the alias is not UTF-8 text");
    allm_text_free(text);
    opts_release(&options);
    return code;
}

static int set_alias(char **argv)
{
    if (settings_open() != END_DONE)
        return END_USAGE;
    if (model_name_loops(argv[0], argv[1]))
        return print_misuse(
            "the alias \"%.100s\" for \"%.100s\" leads to itself, or through "
            "too many aliases; name a model: allm models lists them",
            argv[0], argv[1]);
    return change_alias(argv[0], argv[1]);
}

static int remove_alias(char **argv)
{
    return change_alias(argv[0], NULL);
}

static const struct command_sub subs[] = {
    { "list", 0, 0, "", list_aliases },
    { "set", 2, 2, "NAME MODEL", set_alias },
    { "rm", 1, 1, "NAME", remove_alias },
    { .name = NULL },
};

static int run_aliases_command(int argc, char **argv)
{
    given = (struct alias_flags){ 0 };
    return flags_read(flags, &given, &argc, argv)
               ? command_run_sub("aliases", subs, argc, argv)
               : END_USAGE;
}

const struct command aliases_command = {
    .name = "aliases",
    .usage = "[list] | set NAME MODEL [-s TEXT] [-o K V] | rm NAME",
    .summary = "other names for models, with their options",
    .more = "An alias can refer to an alias.  -m uses it like the name of a\n"
            "model; flags override what it sets.\n",
    .examples = "allm aliases set quick ollama:llama3.2 -o temperature 0\n"
                "allm -m quick \"Why is the sky blue?\"\n",
    .subs = "list|set|rm",
    .args = { FILL_ALIAS, FILL_MODEL },
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_aliases_command,
};
