/* help.c - allm help: explain the program, or one command */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"

#include <stdio.h>
#include <string.h>

static const struct flag flags[] = { { .name = NULL } };

static const char examples[] =
    "\nexamples:\n"
    "  allm \"Why is the sky blue?\"\n"
    "  git diff | allm -s \"You review code.\" \"Anything wrong?\"\n"
    "  allm -S trip.session \"And if it rains?\"\n"
    "  allm -m ollama:llama3.2 -a photo.png \"What is this?\"\n"
    "  allm --schema person.json --json \"Ada Lovelace, born 1815\"\n"
    "  allm demo                          no key, no network\n";

static void show_flags(const struct flag *f)
{
    for (; f->name; f++) {
        char left[64];
        char letter[5] = "    ";
        if (f->letter)
            snprintf(letter, sizeof letter, "-%c, ", f->letter);
        snprintf(left, sizeof left, "%s%s %s", letter, f->name,
                 f->value ? f->value : "");
        print_format("  %-27s %s\n", left, f->help);
    }
}

static void show_codes(void)
{
    const char *meaning;
    int code;
    print_text("exit codes:\n");
    for (size_t i = 0; (meaning = exit_meaning(i, &code)); i++)
        print_format("  %3d  %s\n", code, meaning);
}

void help_show(const struct command *c)
{
    bool first = c == command_at(0);
    print_format("usage: allm %s%s%s\n  %s\n", first ? "[ask]" : c->name,
                 *c->usage ? " " : "", c->usage, c->summary);
    if (c->more)
        print_format("\n%s", c->more);
    if (c->flags->name) {
        print_text("\nflags:\n");
        show_flags(c->flags);
    }
    if (first) {
        print_text("\n");
        show_codes();
    }
}

void help_overview(void)
{
    const struct command *c;
    print_text("usage: allm [FLAG...] [PROMPT...]      send stdin, then "
               "PROMPT\n       allm COMMAND [...]\n\ncommands:\n");
    for (size_t i = 1; (c = command_at(i)); i++)
        print_format("  %-8s %s\n", c->name, c->summary);
    print_text("\nflags:\n");
    show_flags(command_at(0)->flags);
    print_text(examples);
}

static int run_help_command(int argc, char **argv)
{
    if (!flags_read(flags, NULL, &argc, argv))
        return END_USAGE;
    if (!argc) {
        help_overview();
        return END_DONE;
    }
    const struct command *c = command_find(argv[0]);
    if (c) {
        help_show(c);
        return END_DONE;
    }
    c = command_suggest(argv[0]);
    print_fault("unknown command \"%.100s\"%s%s%s", argv[0],
                c ? "; did you mean \"" : "; allm help lists them",
                c ? c->name : "", c ? "\"?" : "");
    return END_USAGE;
}

const struct command help_command = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "explain the program, or one of its commands",
    .flags = flags,
    .run = run_help_command,
};
