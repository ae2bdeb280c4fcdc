/* home.h - a counted arena: what lives in it is freed with the last user */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include "base/arena.h"

#include <stdint.h>

/*
 * Values that outlive a call live in a home: an arena with a count and a list
 * of other things it keeps alive.  While it is being filled it belongs to one
 * thread; once published it is read-only and may be shared by any.
 */
struct allm_home;

/* Count 1, with room for about `hint` bytes in the first block. */
struct allm_home *home_new(struct mem mem, size_t hint);
struct allm_home *home_keep(struct allm_home *h);
void home_drop(struct allm_home *h);

struct arena *home_arena(struct allm_home *h);
struct mem home_mem(const struct allm_home *h);

/*
 * Call fn(arg) when the home goes, the last one first.  False, and fn was
 * called at once, when there is no memory to remember it: the caller has
 * nothing to clean up.
 */
bool home_on_free(struct allm_home *h, void (*fn)(void *arg), void *arg);

/* Keep `other` alive as long as this one.  False: no memory, not kept.  NULL
 * and the home itself need no keeping.  What it holds is freed after it. */
bool home_hold(struct allm_home *h, struct allm_home *other);

/* The value that the home was made for.  A struct that names a home but is not
 * its value was copied by somebody, and is not ours. */
void home_set_value(struct allm_home *h, void *value);
void *home_value(const struct allm_home *h);

/*
 * Notes about the value that others keep with it, each under a key of two
 * words that only they understand.  They may be added at any time, by any
 * thread, and are freed with the home; of equal keys the newest counts.
 */
struct home_key {
    uint64_t word[2];
};

/* The note; ptr NULL: there is none. */
struct slice home_note(const struct allm_home *h, struct home_key key);

/* Keep a copy of these bytes.  Lack of memory, or more than a few notes, is
 * no error: it is then not kept. */
void home_add_note(struct allm_home *h, struct home_key key,
                   struct slice bytes);

/* How the value in it is: set once by its constructor.  NULL is well. */
void home_set_error(struct allm_home *h, const allm_error *error);
const allm_error *home_error(const struct allm_home *h);

#endif
