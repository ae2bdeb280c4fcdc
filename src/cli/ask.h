/* ask.h - send a prompt, print the answer: for the commands that do */
#pragma once

#include "cli/ask_parts.h"

extern const struct flag ask_flags[];

/* Run the call; argv is the prompt.  Returns the exit code. */
int ask_run(const struct ask *a, int argc, char **argv);
