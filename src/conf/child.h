/*
 * child.h - run programs of the user: an editor, a shell command
 *
 * They get no variable that holds a key.
 */
#pragma once

#include <sys/types.h>

/* Start a command of the shell, with $1 and with standard output at `out`.
 * Returns its id; -1: it cannot be started, see errno. */
pid_t child_shell(const char *command, const char *argument, int out);
/* Wait for its end.  Returns its exit code; -1: there is none. */
int child_result(pid_t pid);

/* Run "COMMAND FILE".  Returns its exit code; -1: there is none. */
int child_edit(const char *command, const char *file, int out);
