/* reword.h - errors of the library in the words of a shell */
#ifndef CLI_REWORD_H
#define CLI_REWORD_H

#include "allm.h"

/* The same error; where its message speaks of functions, one that says what
 * can be done in a shell.  A root; NULL: there is none, or no memory. */
allm_error *reword_error(const allm_error *error);

/* Print its message so on standard error. */
void reword_print(const allm_error *error);

/* How much of a message to print with "%.*s": all but an advice at its end that
 * names a function. */
int reword_length(const char *message);

#endif
