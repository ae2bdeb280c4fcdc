/* secret.h - memory that is wiped before it is freed */
#pragma once

#include "base/mem.h"
#include "base/slice.h"

/* Overwrite with zeros, even if the compiler sees no reader. */
void secret_wipe(void *p, size_t size);

/*
 * An allocator on top of another one that wipes every block when it is freed
 * or moved.  Anything that takes a struct mem can thus hold secrets: an arena,
 * a text.  `inner` must live while blocks are allocated, not while they are
 * freed.
 */
struct mem secret_mem(struct mem *inner);

/* An owned string, followed by a NUL; { 0 } is none. */
struct secret {
    struct mem mem;
    char *ptr;
    size_t len;
};

/* Copy a string; the previous one is wiped.  False: out of memory, nothing
 * changed. */
bool secret_set(struct secret *s, struct mem mem, struct slice text);
void secret_release(struct secret *s);
