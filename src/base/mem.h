/* mem.h - memory allocation through one replaceable function */
#pragma once

#include "allm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocator as we keep it: the function is never NULL. */
struct mem {
    allm_alloc_fn fn;
    void *ud;
};

/* The process's allocator (malloc), or its replacement in a test. */
struct mem mem_default(void);

/* For tests that make the n-th allocation fail; { NULL } restores malloc. */
void mem_set_default(struct mem m);

/*
 * Is a struct of the caller, which begins with its size, large enough to
 * contain a member?  One that is too small for the members of the first
 * version was never filled in, and counts as absent.
 */
#define MEM_REACHES(given, member)                                        \
    ((given)->size >= (size_t)((const char *)&(given)->member -           \
                               (const char *)(given)) +                   \
                      sizeof((given)->member))

/* The caller's allocator, or the default if there is none. */
struct mem mem_from(const allm_allocator *given);

void *mem_alloc(struct mem m, size_t size);
void *mem_resize(struct mem m, void *p, size_t old, size_t size);
void mem_free(struct mem m, void *p, size_t size);

/* Overflow-safe sizes: false, with *out untouched, on overflow. */
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
