/* prompt.h - what is asked: piped input, words, attachments */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "allm.h"
#include "cli/flags.h"

/*
 * Append the user's message: files first, then standard input (unless it is a
 * terminal), then the words.  ALLM_OK; ALLM_AGAIN: there is nothing to ask;
 * < 0: refused, and told.
 */
allm_status prompt_add(allm_thread *thread, int argc, char **argv,
                       const struct flag_list *files);

#endif
