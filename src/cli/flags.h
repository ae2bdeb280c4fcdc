/*
 * flags.h - parse the flags of the command line
 *
 * Each command has a table of flags; all know "-h" and "--help".  "--" ends the
 * flags.  Arguments that are not flags stay in argv, moved to its front.
 */
#ifndef CLI_FLAGS_H
#define CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flag_kind {
    FLAG_SWITCH,  /* bool */
    FLAG_TEXT,    /* const char * */
    FLAG_NUMBER,  /* uint32_t, from 1 */
    FLAG_SECONDS, /* uint32_t, milliseconds */
    FLAG_LIST,    /* struct flag_list, appends a word */
    FLAG_PAIR     /* struct flag_list, appends two words */
};

struct flag {
    char letter;      /* 0: none */
    const char *name; /* "--model"; NULL ends the table */
    enum flag_kind kind;
    size_t at;         /* offset in the struct that is filled */
    const char *value; /* name of the value for the help; or NULL */
    const char *help;
};

enum { FLAGS_MAX = 128 }; /* words in a list */

struct flag_list {
    size_t count;
    const char *word[FLAGS_MAX];
};

/* Parse the flags into a struct; the other arguments are then in
 * argv[0 .. *argc - 1].  False: an error was printed. */
bool flags_read(const struct flag *table, void *into, int *argc, char **argv);
/* The same for a command that takes only flags. */
bool flags_read_all(const char *name, const struct flag *table, void *into,
                    int argc, char **argv);

#endif
