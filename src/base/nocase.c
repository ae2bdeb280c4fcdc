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

bool nocase_eq(struct slice a, struct slice b)
{
    size_t n = 0;
    while (n < a.len && n < b.len &&
           nocase_lower(a.ptr[n]) == nocase_lower(b.ptr[n]))
        n++;
    return n == a.len && n == b.len;
}

const char *nocase_header(const char *const *header, size_t count,
                          const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (nocase_is(slice_of(header[2 * i]), name))
            return header[2 * i + 1];
    return NULL;
}
