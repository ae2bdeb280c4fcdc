/* prompt.h - build the prompt: attachments, standard input, arguments */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "allm.h"
#include "cli/flags.h"

/*
 * Append the user's message: the files, standard input (unless it is a
 * terminal), the arguments.  ALLM_OK; ALLM_AGAIN: the prompt is empty; < 0: an
 * error was printed.
 */
allm_status prompt_add(allm_thread *thread, int argc, char **argv,
                       const struct flag_list *files);

#endif
