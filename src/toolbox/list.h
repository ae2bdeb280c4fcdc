/* list.h - all tools of a toolbox, in order */
#pragma once

#include "base/home.h"
#include "toolbox/entry.h"

#include <pthread.h>
#include <stdatomic.h>

/* A list that was returned is never changed.  A chat may still use an older
 * one. */
struct entry_list {
    size_t count;
    const struct entry *entries;
    const allm_tool *const *tools;
    const struct entry_list *older;
    const struct entry *hidden; /* their names are those of others before */
    size_t hidden_count;
};

/* The tools of one call of an add function. */
struct source {
    size_t count;
    const struct entry *entries;
    struct kept *unseen;        /* what they are in, while no list has them */
};

/*
 * Sources in the order of adding.  The list is made of them when it is asked
 * for.  All functions may be called from any thread; none of them waits.
 */
struct tool_list {
    pthread_mutex_t lock;       /* guards what follows */
    struct arena arena;
    struct source *sources;
    size_t source_count, source_room;
    struct kept {
        struct allm_home *home;
        struct kept *next;
    } * kept;                   /* what replaced entries are in */
    atomic_bool stale;          /* the list is not that of the sources */
    _Atomic(const struct entry_list *) list;
};

void list_init(struct tool_list *l, struct mem mem);
void list_release(struct tool_list *l);

/* The tools; valid until list_release().  If memory is short, an older list. */
const struct entry_list *list_entries(struct tool_list *l);

/* A tool of the newest list that was returned; of an older one, or of one that
 * is made now, if it is in no newer one; or NULL. */
const struct entry *list_find(struct tool_list *l, const char *name);

/* Add entries, which must live as long as the list.  If a name is taken, that
 * entry is returned in *taken, and nothing is added.  False: out of memory. */
bool list_add(struct tool_list *l, size_t count, const struct entry *entries,
              const struct entry **taken);

/* A place in the order of tools; what is there may be replaced by other
 * entries.  They live in a home, whose reference the list takes over: until
 * list_release(), or until they are replaced if no list was made of them.
 * False: out of memory. */
bool list_reserve(struct tool_list *l, size_t *place);
bool list_replace(struct tool_list *l, size_t place, size_t count,
                  const struct entry *entries, struct allm_home *home);
