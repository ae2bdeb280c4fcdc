/* watch.h - an allocator that finds a word left in freed memory */
#pragma once

#include "allm.h"
#include "base/mem.h"

struct watch {
    struct mem below;           /* the allocator below */
    const char *word;
    size_t live;                /* blocks */
    size_t leaked;              /* blocks freed with the word in them */
};

/* Watch mem_default(). */
struct watch watch_for(const char *word);
struct mem watch_mem(struct watch *w);
allm_allocator watch_allocator(struct watch *w);

/* Do these bytes contain the word? */
bool watch_finds(const char *word, const void *bytes, size_t len);
