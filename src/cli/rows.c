/*
 * rows.c - allm _rows: the table of commands and flags as JSON
 *
 * The manual pages are made from it (tools/manual), and tests read it.
 */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "conf/member.h"
#include "conf/settings.h"

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
    member_text(b, "letter", *letter ? letter : NULL);
    member_text(b, "name", f->name);
    member_text(b, "kind", kinds[f->kind]);
    member_text(b, "value", f->value);
    member_text(b, "help", f->help);
    member_text(b, "fill", fills[f->fill]);
    member_text(b, "words", f->words);
    member_text(b, "setting", f->setting);
    member_text(b, "variable", f->variable);
    member_bool(b, "most", (f->use & FLAG_MOST) != 0);
    allm_json_build_end(b);
}

static void put_flags(allm_json_build *b, const struct command *c)
{
    const struct flag *f;
    member_array(b, "flags");
    for (size_t i = 0; (f = command_flag(c, i)); i++)
        put_flag(b, f);
    allm_json_build_end(b);
}

static void put_command(allm_json_build *b, const struct command *c)
{
    static const char *const groups[] = { "talk", "state", "set-up", "formats",
                                          "hidden" };
    allm_json_build_object(b);
    member_text(b, "name", c->name);
    member_text(b, "usage", c->usage);
    member_text(b, "summary", c->summary);
    member_text(b, "more", c->more);
    member_text(b, "examples", c->examples);
    member_text(b, "subs", c->subs);
    member_text(b, "group", groups[c->group]);
    member_bool(b, "shown", command_is_shown(c));
    put_flags(b, c);
    allm_json_build_end(b);
}

static void put_codes(allm_json_build *b)
{
    const char *meaning;
    int code;
    member_array(b, "exit_codes");
    for (size_t i = 0; (meaning = exit_meaning(i, &code)); i++) {
        allm_json_build_object(b);
        member_int(b, "code", code);
        member_text(b, "meaning", meaning);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

static void put_settings(allm_json_build *b)
{
    const struct setting *s;
    char variable[64];
    member_array(b, "settings");
    for (size_t i = 0; (s = setting_at(i)); i++) {
        allm_json_build_object(b);
        member_text(b, "key", s->key);
        member_text(b, "type", setting_expects(s));
        member_text(b, "default", s->standard);
        member_text(b, "help", s->help);
        if (setting_variable(s, variable))
            member_text(b, "variable", variable);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

static int run_rows_command(int argc, char **argv)
{
    const struct command *c;
    if (!flags_read_all("_rows", NULL, NULL, argc, argv))
        return END_USAGE;
    allm_json_build *b = member_new_object();
    member_array(b, "commands");
    for (size_t i = 0; (c = command_at(i)); i++)
        put_command(b, c);
    allm_json_build_end(b);
    put_codes(b);
    put_settings(b);
    allm_json *rows = member_done(b);
    print_json(rows, ALLM_JSON_PRETTY);
    allm_json_free(rows);
    return END_DONE;
}

const struct command rows_command = {
    .name = "_rows",
    .usage = "",
    .summary = "print the table of commands and flags as JSON",
    .group = GROUP_HIDDEN,
    .run = run_rows_command,
};
