/* arena.h - an allocator that frees all of its pieces at once */
#pragma once

#include "base/mem.h"
#include "base/poison.h"
#include "base/slice.h"

struct arena_block;

enum { ARENA_ALIGN = 8 };

/*
 * Every piece is aligned to ARENA_ALIGN bytes.  An arena serves one thread at
 * a time.  After a failed allocation `broken` is set and stays set; the arena
 * still works, so a builder may check once, at its end.
 */
struct arena {
    struct mem mem;
    struct arena_block *block;  /* the newest; older ones follow it */
    char *at, *end;             /* the free part of the newest block */
    char *last;                 /* the newest piece; resizable in place */
    size_t next_size;           /* of the next block */
    size_t held;                /* bytes of all blocks */
    bool broken;
};

/* An empty arena. */
struct arena arena_in(struct mem mem);
void arena_init(struct arena *a, struct mem mem);

/* The first block has room for `hint` bytes, so one allocation is enough. */
void arena_init_sized(struct arena *a, struct mem mem, size_t hint);

/* Uninitialised, or zeroed.  NULL only if there is no memory: size 0 also
 * returns a valid pointer. */
static inline void *arena_alloc(struct arena *a, size_t size);
void *arena_zero(struct arena *a, size_t size);

/* Like realloc: in place if p is the newest piece, else by copying.  Shrinking
 * never fails; if NULL is returned, p is unchanged. */
void *arena_resize(struct arena *a, void *p, size_t old, size_t size);

/* Make room for one more element behind `count` of `size` bytes in a list;
 * `list` is the address of the pointer to it.  A full list doubles, from room
 * for `first`.  False: out of memory, and the list is unchanged. */
bool arena_grow(struct arena *a, void *list, size_t count, size_t *cap,
                size_t first, size_t size);

/* A copy followed by a NUL (not counted).  A NULL text stays NULL. */
char *arena_copy(struct arena *a, struct slice s);
char *arena_text(struct arena *a, const char *text);

/* Take over all pieces of another arena with the same memory, which is empty
 * then.  This one must not be empty. */
void arena_adopt(struct arena *a, struct arena *from);

/* Discard all pieces; keep the newest block, usually the largest, for reuse. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

/* arena_alloc() calls this if the block has no room. */
void *arena_more(struct arena *a, size_t size);

static inline void *arena_alloc(struct arena *a, size_t size)
{
    size_t left = a->block ? (size_t)(a->end - a->at) : 0;
    size_t room = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (size - 1 >= left || room > left)
        return arena_more(a, size);
    a->last = a->at;
    a->at += room;
    unpoison(a->last, size);
    return a->last;
}

/* The bytes that the arena has allocated. */
static inline size_t arena_held(const struct arena *a)
{
    return a->held;
}
