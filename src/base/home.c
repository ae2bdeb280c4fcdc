/*
 * home.c - a reference-counted arena, freed with its last user
 *
 *      [block header | struct allm_home | value, texts, JSON ...]
 *
 * The struct lives in the first block of its own arena, so a small value is
 * one allocation.
 *
 * Homes may hold other homes in long chains (each version of a value holds the
 * previous one), so they are freed with a list, not by recursion.
 */
#include "base/home.h"

#include <stdatomic.h>
#include <stdint.h>

struct duty {                   /* something to do when the home is freed */
    struct duty *next;
    void (*fn)(void *arg);
    void *arg;
};

struct note {                   /* its bytes follow; never changed again */
    struct note *next;
    struct home_key key;
    size_t len;
    size_t number;              /* how many there are, this one included */
};

enum { MOST_NOTES = 8 };

struct allm_home {
    atomic_size_t count;
    _Atomic(struct note *) notes;
    struct allm_home *next_dead;
    struct arena arena;
    struct duty *duties;
    void *value;
    const allm_error *error;
};

struct allm_home *home_new(struct mem mem, size_t hint)
{
    struct arena a;
    size_t size;
    if (!mem_add(hint, sizeof(struct allm_home), &size))
        return NULL;
    arena_init_sized(&a, mem, size);
    struct allm_home *h = arena_zero(&a, sizeof *h);
    if (!h)
        return NULL;
    atomic_init(&h->count, 1);
    atomic_init(&h->notes, NULL);
    h->arena = a;
    return h;
}

struct allm_home *home_keep(struct allm_home *h)
{
    if (h)
        atomic_fetch_add_explicit(&h->count, 1, memory_order_relaxed);
    return h;
}

/* Drop one reference; if it was the last, add the home to the list of the
 * dead. */
static void leave_home(struct allm_home *h, struct allm_home **dead)
{
    if (!h ||
        atomic_fetch_sub_explicit(&h->count, 1, memory_order_acq_rel) != 1)
        return;
    h->next_dead = *dead;
    *dead = h;
}

static void drop_notes(struct allm_home *h)
{
    struct note *n = atomic_load_explicit(&h->notes, memory_order_acquire);
    while (n) {
        struct note *next = n->next;
        mem_free(h->arena.mem, n, sizeof *n + n->len);
        n = next;
    }
}

static void drop_other(void *other)
{
    home_drop(other);
}

void home_drop(struct allm_home *h)
{
    struct allm_home *dead = NULL;
    leave_home(h, &dead);
    while (dead) {
        h = dead;
        dead = h->next_dead;
        for (struct duty *d = h->duties; d; d = d->next) {
            if (d->fn == drop_other)
                leave_home(d->arg, &dead);
            else
                d->fn(d->arg);
        }
        drop_notes(h);
        struct arena a = h->arena;      /* h itself lives in it */
        arena_release(&a);
    }
}

struct arena *home_arena(struct allm_home *h)
{
    return &h->arena;
}

struct mem home_mem(const struct allm_home *h)
{
    return h->arena.mem;
}

bool home_on_free(struct allm_home *h, void (*fn)(void *arg), void *arg)
{
    struct duty *d = arena_alloc(&h->arena, sizeof *d);
    if (!d) {
        fn(arg);
        return false;
    }
    *d = (struct duty){ h->duties, fn, arg };
    h->duties = d;
    return true;
}

bool home_hold(struct allm_home *h, struct allm_home *other)
{
    if (!other || other == h)
        return true;
    return home_on_free(h, drop_other, home_keep(other));
}

void home_set_value(struct allm_home *h, void *value)
{
    h->value = value;
}

void *home_value(const struct allm_home *h)
{
    return h->value;
}

static struct slice find_note(const struct note *n, struct home_key key)
{
    for (; n; n = n->next)
        if (n->key.word[0] == key.word[0] && n->key.word[1] == key.word[1])
            return (struct slice){ (const char *)(n + 1), n->len };
    return (struct slice){ NULL, 0 };
}

struct slice home_note(const struct allm_home *h, struct home_key key)
{
    return find_note(atomic_load_explicit(&h->notes, memory_order_acquire),
                     key);
}

void home_add_note(struct allm_home *h, struct home_key key, struct slice bytes)
{
    size_t size;
    struct note *last = atomic_load_explicit(&h->notes, memory_order_acquire);
    if ((last && last->number >= MOST_NOTES) || find_note(last, key).ptr ||
        !mem_add(bytes.len, sizeof(struct note), &size))
        return;
    struct note *n = mem_alloc(h->arena.mem, size);
    if (!n)
        return;
    *n = (struct note){ .key = key, .len = bytes.len };
    slice_put((char *)(n + 1), bytes);
    do {
        n->next = last;
        n->number = last ? last->number + 1 : 1;
    } while (!atomic_compare_exchange_weak_explicit(
        &h->notes, &last, n, memory_order_acq_rel, memory_order_acquire));
}

void home_set_error(struct allm_home *h, const allm_error *error)
{
    if (!h->error)
        h->error = error;
}

const allm_error *home_error(const struct allm_home *h)
{
    return h->error;
}
