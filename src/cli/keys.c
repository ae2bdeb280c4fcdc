/* keys.c - allm keys: show where each key comes from, never its value */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/target.h"

#include <stddef.h>
#include <string.h>

static struct settings {
    bool json;
} settings;

static const struct flag flags[] = {
    { 0, "--json", FLAG_SWITCH, offsetof(struct settings, json), NULL,
      "print a JSON list" },
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
    allm_json_build_key(b, "provider");
    allm_json_build_text(b, r->name, ALLM_NUL_ENDED);
    allm_json_build_key(b, "variable");
    allm_json_build_text(b, r->variable, ALLM_NUL_ENDED);
    allm_json_build_key(b, "source");
    if (r->source)
        allm_json_build_text(b, r->source, ALLM_NUL_ENDED);
    else
        allm_json_build_null(b);
    allm_json_build_key(b, "needed");
    allm_json_build_bool(b, !r->keyless);
    allm_json_build_end(b);
}

/* List the providers that have a key (found), or those that have none.
 * Returns END_DONE, or an exit code if the keys cannot be read. */
static int list_keys(const allm_keys *keys, const allm_json *list, bool found,
                     allm_json_build *b)
{
    for (const allm_json *at = NULL; (at = allm_json_next(list, at));) {
        struct row r = { .name = registry_text(at, "name"),
                         .keyless = registry_is_keyless(at) };
        if (!registry_is_http(at))
            continue;
        int code = target_find_key(keys, r.name, &r.source);
        if (code != END_DONE && code != END_KEY)
            return code;
        if ((code == END_DONE) != found)
            continue;
        allm_text *variable = allm_keys_variable(r.name);
        r.variable = allm_text_bytes(variable, NULL);
        if (r.variable && settings.json)
            put_row(b, &r);
        else if (r.variable)
            print_row(&r);
        allm_text_free(variable);
    }
    return END_DONE;
}

static int run_keys_command(int argc, char **argv)
{
    if (!flags_read_all("keys", flags, &settings, argc, argv))
        return END_USAGE;
    allm_keys *keys = target_keys();
    allm_json *list = allm_registry_list();
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    int code = list_keys(keys, list, true, b);
    if (code == END_DONE)
        code = list_keys(keys, list, false, b);
    allm_json_build_end(b);
    allm_json *all = allm_json_build_done(b);
    if (settings.json && code == END_DONE)
        print_json(all, ALLM_JSON_PRETTY);
    allm_json_free(all);
    allm_json_free(list);
    allm_keys_free(keys);
    return code;
}

const struct command keys_command = {
    .name = "keys",
    .usage = "[--json]",
    .summary = "show where each key comes from, never its value",
    .more = "Keys are read from the environment, then from ./.env.\n",
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_keys_command,
};
