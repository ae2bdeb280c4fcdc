/*
 * command.h - the commands of the program: one table, one file each
 *
 * Help, manual pages, completion and tests are made from these rows: see
 * help.c, completion.c and rows.c.
 */
#pragma once

#include "cli/flags.h"

enum command_group {
    GROUP_TALK,
    GROUP_STATE,
    GROUP_SETUP,
    GROUP_WIRE,
    GROUP_HIDDEN /* for scripts of ours; it is not shown */
};

struct command {
    const char *name;
    const char *usage;   /* the arguments */
    const char *summary; /* one line */
    const char *more;    /* prose, lines of at most 80 bytes; or NULL */
    const char *examples; /* at most three lines; or NULL */
    const char *subs;    /* the subcommands, "show|get|set"; or NULL */
    enum flag_fill args[3]; /* what completes the arguments after these */
    const struct flag *flags; /* or NULL */
    /* Rows of another table that the command has, too, and which ones. */
    const struct flag *shared;
    unsigned shared_use; /* flag_use */
    enum command_group group;
    /* argv begins after the name.  Returns the exit code. */
    int (*run)(int argc, char **argv);
};

/* In the order of the help; the first is the default command. */
const struct command *command_at(size_t index);
/* NULL if there is none. */
const struct command *command_find(const char *name);
/* The command with the most similar name, or NULL. */
const struct command *command_suggest(const char *name);
/* Do help and completion show it? */
bool command_is_shown(const struct command *c);

/* The flags of a command that are shown: its own, then the shared ones; NULL:
 * no more. */
const struct flag *command_flag(const struct command *c, size_t index);
/* flags_read() for a command with shared rows. */
bool command_read(const struct command *c, void *into, void *shared, int *argc,
                  char **argv);
/* Print that `word` is not one of the subcommands, and a similar one; NULL: a
 * subcommand is missing.  Returns END_USAGE. */
int command_reject_sub(const struct command *c, const char *word);

/* A subcommand, how many arguments it takes, and what they are. */
struct command_sub {
    const char *name;
    int least, most;
    const char *args;
    int (*run)(char **argv); /* the arguments, then NULL */
};
/* Run the one that argv[0] names; without arguments, the first one.  The last
 * row has no name. */
int command_run_sub(const char *command, const struct command_sub *subs,
                    int argc, char **argv);

/* Is one letter of the name wrong, or are two swapped? */
bool command_is_typo(const struct command *c, const char *name);

/* Print the help of one command; of the program.  all: everything. */
void help_show(const struct command *c, bool all);
void help_overview(bool all);
