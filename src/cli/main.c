/*
 * main.c - allm: talk to language models from a shell
 *
 * The first argument selects the command; without one, the arguments are a
 * prompt.
 */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

/* Open the standard descriptors that are closed, or the next open() would
 * return one of them.  stdout becomes read-only, so that writing fails. */
static void fill_standard_files(void)
{
    static const int mode[3] = { O_RDONLY, O_RDONLY, O_WRONLY };
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", mode[fd]);
}

/* Is this flag one of the arguments?  letter may be NULL. */
static bool has_flag(int argc, char **argv, const char *flag,
                     const char *letter)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], flag) || (letter && !strcmp(argv[i], letter)))
            return true;
    return false;
}

static void show_help(const struct command *c, int argc, char **argv)
{
    bool all = has_flag(argc, argv, "--all", NULL);
    if (c)
        help_show(c, all);
    else
        help_overview(all);
}

/* Words that are one letter away from a command but often begin a prompt. */
static bool begins_prompts(const char *word)
{
    static const char *const words[] = { "ark",    "ash",   "cat",  "catch",
                                         "decide", "end",   "hat",  "match",
                                         "patch",  "reply", "task", "that",
                                         "watch",  "what",  "wok",  "word" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(word, words[i]))
            return true;
    return false;
}

/* The command of which argv[0] is probably a typo: one letter is wrong, and
 * there are too few words for a sentence.  Or NULL. */
static const struct command *find_typo(int argc, char **argv)
{
    const struct command *c;
    if (argc > 3 || strlen(argv[0]) < 3 || begins_prompts(argv[0]))
        return NULL;
    if (!strcmp(argv[0], "logs")) /* its name in another program */
        return command_find("sessions");
    c = command_suggest(argv[0]);
    return c && command_is_typo(c, argv[0]) ? c : NULL;
}

static int run_program(int argc, char **argv)
{
    const struct command *c = argc ? command_find(argv[0]) : NULL;
    const struct command *suggested = argc && !c ? find_typo(argc, argv) : NULL;
    if (suggested)
        return print_misuse(
            "\"%s\" is not a command; did you mean \"allm %s\"?  To send it to "
            "a model: allm -- %s",
            argv[0], suggested->name, argv[0]);
    if (c) {
        argc--;
        argv++;
    }
    if (has_flag(argc, argv, "--help", "-h") && (!c || command_is_shown(c))) {
        show_help(c, argc, argv);
        return END_DONE;
    }
    if (!c && argc && !strcmp(argv[0], "--version")) {
        c = command_find("version");
        argc = 0;
    }
    return (c ? c : command_at(0))->run(argc, argv);
}

int main(int argc, char **argv)
{
    fill_standard_files();
    signal(SIGPIPE, SIG_IGN); /* print_end() returns its exit code */
    return print_end(run_program(argc > 0 ? argc - 1 : 0, argv + 1));
}
