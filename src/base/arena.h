/* arena.h - memory that is given out piece by piece and freed as a whole */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/mem.h"
#include "base/poison.h"
#include "base/slice.h"

struct arena_block;

enum { ARENA_ALIGN = 8 };

/*
 * Everything is aligned to ARENA_ALIGN bytes.  An arena serves one thread at a time.
 * After a failed allocation `broken` is set and stays; the arena still works,
 * so that builders may check once, at their end.
 */
struct arena {
    struct mem mem;
    struct arena_block *block;  /* the newest; older ones hang behind it */
    char *at, *end;             /* what is left of it */
    char *last;                 /* the newest piece: it can change in place */
    size_t next_size;           /* of the next block */
    bool broken;
};

void arena_init(struct arena *a, struct mem mem);

/* The first block has room for `hint` bytes, so that one allocation does. */
void arena_init_sized(struct arena *a, struct mem mem, size_t hint);

/* Uninitialised, zeroed; NULL when there is no memory (and only then: size 0
 * gives a place, too). */
static inline void *arena_alloc(struct arena *a, size_t size);
void *arena_zero(struct arena *a, size_t size);

/* As realloc: in place if p is the newest piece, else by a copy.  A smaller
 * size never fails; p stays as it is where NULL is returned. */
void *arena_resize(struct arena *a, void *p, size_t old, size_t size);

/* A copy with a NUL behind it (not counted).  NULL text stays NULL. */
char *arena_copy(struct arena *a, struct slice s);
char *arena_text(struct arena *a, const char *text);

/* Forget all pieces; keep the newest block, mostly the largest, for reuse. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

/* The same as arena_alloc(), which asks for it when the block has no room. */
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

/* Bytes held from the allocator, for tests and statistics. */
size_t arena_held(const struct arena *a);

#endif
