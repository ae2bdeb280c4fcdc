/* secret.h - memory that is wiped before it goes */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/mem.h"
#include "base/slice.h"

/* Overwrite with zeros, even if the compiler sees no reader. */
void secret_wipe(void *p, size_t size);

/*
 * An allocator over another one that wipes every block when it is freed or
 * has moved.  Whoever takes a struct mem can thus hold secrets: an arena, a
 * text.  `inner` must live while blocks are made; they are freed without it.
 */
struct mem secret_mem(struct mem *inner);

/* A text of one's own, a NUL behind it; { 0 } is none. */
struct secret {
    struct mem mem;
    char *ptr;
    size_t len;
};

/* Copy a text; what was there is wiped.  False: no memory, nothing changed. */
bool secret_set(struct secret *s, struct mem mem, struct slice text);
void secret_release(struct secret *s);

#endif
