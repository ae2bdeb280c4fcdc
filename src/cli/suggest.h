/* suggest.h - find the most similar word to a misspelt one */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

struct suggest {
    const char *word; /* what the user wrote */
    const char *best;
    size_t distance;
};

void suggest_begin(struct suggest *s, const char *word);
void suggest_try(struct suggest *s, const char *candidate);
/* The most similar candidate, if it is similar enough; or NULL. */
const char *suggest_found(const struct suggest *s);

/* How many letters must be replaced, removed, inserted or swapped. */
size_t suggest_distance(const char *a, const char *b);

#endif
