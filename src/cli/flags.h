/*
 * flags.h - what stands on the command line
 *
 * A command has one table of flags; "-h" and "--help" are known to all.  What
 * is no flag stays in argv, moved to its front.  "--" ends the flags.
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
    FLAG_LIST,    /* struct flag_list, one more word */
    FLAG_PAIR     /* struct flag_list, two more words */
};

struct flag {
    char letter;      /* 0: none */
    const char *name; /* "--model"; NULL ends the table */
    enum flag_kind kind;
    size_t at;         /* offset in the struct that is filled */
    const char *value; /* what follows it, for the help; or NULL */
    const char *help;
};

enum { FLAGS_MAX = 128 }; /* words in a list */

struct flag_list {
    size_t count;
    const char *word[FLAGS_MAX];
};

/* The words that are no flags, in argv[0 .. *argc - 1].  False: refused, and
 * told. */
bool flags_read(const struct flag *table, void *into, int *argc, char **argv);
/* The same for a command of this name that takes flags only. */
bool flags_read_all(const char *name, const struct flag *table, void *into,
                    int argc, char **argv);

#endif
