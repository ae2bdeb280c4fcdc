/* child.h - run the user's editor */
#ifndef CONF_CHILD_H
#define CONF_CHILD_H

/* Run "COMMAND FILE" with a shell, without any variable that holds a key.
 * Returns its exit code; -1: it cannot be started. */
int child_edit(const char *command, const char *file);

#endif
