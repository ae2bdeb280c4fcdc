/*
 * complete.c - allm _complete: the words that can follow on a command line
 *
 * The shells call it with the words after "allm" up to the cursor; the last one
 * is the word to complete.  It prints the words that can replace it, one per
 * line, each with a tab and a description if there is one; or ":file" or
 * ":directory" if the shell is to complete a path.  It never uses the network.
 */
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/mcp_entries.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/session_store.h"
#include "cli/settings.h"
#include "cli/template_list.h"
#include "cli/toolbox_names.h"
#include "conf/keyring.h"
#include "conf/member.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The word to complete is `front` (printed before each word), then `part`. */
struct completion {
    const char *front, *part;
    int front_len;
    const char *words; /* for FILL_WORDS */
};

/* A name may be that of a project which is not trusted; bash inserts it as it
 * is. */
static bool is_harmless(const char *word)
{
    while (isalnum((unsigned char)*word) || (unsigned char)*word >= 0x80 ||
           (*word && strchr("-_.:/@+,=%", *word)))
        word++;
    return !*word;
}

static void offer_word(const struct completion *c, const char *word,
                       const char *help)
{
    if (!strncmp(word, c->part, strlen(c->part)) && is_harmless(word))
        print_format("%.*s%s%s%s\n", c->front_len, c->front, word,
                     help ? "\t" : "", help ? help : "");
}

static void offer_commands(const struct completion *c)
{
    const struct command *row;
    for (size_t i = 0; (row = command_at(i)); i++)
        if (command_is_shown(row))
            offer_word(c, row->name, row->summary);
}

static void offer_words(const struct completion *c)
{
    char word[64];
    for (const char *w = c->words; w && flags_next_word(&w, word);)
        offer_word(c, word, NULL);
}

/* The names of the providers, with `end` appended. */
static void offer_providers(const struct completion *c, const char *end)
{
    char name[128];
    for (const allm_json *row = NULL; (row = registry_next(row));)
        if (registry_is_http(row)) {
            snprintf(name, sizeof name, "%s%s", member_read(row, "name"), end);
            offer_word(c, name, NULL);
        }
}

static void offer_dialects(const struct completion *c)
{
    for (const allm_json *row = NULL; (row = registry_next(row));)
        if (registry_is_http(row) && registry_is_first(row))
            offer_word(c, member_read(row, "dialect"), NULL);
}

/* The names in an object. */
static void offer_names(const struct completion *c, const allm_json *all)
{
    for (const allm_json *k = NULL; (k = allm_json_next(all, k));)
        offer_word(c, allm_json_text(k, NULL), NULL);
}

static void offer_aliases(const struct completion *c)
{
    offer_names(c, settings_value("aliases"));
}

static void offer_models(const struct completion *c)
{
    char name[512];
    const allm_model_ref *m;
    offer_aliases(c);
    allm_catalog *catalog = catalog_open();
    for (size_t i = 0; (m = allm_catalog_at(catalog, i)); i++) {
        snprintf(name, sizeof name, "%s:%s", m->provider ? m->provider : "",
                 m->id);
        if (m->provider)
            offer_word(c, name, NULL);
    }
    allm_catalog_free(catalog);
    offer_providers(c, ":");
}

/* The names of a store on this machine, or files. */
static void offer_sessions(const struct completion *c)
{
    char where[512];
    allm_store *store = NULL;
    if (strpbrk(c->part, "/.")) {
        print_text(":file\n");
        return;
    }
    session_store_describe(NULL, where, sizeof where);
    if (strncmp(where, "sqlite:", 7) != 0 || !session_store_exists(NULL) ||
        session_store_open(&store, NULL, ALLM_STORE_NO_CREATE, 0) != END_DONE)
        return;
    allm_json *list = allm_store_list(store, ALLM(store_query, .limit = 200));
    const allm_json *all = allm_json_get(list, "sessions");
    for (const allm_json *s = NULL; (s = allm_json_next(all, s));)
        offer_word(c, member_read(s, "name"), NULL);
    allm_json_free(list);
    allm_store_free(store);
}

static void offer_settings(const struct completion *c)
{
    const struct setting *s;
    for (size_t i = 0; (s = setting_at(i)); i++)
        if (!strchr(s->key, '*'))
            offer_word(c, s->key, s->help);
}

static void offer_template(void *ud, const char *name, const char *path,
                           bool project)
{
    (void)path;
    offer_word(ud, name, project ? "of this project" : NULL);
}

/* The names of templates, or files. */
static void offer_templates(const struct completion *c)
{
    struct completion all = *c;
    if (strchr(c->part, '/'))
        print_text(":file\n");
    else
        template_list_each(offer_template, &all);
}

/* The names in keys.json, and the providers. */
static void offer_keys(const struct completion *c)
{
    int error;
    allm_json *all = keyring_load(&error);
    offer_names(c, all);
    allm_json_free(all);
    offer_providers(c, "");
}

static void offer_servers(const struct completion *c)
{
    allm_json *all = mcp_entries_all();
    offer_names(c, all);
    allm_json_free(all);
}

static void offer_tool(void *ud, const char *name, const char *kind)
{
    offer_word(ud, name, kind);
}

/* The names of tools; of "code,NAME" the last one. */
static void offer_tools(const struct completion *c)
{
    struct completion last = *c;
    const char *comma = strrchr(c->part, ',');
    if (comma) {
        last.part = comma + 1;
        last.front_len = (int)(last.part - c->front);
    }
    toolbox_names_each(offer_tool, &last);
}

static void offer_provider_names(const struct completion *c)
{
    offer_providers(c, "");
}

static void offer_tasks(const struct completion *c)
{
    offer_names(c, settings_value("routing"));
}

static void offer_fill(const struct completion *c, enum flag_fill fill)
{
    static void (*const offers[])(const struct completion *) = {
        [FILL_MODEL] = offer_models,
        [FILL_ALIAS] = offer_aliases,
        [FILL_PROVIDER] = offer_provider_names,
        [FILL_DIALECT] = offer_dialects,
        [FILL_SESSION] = offer_sessions,
        [FILL_TEMPLATE] = offer_templates,
        [FILL_TOOL] = offer_tools,
        [FILL_SERVER] = offer_servers,
        [FILL_KEY] = offer_keys,
        [FILL_SETTING] = offer_settings,
        [FILL_TASK] = offer_tasks,
        [FILL_COMMAND] = offer_commands,
        [FILL_WORDS] = offer_words,
    };
    if (fill == FILL_FILE || fill == FILL_DIRECTORY)
        print_text(fill == FILL_FILE ? ":file\n" : ":directory\n");
    else if (offers[fill])
        offers[fill](c);
}

static void offer_flags(const struct command *row, const char *part)
{
    const struct flag *f;
    struct completion c = { "", part, 0, NULL };
    for (size_t i = 0; (f = command_flag(row, i)); i++)
        offer_word(&c, f->name, f->help);
    offer_word(&c, "--help", "explain");
}

/* The flag of this word: its name up to "=", or the last of its letters. */
static const struct flag *flag_of(const struct command *row, const char *word)
{
    const struct flag *f;
    size_t len = strcspn(word, "=");
    char letter = word[1] == '-' ? 0 : word[strlen(word) - 1];
    for (size_t i = 0; (f = command_flag(row, i)); i++)
        if (letter ? f->letter == letter
                   : strlen(f->name) == len && !memcmp(f->name, word, len))
            return f;
    return NULL;
}

/* Where the word to complete is: the value of a flag, or an argument. */
struct cursor {
    const struct flag *flag; /* or NULL */
    int left;                /* values that the flag still needs */
    int argument;            /* arguments before it */
    bool flags_ended;
};

static void pass_word(struct cursor *p, const struct command *row,
                      const char *word)
{
    if (p->left) {
        p->left--;
        return;
    }
    if (p->flags_ended || word[0] != '-' || !word[1]) {
        p->argument++;
        return;
    }
    p->flags_ended = !strcmp(word, "--");
    p->flag = p->flags_ended ? NULL : flag_of(row, word);
    if (p->flag && p->flag->kind != FLAG_SWITCH && !strchr(word, '='))
        p->left = p->flag->kind == FLAG_PAIR ? 2 : 1;
}

static void offer_argument(const struct command *row, struct completion *c,
                           int argument)
{
    if (row->subs && !argument--) {
        c->words = row->subs;
        offer_words(c);
        return;
    }
    offer_fill(c, row->args[argument < 2 ? argument : 2]);
}

static void complete_word(const struct command *row, int argc, char **argv)
{
    struct cursor p = { .flag = NULL };
    const char *part = argc ? argv[argc - 1] : "";
    struct completion c = { part, part, 0, NULL };
    for (int i = 0; i < argc - 1; i++)
        pass_word(&p, row, argv[i]);
    const char *sign = strchr(part, '=');
    bool is_flag = !p.left && !p.flags_ended && part[0] == '-';
    if (is_flag && !sign) {
        offer_flags(row, part);
        return;
    }
    if (is_flag) {
        p.flag = flag_of(row, part);
        p.left = 1;
        c.part = sign + 1;
        c.front_len = (int)(c.part - part);
    }
    c.words = p.left && p.flag ? p.flag->words : NULL;
    if (!p.left)
        offer_argument(row, &c, p.argument);
    else if (p.flag && (is_flag || p.left == 1 + (p.flag->kind == FLAG_PAIR)))
        offer_fill(&c, p.flag->fill);
}

static bool begins_command(const char *part)
{
    const struct command *row;
    for (size_t i = 0; (row = command_at(i)); i++)
        if (command_is_shown(row) && !strncmp(row->name, part, strlen(part)))
            return true;
    return false;
}

static int run_complete_command(int argc, char **argv)
{
    const struct command *row = argc > 1 ? command_find(argv[0]) : NULL;
    struct completion c = { "", argc ? argv[0] : "", 0, NULL };
    if (argc <= 1 && c.part[0] != '-' && begins_command(c.part))
        offer_commands(&c);
    else if (row && command_is_shown(row))
        complete_word(row, argc - 1, argv + 1);
    else
        complete_word(command_at(0), argc, argv);
    return END_DONE;
}

const struct command complete_command = {
    .name = "_complete",
    .usage = "[WORD...]",
    .summary = "print the words that can follow",
    .group = GROUP_HIDDEN,
    .run = run_complete_command,
};
