/* home.h - a reference-counted arena, freed with its last user */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/*
 * Values that outlive a call live in a home: an arena with a reference count
 * and a list of objects that it keeps alive.  While it is being filled it
 * belongs to one thread; once published it is read-only and may be shared by
 * any thread.
 */
struct allm_home;

/* The count is 1; the first block has room for about `hint` bytes. */
struct allm_home *home_new(struct mem mem, size_t hint);
struct allm_home *home_keep(struct allm_home *h);
void home_drop(struct allm_home *h);

struct arena *home_arena(struct allm_home *h);
struct mem home_mem(const struct allm_home *h);

/*
 * Call fn(arg) when the home is freed, in reverse order.  If there is no
 * memory to register it, fn is called at once and the result is false: the
 * caller has nothing to clean up.
 */
bool home_on_free(struct allm_home *h, void (*fn)(void *arg), void *arg);

/* Keep `other` alive as long as this home; it is freed after it.  False: out
 * of memory, not kept.  NULL and the home itself are accepted. */
bool home_hold(struct allm_home *h, struct allm_home *other);

/* The value that the home was made for.  A struct that refers to a home but is
 * not its value is a copy made by a caller, not an object of ours. */
void home_set_value(struct allm_home *h, void *value);
void *home_value(const struct allm_home *h);

/*
 * Notes about the value, each under a key of two words that only its author
 * understands.  Any thread may add one at any time; they are freed with the
 * home.  Of equal keys the newest counts.
 */
struct home_key {
    uint64_t word[2];
};

/* The note; ptr is NULL if there is none. */
struct slice home_note(const struct allm_home *h, struct home_key key);

/* Store a copy of these bytes.  If memory is short, or there are many notes
 * already, it is silently not stored. */
void home_add_note(struct allm_home *h, struct home_key key,
                   struct slice bytes);

/* The error of the value, set once by its constructor; NULL means none. */
void home_set_error(struct allm_home *h, const allm_error *error);
const allm_error *home_error(const struct allm_home *h);
