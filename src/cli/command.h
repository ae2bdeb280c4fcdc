/* command.h - the commands of the program: one table, one file each */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/flags.h"

struct command {
    const char *name;
    const char *usage;   /* the arguments */
    const char *summary; /* one line */
    const char *more;    /* shown by its own help; or NULL */
    const struct flag *flags;
    /* argv begins after the name.  Returns the exit code. */
    int (*run)(int argc, char **argv);
};

extern const struct command ask_command, chat_command, decode_command,
    demo_command, doctor_command, encode_command, help_command, keys_command,
    models_command, replay_command, version_command;

/* In the order of the help; the first is the default command. */
const struct command *command_at(size_t index);
/* NULL if there is none. */
const struct command *command_find(const char *name);
/* The command with the most similar name, or NULL. */
const struct command *command_suggest(const char *name);

/* Is one letter of the name wrong, or are two swapped? */
bool command_is_typo(const struct command *c, const char *name);

/* Print the help of one command; of all. */
void help_show(const struct command *c);
void help_overview(void);

#endif
