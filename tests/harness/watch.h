/* watch.h - an allocator that sees whether a word is left in what is freed */
#ifndef HARNESS_WATCH_H
#define HARNESS_WATCH_H

#include "allm.h"
#include "base/mem.h"

struct watch {
    struct mem below;           /* where it passes on to */
    const char *word;
    size_t live;                /* blocks */
    size_t leaked;              /* blocks that were given back with the word */
};

/* Watch over mem_default(). */
struct watch watch_for(const char *word);
struct mem watch_mem(struct watch *w);
allm_allocator watch_allocator(struct watch *w);

/* Does the word stand in these bytes? */
bool watch_finds(const char *word, const void *bytes, size_t len);

#endif
