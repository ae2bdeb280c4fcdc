/*
 * mem.c - memory allocation through one replaceable function
 *
 * The function works like Lua's: fn(ud, p, old, size) frees if size is 0,
 * allocates if p is NULL, and resizes otherwise. malloc and its family appear
 * only in this file.
 */
#include "base/mem.h"

#include "base/caller_struct.h"

#include <stdlib.h>

static void *from_malloc(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    (void)old;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static struct mem fallback = { from_malloc, NULL };

struct mem mem_default(void)
{
    return fallback;
}

void mem_set_default(struct mem m)
{
    fallback = m.fn ? m : (struct mem){ from_malloc, NULL };
}

struct mem mem_from(const allm_allocator *given)
{
    allm_allocator mine;
    if (!given || !caller_struct_take(&mine, sizeof mine, given) ||
        !MEM_REACHES(given, ud) || !mine.fn)
        return fallback;
    return (struct mem){ mine.fn, mine.ud };
}

void *mem_alloc(struct mem m, size_t size)
{
    return m.fn(m.ud, NULL, 0, size ? size : 1);
}

void *mem_resize(struct mem m, void *p, size_t old, size_t size)
{
    if (p && old == 0)
        old = 1;                /* as allocated by mem_alloc() */
    return m.fn(m.ud, p, old, size ? size : 1);
}

void mem_free(struct mem m, void *p, size_t size)
{
    if (p)
        m.fn(m.ud, p, size ? size : 1, 0);
}
