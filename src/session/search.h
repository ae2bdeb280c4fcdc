/* search.h - find words in the messages of a session */
#pragma once

#include "allm_session.h"

/*
 * Do all words, which blanks separate, occur in one message of the session (in
 * its text, in the arguments of its calls, in its results)?  Upper and lower
 * case of ASCII letters are equal.
 */
bool search_session(const allm_session *s, const char *words);
