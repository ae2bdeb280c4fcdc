/* sessions_search.h - find words in the messages of a session */
#ifndef CLI_SESSIONS_SEARCH_H
#define CLI_SESSIONS_SEARCH_H

#include "allm.h"

/*
 * Do all words occur in one message of the session: in its text, in the
 * arguments of its calls, or in its results?  Upper and lower case of ASCII
 * letters are equal.  False also if the session cannot be read.
 */
bool sessions_search(allm_store *store, const char *name, int count,
                     char **words);

#endif
