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
