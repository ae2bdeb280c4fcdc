/*
 * flags.h - parse the flags of the command line
 *
 * Each command has a table of flags; all know "-h" and "--help".  A flag is
 * written "--flag V" or "--flag=V", anywhere among the arguments.  Letters can
 * be combined ("-qu"); of these only the last one may take a value.  "--" ends
 * the flags.  Arguments that are not flags stay in argv, moved to its front.
 *
 * Help, manual pages, completion and tests are made from the same rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flag_kind {
    FLAG_SWITCH,  /* bool */
    FLAG_TEXT,    /* const char * */
    FLAG_CHOICE,  /* const char *, one of the row's words */
    FLAG_NUMBER,  /* uint32_t, from 1; "4k" is 4000, "2M" is 2000000 */
    FLAG_SECONDS, /* uint32_t, milliseconds; "90", "90s", "5m", "2h" */
    FLAG_COST,    /* double, US dollars, more than 0 */
    FLAG_LIST,    /* struct flag_list, appends a word */
    FLAG_PAIR     /* struct flag_list, appends two words */
};

/* What completes a value, or an argument of a command. */
enum flag_fill {
    FILL_NONE,
    FILL_FILE,
    FILL_DIRECTORY,
    FILL_MODEL,    /* also aliases */
    FILL_ALIAS,
    FILL_PROVIDER,
    FILL_DIALECT,
    FILL_SESSION,
    FILL_TEMPLATE,
    FILL_TOOL,
    FILL_SERVER,
    FILL_KEY,
    FILL_SETTING,
    FILL_TASK,
    FILL_COMMAND,
    FILL_WORDS     /* the row's words */
};

enum flag_use {
    FLAG_MOST = 1 << 0,    /* one of the flags that the short help shows */
    FLAG_CHAT = 1 << 1,    /* a flag of ask that chat has, too */
    FLAG_BATCH = 1 << 2,   /* a flag of ask that batch has, too */
    FLAG_EMBED = 1 << 3    /* a flag of ask that embed has, too */
};

struct flag {
    char letter;      /* 0: none */
    const char *name; /* "--model"; NULL ends the table */
    enum flag_kind kind;
    size_t at;         /* offset in the struct that is filled */
    const char *value; /* name of the value for the help; or NULL */
    const char *help;
    enum flag_fill fill;
    const char *words;    /* "auto|on|off"; or NULL */
    const char *setting;  /* the setting that it overrides; or NULL */
    const char *variable; /* if it has one without a setting; or NULL */
    unsigned use;         /* flag_use */
};

enum { FLAGS_MAX = 128 }; /* words in a list */

struct flag_list {
    size_t count;
    const char *word[FLAGS_MAX];
};

/* A table, the struct that it fills, and which rows count: those with any of
 * the bits in `use`, or all if it is 0. */
struct flag_set {
    const struct flag *table;
    void *into;
    unsigned use;
};

/* Take the next word of "auto|on|off"; false: no more. */
bool flags_next_word(const char **words, char word[64]);

/* Is this row one of the set's? */
bool flags_has(const struct flag_set *set, const struct flag *f);

/* Parse the flags into a struct; the other arguments are then in
 * argv[0 .. *argc - 1].  False: an error was printed. */
bool flags_read(const struct flag *table, void *into, int *argc, char **argv);
/* The same for several tables, the first row with a name counts.  The last set
 * has no table. */
bool flags_read_sets(const struct flag_set *sets, int *argc, char **argv);
/* The same for a command that takes only flags. */
bool flags_read_all(const char *name, const struct flag *table, void *into,
                    int argc, char **argv);
