/* nocase.h - compare ASCII text without regard to case */
#pragma once

#include "base/slice.h"

static inline char nocase_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Does the text begin with the word, or equal it? */
bool nocase_starts(struct slice text, const char *word);
bool nocase_is(struct slice text, const char *word);
bool nocase_eq(struct slice a, struct slice b);

/* The value of the first HTTP header with this name, of `count` names and
 * values in turn; NULL: there is none. */
const char *nocase_header(const char *const *header, size_t count,
                          const char *name);
