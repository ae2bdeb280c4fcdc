/* suggest.c - find the most similar word to a misspelt one */
#include "cli/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment, with the last three rows of the table. */
size_t suggest_distance(const char *a, const char *b)
{
    size_t row[3][SUGGEST_LONGEST + 1] = { { 0 } };
    size_t n = strlen(a), m = strlen(b);
    if (n > SUGGEST_LONGEST || m > SUGGEST_LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3];
        const size_t *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t cost = a[i - 1] != b[j - 1];
            now[j] = smaller(smaller(now[j - 1], before[j]) + 1,
                             before[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

void suggest_begin(struct suggest *s, const char *word)
{
    *s = (struct suggest){ .word = word, .distance = SIZE_MAX };
}

void suggest_try(struct suggest *s, const char *candidate)
{
    size_t d = suggest_distance(s->word, candidate);
    if (d < s->distance) {
        s->distance = d;
        snprintf(s->best, sizeof s->best, "%s", candidate);
    }
}

const char *suggest_found(const struct suggest *s)
{
    size_t most = strlen(s->word) < 5 ? 1 : strlen(s->word) < 9 ? 2 : 4;
    return s->distance <= most ? s->best : NULL;
}

const char *suggest_hint(struct suggest *s)
{
    const char *found = suggest_found(s);
    if (found)
        snprintf(s->hint, sizeof s->hint, "; did you mean \"%s\"?", found);
    return found ? s->hint : "";
}
