/*
 * rows.c - allm _rows: the table of commands and flags as JSON
 *
 * The manual pages are made from it (tools/manual), and tests read it.
 */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "conf/settings.h"

static const struct flag flags[] = { { .name = NULL } };

static void put_text(allm_json_build *b, const char *key, const char *text)
{
    if (!text)
        return;
    allm_json_build_key(b, key);
    allm_json_build_text(b, text, ALLM_NUL_ENDED);
}

static void put_bool(allm_json_build *b, const char *key, bool value)
{
    allm_json_build_key(b, key);
    allm_json_build_bool(b, value);
}

static void put_flag(allm_json_build *b, const struct flag *f)
{
    static const char *const kinds[] = { "switch", "text", "choice", "number",
                                         "seconds", "cost", "list", "pair" };
    static const char *const fills[] = {
        "none",    "file", "directory", "model", "alias",   "provider",
        "dialect", "session", "template", "tool", "server", "key",
        "setting", "task", "command", "words",
    };
    char letter[2] = { f->letter, 0 };
    allm_json_build_object(b);
    put_text(b, "letter", *letter ? letter : NULL);
    put_text(b, "name", f->name);
    put_text(b, "kind", kinds[f->kind]);
    put_text(b, "value", f->value);
    put_text(b, "help", f->help);
    put_text(b, "fill", fills[f->fill]);
    put_text(b, "words", f->words);
    put_text(b, "setting", f->setting);
    put_text(b, "variable", f->variable);
    put_bool(b, "most", (f->use & FLAG_MOST) != 0);
    allm_json_build_end(b);
}

static void put_flags(allm_json_build *b, const struct command *c)
{
    const struct flag *f;
    allm_json_build_key(b, "flags");
    allm_json_build_array(b);
    for (size_t i = 0; (f = command_flag(c, i)); i++)
        put_flag(b, f);
    allm_json_build_end(b);
}

static void put_command(allm_json_build *b, const struct command *c)
{
    static const char *const groups[] = { "talk", "state", "set-up", "formats",
                                          "hidden" };
    allm_json_build_object(b);
    put_text(b, "name", c->name);
    put_text(b, "usage", c->usage);
    put_text(b, "summary", c->summary);
    put_text(b, "more", c->more);
    put_text(b, "examples", c->examples);
    put_text(b, "subs", c->subs);
    put_text(b, "group", groups[c->group]);
    put_bool(b, "shown", command_is_shown(c));
    put_flags(b, c);
    allm_json_build_end(b);
}

static void put_codes(allm_json_build *b)
{
    const char *meaning;
    int code;
    allm_json_build_key(b, "exit_codes");
    allm_json_build_array(b);
    for (size_t i = 0; (meaning = exit_meaning(i, &code)); i++) {
        allm_json_build_object(b);
        allm_json_build_key(b, "code");
        allm_json_build_int(b, code);
        put_text(b, "meaning", meaning);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

static void put_settings(allm_json_build *b)
{
    const struct setting *s;
    char variable[64];
    allm_json_build_key(b, "settings");
    allm_json_build_array(b);
    for (size_t i = 0; (s = setting_at(i)); i++) {
        allm_json_build_object(b);
        put_text(b, "key", s->key);
        put_text(b, "type", setting_expects(s));
        put_text(b, "default", s->standard);
        put_text(b, "help", s->help);
        if (setting_variable(s, variable))
            put_text(b, "variable", variable);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

static int run_rows_command(int argc, char **argv)
{
    const struct command *c;
    if (!flags_read_all("_rows", flags, NULL, argc, argv))
        return END_USAGE;
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "commands");
    allm_json_build_array(b);
    for (size_t i = 0; (c = command_at(i)); i++)
        put_command(b, c);
    allm_json_build_end(b);
    put_codes(b);
    put_settings(b);
    allm_json_build_end(b);
    allm_json *rows = allm_json_build_done(b);
    print_json(rows, ALLM_JSON_PRETTY);
    allm_json_free(rows);
    return END_DONE;
}

const struct command rows_command = {
    .name = "_rows",
    .usage = "",
    .summary = "print the table of commands and flags as JSON",
    .flags = flags,
    .group = GROUP_HIDDEN,
    .run = run_rows_command,
};
