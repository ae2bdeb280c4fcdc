/* suggest.h - find the most similar word to a misspelt one */
#pragma once

#include <stddef.h>

enum { SUGGEST_LONGEST = 40 }; /* longer words match nothing */

struct suggest {
    const char *word; /* what the user wrote */
    size_t distance;
    char best[SUGGEST_LONGEST + 1];
    char hint[SUGGEST_LONGEST + 24];
};

void suggest_begin(struct suggest *s, const char *word);
void suggest_try(struct suggest *s, const char *candidate);
/* The most similar candidate, if it is similar enough; or NULL.  Valid as long
 * as s. */
const char *suggest_found(const struct suggest *s);
/* The same for the end of a message: '; did you mean "x"?', or "". */
const char *suggest_hint(struct suggest *s);

/* How many letters must be replaced, removed, inserted or swapped. */
size_t suggest_distance(const char *a, const char *b);
