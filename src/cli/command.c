/* command.c - the table of commands */
#include "cli/command.h"

#include "cli/print.h"
#include "cli/suggest.h"
#include "conf/keyring.h"

#include <string.h>

/* A line for each command: its row is in the file of its name. */
#define COMMANDS(ROW)                                                          \
    ROW(ask)                                                                   \
    ROW(chat)                                                                  \
    ROW(batch)                                                                 \
    ROW(embed)                                                                 \
    ROW(image)                                                                 \
    ROW(moderate)                                                              \
    ROW(sessions)                                                              \
    ROW(send)                                                                  \
    ROW(work)                                                                  \
    ROW(templates)                                                             \
    ROW(tools)                                                                 \
    ROW(sandbox)                                                               \
    ROW(mcp)                                                                   \
    ROW(models)                                                                \
    ROW(aliases)                                                               \
    ROW(route)                                                                 \
    ROW(config)                                                                \
    ROW(keys)                                                                  \
    ROW(doctor)                                                                \
    ROW(completion)                                                            \
    ROW(version)                                                               \
    ROW(help)                                                                  \
    ROW(demo)                                                                  \
    ROW(replay)                                                                \
    ROW(decode)                                                                \
    ROW(encode)                                                                \
    ROW(complete)                                                              \
    ROW(rows)

#define DECLARE(name) extern const struct command name##_command;
#define POINTER(name) &name##_command,
COMMANDS(DECLARE)
static const struct command *const commands[] = { COMMANDS(POINTER) };

const struct command *command_at(size_t index)
{
    return index < sizeof commands / sizeof *commands ? commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)); i++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

bool command_is_shown(const struct command *c)
{
    return c->group != GROUP_HIDDEN;
}

const struct command *command_suggest(const char *name)
{
    const struct command *c;
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; (c = command_at(i)); i++)
        if (command_is_shown(c))
            suggest_try(&s, c->name);
    const char *found = suggest_found(&s);
    return found ? command_find(found) : NULL;
}

/* The flag at *index of a set, counted down; NULL: it is in another set. */
static const struct flag *flag_at(const struct flag_set *set, size_t *index)
{
    for (const struct flag *f = set->table; f && f->name; f++)
        if (flags_has(set, f) && !(*index)--)
            return f;
    return NULL;
}

const struct flag *command_flag(const struct command *c, size_t index)
{
    struct flag_set own = { c->flags, NULL, 0 };
    struct flag_set shared = { c->shared, NULL, c->shared_use };
    const struct flag *f = flag_at(&own, &index);
    return f ? f : flag_at(&shared, &index);
}

bool command_read(const struct command *c, void *into, void *shared, int *argc,
                  char **argv)
{
    struct flag_set sets[] = { { c->flags, into, 0 },
                               { c->shared, shared, c->shared_use },
                               { NULL, NULL, 0 } };
    return flags_read_sets(sets, argc, argv);
}

int command_reject_sub(const struct command *c, const char *word)
{
    char name[64];
    struct suggest s;
    if (!word)
        return print_misuse("%s needs one of %s", c->name, c->subs);
    suggest_begin(&s, word);
    for (const char *w = c->subs; flags_next_word(&w, name);)
        suggest_try(&s, name);
    return print_misuse("unknown subcommand \"%.100s\" of %s%s (it has %s)",
                        keyring_looks_secret(word) ? "***" : word, c->name,
                        suggest_hint(&s), c->subs);
}

int command_run_sub(const char *command, const struct command_sub *subs,
                    int argc, char **argv)
{
    const struct command_sub *s = subs;
    argv[argc] = NULL;
    while (argc && s->name && strcmp(s->name, argv[0]) != 0)
        s++;
    int count = argc ? argc - 1 : 0;
    if (!s->name)
        return command_reject_sub(command_find(command), argv[0]);
    if (count > s->most && !s->most)
        return print_misuse("%s %s takes no arguments, but got \"%.100s\"",
                            command, s->name,
                            keyring_looks_secret(argv[1]) ? "***" : argv[1]);
    if (count < s->least || count > s->most)
        return print_misuse("use: allm %s %s %s", command, s->name, s->args);
    return s->run(argc ? argv + 1 : argv);
}

bool command_is_typo(const struct command *c, const char *name)
{
    return suggest_distance(c->name, name) == 1;
}
