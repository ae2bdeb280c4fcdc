/*
 * secret.c - memory that is wiped before it is freed
 *
 *      [struct mem | the block as its user sees it]
 *
 * Each block records in front of it where it came from, so it can be freed
 * after the allocator struct that was used to create it is gone.
 */
#include "base/secret.h"

#include <stdint.h>

/* A compiler may remove a memset whose result is never read, but not a call
 * through a volatile pointer. */
static void *(*const volatile fill)(void *, int, size_t) = memset;

void secret_wipe(void *p, size_t size)
{
    if (p && size)
        fill(p, 0, size);
}

/* The header in front preserves the alignment of the block. */
union front {
    struct mem mem;
    max_align_t align;
};

static void *make_secret(struct mem from, size_t size)
{
    size_t whole;
    if (!mem_add(size, sizeof(union front), &whole))
        return NULL;
    union front *f = mem_alloc(from, whole);
    if (!f)
        return NULL;
    f->mem = from;
    return f + 1;
}

static void drop(void *p, size_t size)
{
    union front *f = (union front *)p - 1;
    struct mem from = f->mem;
    secret_wipe(p, size);
    mem_free(from, f, size + sizeof *f);
}

/* An allm_alloc_fn; ud is the inner allocator, for new blocks only. */
static void *wiping(void *ud, void *p, size_t old, size_t size)
{
    if (!p)
        return size ? make_secret(*(struct mem *)ud, size) : NULL;
    void *q = NULL;
    if (size) {                 /* not by realloc, which would leave a copy */
        q = make_secret(((union front *)p - 1)->mem, size);
        if (!q)
            return NULL;
        memcpy(q, p, old < size ? old : size);
    }
    drop(p, old);
    return q;
}

struct mem secret_mem(struct mem *inner)
{
    return (struct mem){ wiping, inner };
}

bool secret_set(struct secret *s, struct mem mem, struct slice text)
{
    size_t size;
    char *copy = mem_add(text.len, 1, &size) ? mem_alloc(mem, size) : NULL;
    if (!copy)
        return false;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    secret_release(s);
    *s = (struct secret){ mem, copy, text.len };
    return true;
}

void secret_release(struct secret *s)
{
    if (!s->ptr)
        return;
    secret_wipe(s->ptr, s->len + 1);
    mem_free(s->mem, s->ptr, s->len + 1);
    *s = (struct secret){ .ptr = NULL };
}
