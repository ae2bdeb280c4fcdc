/*
 * user_command.h - run programs for the user: an editor, a shell command
 *
 * The terminal must be in its own mode.  The programs get no variable that
 * holds a key.
 */
#pragma once

#include "term/bytes.h"

#include <stdbool.h>

/* Replace the text by what the user's editor makes of it.  False: it is
 * unchanged, and an error was printed. */
bool user_command_edit(struct bytes *text);

/* Run a shell command; its output is printed and appended.  Returns its exit
 * code, or -1 after an error was printed. */
int user_command_run(const char *command, struct bytes *output);
