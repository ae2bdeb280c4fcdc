/*
 * arena.c - an allocator that frees all of its pieces at once
 *
 *      block --next--> block --next--> (first)
 *      [header|pieces....|at      end]
 *
 * Invariants
 *   (1) at and end lie in `block`, or both are NULL and there is no block.
 *   (2) last, if not NULL, is the piece that ends at `at`.
 *   (3) Blocks double in size, from FIRST or the initial hint up to MAX_STEP.
 *       A block that is larger because a single piece needs it does not count.
 *   (4) Bytes that are not allocated are poisoned.
 *   (5) held is the sum of the sizes of all blocks.
 *   (6) A piece that grows to LARGE bytes or more fills a block of its own,
 *       which is resized as a whole, so a growing buffer leaves few copies
 *       behind.
 */
#include "base/arena.h"

#include <stdint.h>

enum { FIRST = 512, MAX_STEP = 256 * 1024, LARGE = 16 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size;                /* with this header */
};

struct arena arena_in(struct mem mem)
{
    return (struct arena){ .mem = mem, .next_size = FIRST };
}

void arena_init(struct arena *a, struct mem mem)
{
    *a = arena_in(mem);
}

void arena_init_sized(struct arena *a, struct mem mem, size_t hint)
{
    arena_init(a, mem);
    size_t want;
    if (mem_add(hint, sizeof(struct arena_block) + ARENA_ALIGN, &want) &&
        want <= PTRDIFF_MAX)
        a->next_size = want;
}

static size_t round_up(size_t size)
{
    return (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
}

/* The size of the block that follows one of this size: keeps (3). */
static size_t step_after(size_t size)
{
    if (size < FIRST)
        return FIRST;
    return size < MAX_STEP / 2 ? size * 2 : MAX_STEP;
}

/* Add a block with room for `size` more bytes. */
static bool add_block(struct arena *a, size_t size)
{
    size_t want;
    if (!mem_add(size, sizeof(struct arena_block), &want) ||
        want > PTRDIFF_MAX)     /* end - at must fit into ptrdiff_t */
        return false;
    size_t usual = a->next_size;
    if (want < usual)
        want = usual;

    struct arena_block *b = mem_alloc(a->mem, want);
    if (!b)
        return false;
    b->next = a->block;
    b->size = want;
    a->block = b;
    a->held += want;            /* keeps (5) */
    a->at = (char *)(b + 1);
    a->end = (char *)b + want;
    a->last = NULL;
    a->next_size = step_after(usual);
    poison(a->at, (size_t)(a->end - a->at));
    return true;
}

/* The link to the block that this piece fills alone; NULL if it fills none. */
static struct arena_block **link_to(struct arena *a, const void *p, size_t size)
{
    struct arena_block **at = &a->block;
    while (*at && (const void *)(*at + 1) != p)
        at = &(*at)->next;
    return *at && (*at)->size == sizeof **at + round_up(size) ? at : NULL;
}

/* Add a block that this piece fills, behind the newest: keeps (1) and (6). */
static void *add_alone(struct arena *a, size_t size)
{
    size_t want;
    if (!mem_add(round_up(size), sizeof(struct arena_block), &want) ||
        want > PTRDIFF_MAX)
        return NULL;
    struct arena_block *b = mem_alloc(a->mem, want);
    if (!b)
        return NULL;
    b->next = a->block->next;
    b->size = want;
    a->block->next = b;
    a->held += want;            /* keeps (5) */
    poison(b + 1, want - sizeof *b);
    unpoison(b + 1, size);
    return b + 1;
}

/* Resize the block that this piece fills: keeps (6).  NULL: out of memory. */
static void *resize_large(struct arena *a, struct arena_block **at, size_t size)
{
    size_t want;
    bool current = *at == a->block;
    if (!mem_add(round_up(size), sizeof **at, &want) || want > PTRDIFF_MAX)
        return NULL;
    unpoison(*at, (*at)->size);
    struct arena_block *b = mem_resize(a->mem, *at, (*at)->size, want);
    if (!b)
        return NULL;
    a->held += want - b->size;  /* modulo SIZE_MAX + 1: it may shrink */
    b->size = want;
    *at = b;
    if (current) {
        a->last = (char *)(b + 1);
        a->at = a->end = (char *)b + want;
    }
    poison(b + 1, want - sizeof *b);
    unpoison(b + 1, size);
    return b + 1;
}

void *arena_more(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ARENA_ALIGN) {
        a->broken = true;
        return NULL;
    }
    size_t room = round_up(size ? size : 1); /* never NULL for size 0 */
    size_t left = a->block ? (size_t)(a->end - a->at) : 0;
    if (left < room && !add_block(a, room)) {
        a->broken = true;
        return NULL;
    }
    a->last = a->at;
    a->at += room;
    unpoison(a->last, size);
    return a->last;
}

void *arena_zero(struct arena *a, size_t size)
{
    void *p = arena_alloc(a, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void *arena_resize(struct arena *a, void *p, size_t old, size_t size)
{
    if (!p)
        return arena_alloc(a, size);
    if (p == a->last && size <= SIZE_MAX - ARENA_ALIGN) {
        size_t room = round_up(size);
        if (room <= (size_t)(a->end - a->last)) {
            a->at = a->last + room;
            poison(p, (size_t)(a->end - a->last));
            unpoison(p, size);
            return p;
        }
    }
    if (size <= old)
        return p;
    bool large = size >= LARGE && size <= SIZE_MAX - ARENA_ALIGN;
    struct arena_block **alone = large && old >= LARGE ? link_to(a, p, old)
                                                       : NULL;
    void *q = alone   ? resize_large(a, alone, size)
              : large ? add_alone(a, size)
                      : arena_alloc(a, size);
    a->broken = a->broken || !q;
    if (q && !alone)
        memcpy(q, p, old);
    return q;
}

bool arena_grow(struct arena *a, void *list, size_t count, size_t *cap,
                size_t first, size_t size)
{
    void *old;
    size_t more = *cap ? 2 * *cap : first;
    if (count < *cap)
        return true;
    memcpy(&old, list, sizeof old);
    void *grown = arena_resize(a, old, *cap * size, more * size);
    if (!grown)
        return false;
    memcpy(list, &grown, sizeof grown);
    *cap = more;
    return true;
}

char *arena_copy(struct arena *a, struct slice s)
{
    if (!s.ptr)
        return NULL;
    size_t size = SIZE_MAX;     /* breaks the arena */
    mem_add(s.len, 1, &size);
    char *p = arena_alloc(a, size);
    if (!p)
        return NULL;
    memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return p;
}

char *arena_text(struct arena *a, const char *text)
{
    return arena_copy(a, slice_of(text));
}

static void free_blocks(struct arena *a, struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        unpoison(b, b->size);
        mem_free(a->mem, b, b->size);
        b = next;
    }
}

void arena_adopt(struct arena *a, struct arena *from)
{
    struct arena_block **end = &from->block;
    while (*end)
        end = &(*end)->next;
    *end = a->block->next;
    a->block->next = from->block;       /* behind the newest: keeps (1) */
    a->held += from->held;              /* keeps (5) */
    *from = arena_in(from->mem);
}

void arena_reset(struct arena *a)
{
    a->broken = false;
    a->last = NULL;
    if (!a->block)
        return;
    free_blocks(a, a->block->next);
    a->block->next = NULL;
    a->held = a->block->size;
    a->at = (char *)(a->block + 1);
    poison(a->at, (size_t)(a->end - a->at));
}

void arena_release(struct arena *a)
{
    free_blocks(a, a->block);
    *a = arena_in(a->mem);
}
