/* mem.h - where memory comes from: one replaceable function */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "allm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocator as we keep it: never without a function. */
struct mem {
    allm_alloc_fn fn;
    void *ud;
};

/* The allocator of the process (malloc), or what a test put in its place. */
struct mem mem_default(void);

/* For tests that make the n-th allocation fail; { NULL } restores malloc. */
void mem_set_default(struct mem m);

/*
 * Does a struct of the caller, which begins with its size, reach as far as a
 * member?  One that does not even reach the members of its first version was
 * never filled in, and counts as not given.
 */
#define MEM_REACHES(given, member)                                        \
    ((given)->size >= (size_t)((const char *)&(given)->member -           \
                               (const char *)(given)) +                   \
                      sizeof((given)->member))

/* The caller's allocator, or the default where he gave none. */
struct mem mem_from(const allm_allocator *given);

void *mem_alloc(struct mem m, size_t size);
void *mem_resize(struct mem m, void *p, size_t old, size_t size);
void mem_free(struct mem m, void *p, size_t size);

/* Sizes that cannot overflow: false, and *out is untouched, if they would. */
static inline bool mem_add(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

static inline bool mem_mul(size_t a, size_t b, size_t *out)
{
    if (b && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

#endif
