/* ask.h - send a prompt, print the answer: for the commands that do */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/ask_parts.h"

extern const struct flag ask_flags[];

/* Run the call; argv is the prompt.  Returns the exit code. */
int ask_run(const struct ask *a, int argc, char **argv);

#endif
