/* reword.h - rewrite the library's errors for users of a shell */
#pragma once

#include "allm.h"

/* A copy of the error whose message names flags and variables instead of
 * functions and options.  The caller frees it; NULL: the message is good as it
 * is, or there is no memory. */
allm_error *reword_error(const allm_error *error);

/* Print the rewritten message on standard error. */
void reword_print(const allm_error *error);

/* How much of a message to print with "%.*s": without advice at its end that
 * names a function. */
int reword_length(const char *message);
