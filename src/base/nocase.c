/* nocase.c - compare ASCII text without regard to case */
#include "base/nocase.h"

bool nocase_starts(struct slice text, const char *word)
{
    size_t n = 0;
    while (n < text.len && word[n] &&
           nocase_lower(text.ptr[n]) == nocase_lower(word[n]))
        n++;
    return !word[n];
}

bool nocase_is(struct slice text, const char *word)
{
    return nocase_starts(text, word) && strlen(word) == text.len;
}
