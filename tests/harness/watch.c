/* watch.c - an allocator that finds a word left in freed memory */
#include "harness/watch.h"

#include <stdlib.h>
#include <string.h>

/* Under valgrind, do not search: it reports reads of the padding in structs. */
static bool is_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "vgpreload");
}

bool watch_finds(const char *word, const void *bytes, size_t len)
{
    size_t n = strlen(word);
    const char *p = bytes;
    for (size_t i = 0; p && n <= len && i <= len - n; i++)
        if (!memcmp(p + i, word, n))
            return true;
    return false;
}

/* A reallocated block counts as freed, since it may move.  New bytes are set to
 * zero, so that remains of other owners are not found. */
static void *look(void *ud, void *p, size_t old, size_t size)
{
    struct watch *w = ud;
    if (p && (old < 64 || !is_valgrind()) && watch_finds(w->word, p, old))
        w->leaked++;
    void *q = w->below.fn(w->below.ud, p, old, size);
    if (q && size > old)
        memset((char *)q + old, 0, size - old);
    if (!p && q)
        w->live++;
    if (p && !size)
        w->live--;
    return q;
}

struct watch watch_for(const char *word)
{
    return (struct watch){ .below = mem_default(), .word = word };
}

struct mem watch_mem(struct watch *w)
{
    return (struct mem){ look, w };
}

allm_allocator watch_allocator(struct watch *w)
{
    return (allm_allocator){ sizeof(allm_allocator), look, w };
}
