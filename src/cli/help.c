/*
 * help.c - allm help: explain the program, or one command
 *
 * The short help fits on a screen: usage, the most used flags, three examples.
 * With --all it has everything.
 */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "conf/settings.h"

#include <stdio.h>
#include <string.h>

static struct settings {
    bool all;
} settings;

static const struct flag flags[] = {
    { 0, "--all", FLAG_SWITCH, offsetof(struct settings, all), NULL,
      "all flags; without COMMAND, also all commands" },
    { .name = NULL },
};

static const char *const groups[] = { "talk", "state", "set-up", "formats" };

static void show_flag(const struct flag *f)
{
    char left[64];
    char letter[5] = "    ";
    if (f->letter)
        snprintf(letter, sizeof letter, "-%c, ", f->letter);
    snprintf(left, sizeof left, "%s%s %s", letter, f->name,
             f->value ? f->value : "");
    print_format("  %-27s %s\n", left, f->help);
}

/* How many flags of a command have one of these bits?  0: all flags. */
static size_t count_flags(const struct command *c, unsigned use)
{
    const struct flag *f;
    size_t count = 0;
    for (size_t i = 0; (f = command_flag(c, i)); i++)
        count += !use || f->use & use;
    return count;
}

static void show_flags(const struct command *c, bool all)
{
    const struct flag *f;
    size_t most = count_flags(c, FLAG_MOST), count = count_flags(c, 0);
    bool some = !all && most;
    if (!count)
        return;
    print_format("\nflags%s:\n",
                 some && most < count ? " (--help --all lists all)" : "");
    for (size_t i = 0; (f = command_flag(c, i)); i++)
        if (!some || f->use & FLAG_MOST)
            show_flag(f);
}

/* Print each line with an indent. */
static void show_examples(const char *lines)
{
    if (!lines)
        return;
    print_text("\nexamples:\n");
    while (*lines) {
        int len = (int)strcspn(lines, "\n");
        print_format("  %.*s\n", len, lines);
        lines += len + (lines[len] != 0);
    }
}

static void show_codes(void)
{
    const char *meaning;
    int code;
    print_text("\nexit codes:\n");
    for (size_t i = 0; (meaning = exit_meaning(i, &code)); i++)
        print_format("  %3d  %s\n", code, meaning);
}

static void show_settings(void)
{
    const struct setting *s;
    print_text("\nsettings (* is a name of yours):\n");
    for (size_t i = 0; (s = setting_at(i)); i++)
        print_format("  %-21s %s\n", s->key, s->help);
}

void help_show(const struct command *c, bool all)
{
    bool first = c == command_at(0);
    print_format("usage: allm %s%s%s\n  %s\n", first ? "[ask]" : c->name,
                 *c->usage ? " " : "", c->usage, c->summary);
    if (c->more)
        print_format("\n%s", c->more);
    show_flags(c, all);
    show_examples(c->examples);
    if (first && all)
        show_codes();
    if (all && !strcmp(c->name, "config"))
        show_settings();
}

/* The names of a group, on lines of at most 80 bytes. */
static void show_names(enum command_group group)
{
    const struct command *c;
    size_t column = 0;
    print_format("  %-9s ", groups[group]);
    for (size_t i = 0; (c = command_at(i)); i++) {
        if (c->group != group)
            continue;
        bool wrap = column + strlen(c->name) > 64;
        print_format("%s%s%s", column ? "," : "",
                     wrap     ? "\n            "
                     : column ? " "
                              : "",
                     c->name);
        column = (wrap ? 0 : column) + strlen(c->name) + 2;
    }
    print_text("\n");
}

static bool has_commands(enum command_group group)
{
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)); i++)
        if (c->group == group)
            return true;
    return false;
}

static void show_summaries(enum command_group group)
{
    const struct command *c;
    print_format("\n%s:\n", groups[group]);
    for (size_t i = 0; (c = command_at(i)); i++)
        if (c->group == group)
            print_format("  %-10s %s\n", c->name, c->summary);
}

void help_overview(bool all)
{
    print_text("usage: allm [FLAG...] [PROMPT...]      send stdin, then "
               "PROMPT\n       allm COMMAND [...]\n");
    if (!all)
        print_text("\ncommands (allm help COMMAND):\n");
    for (int g = 0; g < GROUP_HIDDEN; g++)
        if (has_commands((enum command_group)g)) {
            if (all)
                show_summaries((enum command_group)g);
            else
                show_names((enum command_group)g);
        }
    show_flags(command_at(0), all);
    show_examples(command_at(0)->examples);
    if (all)
        show_codes();
}

static int run_help_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (!argc) {
        help_overview(settings.all);
        return END_DONE;
    }
    const struct command *c = command_find(argv[0]);
    if (c && command_is_shown(c)) {
        help_show(c, settings.all);
        return END_DONE;
    }
    c = command_suggest(argv[0]);
    return print_misuse("unknown command \"%.100s\"%s%s%s", argv[0],
                        c ? "; did you mean \"" : "; allm help lists them",
                        c ? c->name : "", c ? "\"?" : "");
}

const struct command help_command = {
    .name = "help",
    .usage = "[--all] [COMMAND]",
    .summary = "explain the program, or one of its commands",
    .examples = "allm help batch\n"
                "allm help --all\n",
    .args = { FILL_COMMAND },
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_help_command,
};
