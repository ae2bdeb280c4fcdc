/* command.c - the table of commands */
#include "cli/command.h"

#include "cli/suggest.h"

#include <string.h>

static const struct command *const commands[] = {
    &ask_command,    &chat_command,    &models_command, &keys_command,
    &doctor_command, &demo_command,    &replay_command, &decode_command,
    &encode_command, &version_command, &help_command,
};

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

const struct command *command_suggest(const char *name)
{
    const struct command *c;
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; (c = command_at(i)); i++)
        suggest_try(&s, c->name);
    const char *found = suggest_found(&s);
    return found ? command_find(found) : NULL;
}

bool command_is_typo(const struct command *c, const char *name)
{
    return suggest_distance(c->name, name) == 1;
}
