/* keys.c - allm keys: store keys, show where each comes from, never a value */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/keys_parts.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/settings.h"
#include "cli/target.h"
#include "conf/keyring.h"
#include "conf/member.h"

#include <stddef.h>
#include <string.h>

static struct key_flags {
    bool json;
    const char *from;
} settings;

static const struct flag flags[] = {
    { 0, "--json", FLAG_SWITCH, offsetof(struct key_flags, json), NULL,
      "list: print a JSON list", .use = FLAG_MOST },
    { 0, "--from", FLAG_TEXT, offsetof(struct key_flags, from),
      "env:V|file:P|cmd:C", "set: look the key up there when it is needed",
      .use = FLAG_MOST },
    { .name = NULL },
};

struct row {
    const char *name, *variable, *source;
    bool keyless;
};

static void print_row(const struct row *r)
{
    const char *from = !r->source ? (r->keyless ? "none needed" : "not set")
                       : !strcmp(r->source, "env")    ? "environment"
                       : !strcmp(r->source, "dotenv") ? ".env file"
                                                      : r->source;
    print_format("%-22s %-28s %s\n", r->name, r->variable, from);
}

static void put_row(allm_json_build *b, const struct row *r)
{
    allm_json_build_object(b);
    member_text(b, "provider", r->name);
    member_text(b, "variable", r->variable);
    member_text_or_null(b, "source", r->source);
    member_bool(b, "needed", !r->keyless);
    allm_json_build_end(b);
}

static void show_row(allm_json_build *b, struct row *r)
{
    allm_text *variable = allm_keys_variable(r->name);
    r->variable = allm_text_bytes(variable, NULL);
    if (r->variable && settings.json)
        put_row(b, r);
    else if (r->variable)
        print_row(r);
    allm_text_free(variable);
}

/* List the providers that have a key (found), or those that have none.
 * Returns END_DONE, or an exit code if the keys cannot be read. */
static int list_known(const allm_keys *keys, bool found, allm_json_build *b)
{
    for (const allm_json *at = NULL; (at = registry_next(at));) {
        struct row r = { .name = member_read(at, "name"),
                         .keyless = registry_is_keyless(at) };
        if (!registry_is_http(at))
            continue;
        int code = target_find_key(keys, r.name, &r.source);
        if (code != END_DONE && code != END_KEY)
            return code;
        if ((code == END_DONE) == found)
            show_row(b, &r);
    }
    return END_DONE;
}

/* The user's own providers, and the stored keys of other names. */
static void list_own(const allm_keys *keys, const allm_json *stored,
                     allm_json_build *b)
{
    const allm_json *own = settings_value("providers");
    for (const allm_json *k = NULL; (k = allm_json_next(own, k));) {
        size_t len;
        struct row r = { .name = allm_json_text(k, &len) };
        const char *like = member_or(allm_json_value(k), "like", "openai_chat");
        r.keyless = registry_is_keyless(registry_row(like, strlen(like)));
        target_find_key(keys, r.name, &r.source);
        if (!registry_row(r.name, len))
            show_row(b, &r);
    }
    for (const allm_json *k = NULL; (k = allm_json_next(stored, k));) {
        size_t len;
        struct row r = { .name = allm_json_text(k, &len) };
        r.source = member_or(allm_json_value(k), "from", "keys.json");
        if (!registry_row(r.name, len) && !allm_json_get(own, r.name))
            show_row(b, &r);
    }
}

/* The list as JSON, which the caller frees; it is printed row by row unless
 * --json is given. */
static allm_json *make_list(const allm_json *stored, int *code)
{
    allm_keys *keys = target_keys();
    allm_json_build *b = member_new_array();
    *code = list_known(keys, true, b);
    list_own(keys, stored, b);
    if (*code == END_DONE)
        *code = list_known(keys, false, b);
    allm_keys_free(keys);
    return member_done(b);
}

static int list_keys(char **argv)
{
    int error, code;
    (void)argv;
    allm_json *stored = keyring_load(&error);
    if (error)
        return keys_report(error);
    allm_json *all = make_list(stored, &code);
    if (settings.json && code == END_DONE)
        print_json(all, ALLM_JSON_PRETTY);
    allm_json_free(all);
    allm_json_free(stored);
    return code;
}

static int set_key(char **argv)
{
    return keys_set(settings.from, argv);
}

/* A second word may be a key: keys_set() and others refuse it. */
static const struct command_sub subs[] = {
    { "list", 0, 0, "", list_keys },
    { "set", 0, 99, "", set_key },
    { "rm", 0, 99, "", keys_remove },
    { "test", 0, 99, "", keys_test },
    { .name = NULL },
};

static int run_keys_command(int argc, char **argv)
{
    settings = (struct key_flags){ 0 };
    return flags_read(flags, &settings, &argc, argv)
               ? command_run_sub("keys", subs, argc, argv)
               : END_USAGE;
}

const struct command keys_command = {
    .name = "keys",
    .usage = "[list] | set NAME [--from X] | rm NAME | test [NAME]",
    .summary = "store keys; show where each comes from, never its value",
    .more =
        "A key is looked up in the setting providers.NAME.key, in the\n"
        "environment, in ./.env, then in keys.json, which only you can\n"
        "read.  keys set reads it from the terminal without echo, or from\n"
        "standard input, never from the command line.  --from stores\n"
        "where the key is instead: env:VARIABLE, file:PATH, or\n"
        "cmd:COMMAND, which a call runs.  keys test asks the provider for\n"
        "its list of models.\n",
    .examples = "allm keys set openai\n"
                "pass show openai | allm keys set openai\n"
                "allm keys set corp --from file:~/.secrets/corp\n",
    .subs = "list|set|rm|test",
    .args = { FILL_KEY },
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_keys_command,
};
