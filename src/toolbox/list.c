/* list.c - all tools of a toolbox, in order */
#include "toolbox/list.h"

#include "allm.h"

#include <string.h>

enum { WEIGHT_MOST = 16 * 1024 };

void list_init(struct tool_list *l, struct mem mem)
{
    static const struct entry_list none = { 0 };
    *l = (struct tool_list){ .kept = NULL };
    arena_init(&l->arena, mem);
    pthread_mutex_init(&l->lock, NULL);
    atomic_init(&l->stale, false);
    atomic_init(&l->list, &none);
}

void list_release(struct tool_list *l)
{
    for (struct kept *k = l->kept; k; k = k->next)
        home_drop(k->home);
    arena_release(&l->arena);
    pthread_mutex_destroy(&l->lock);
}

/* ---------------------------------------------------------------- lists --- */

static const struct entry *find_entry(const struct entry_list *list,
                                      const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->entries[i].tool->name, name))
            return &list->entries[i];
    return NULL;
}

static size_t count_sources(const struct tool_list *l, size_t *weight)
{
    size_t count = 0;
    *weight = 0;
    for (size_t i = 0; i < l->source_count; i++) {
        const struct source *from = &l->sources[i];
        count += from->count;
        for (size_t k = 0; k < from->count; k++)
            *weight += from->entries[k].weight;
    }
    return count;
}

/* The tool itself, or one that is described in one line. */
static const allm_tool *lighten_tool(struct arena *a, const struct entry *e)
{
    allm_tool *light = arena_alloc(a, sizeof *light);
    if (light) {
        *light = *e->tool;
        light->compact = 1;
    }
    return light;
}

/* Add the entries of a source to the list; of equal names the first counts, and
 * the others are kept from the end of the entries on. */
static bool list_source(struct arena *a, const struct source *from, bool light,
                        struct entry_list *list, struct entry *entries)
{
    for (size_t i = 0; i < from->count; i++) {
        struct entry e = from->entries[i];
        if (find_entry(list, e.tool->name)) {
            list->hidden--;
            list->hidden_count++;
            entries[list->hidden - entries] = e;
            continue;
        }
        if (light && e.weight && !(e.tool = lighten_tool(a, &e)))
            return false;
        entries[list->count++] = e;
    }
    return true;
}

/* The lists' lock is held.  If memory is short, the old list remains. */
static void make_list(struct tool_list *l)
{
    size_t weight, most = count_sources(l, &weight);
    struct arena *a = &l->arena;
    struct entry_list *list = arena_zero(a, sizeof *list);
    struct entry *entries = arena_alloc(a, (most + 1) * sizeof *entries);
    const allm_tool **tools = arena_alloc(a, (most + 1) * sizeof *tools);
    bool good = list && entries && tools;
    if (good)
        *list = (struct entry_list){ 0, entries, tools, atomic_load(&l->list),
                                     entries + most, 0 };
    for (size_t i = 0; good && i < l->source_count; i++)
        good = list_source(a, &l->sources[i], weight > WEIGHT_MOST, list,
                           entries);
    if (!good)
        return;
    for (size_t i = 0; i < list->count; i++)
        tools[i] = entries[i].tool;
    for (size_t i = 0; i < l->source_count; i++)
        l->sources[i].unseen = NULL;
    atomic_store(&l->list, list);
    atomic_store(&l->stale, false);
}

const struct entry_list *list_entries(struct tool_list *l)
{
    if (atomic_load(&l->stale)) {
        pthread_mutex_lock(&l->lock);
        if (atomic_load(&l->stale))
            make_list(l);
        pthread_mutex_unlock(&l->lock);
    }
    return atomic_load(&l->list);
}

/* A chat that began with an older list may call what is in no newer one. */
static const struct entry *find_listed(struct tool_list *l, const char *name)
{
    const struct entry *e = NULL;
    for (const struct entry_list *at = atomic_load(&l->list); at && !e;
         at = at->older)
        e = find_entry(at, name);
    return e;
}

const struct entry *list_find(struct tool_list *l, const char *name)
{
    const struct entry *e = find_listed(l, name);
    return e ? e : find_entry(list_entries(l), name);
}

/* -------------------------------------------------------------- sources --- */

/* A place for one more source; false: no memory. */
static bool add_place(struct tool_list *l, size_t *place)
{
    if (!arena_grow(&l->arena, &l->sources, l->source_count, &l->source_room, 8,
                    sizeof *l->sources))
        return false;
    *place = l->source_count++;
    l->sources[*place] = (struct source){ 0, NULL, NULL };
    return true;
}

static void set_source(struct tool_list *l, size_t place, size_t count,
                       const struct entry *entries, struct kept *kept)
{
    l->sources[place] = (struct source){ count, entries, kept };
    atomic_store(&l->stale, true);
}

bool list_reserve(struct tool_list *l, size_t *place)
{
    pthread_mutex_lock(&l->lock);
    bool good = add_place(l, place);
    pthread_mutex_unlock(&l->lock);
    return good;
}

static struct kept *add_kept(struct tool_list *l)
{
    struct kept *kept = arena_zero(&l->arena, sizeof *kept);
    if (!kept)
        return NULL;
    kept->next = l->kept;
    l->kept = kept;
    return kept;
}

bool list_replace(struct tool_list *l, size_t place, size_t count,
                  const struct entry *entries, struct allm_home *home)
{
    struct allm_home *old = NULL;
    pthread_mutex_lock(&l->lock);
    struct kept *kept = l->sources[place].unseen;
    if (!kept)
        kept = add_kept(l);
    if (kept) {
        old = kept->home;
        kept->home = home;
        set_source(l, place, count, entries, kept);
    }
    pthread_mutex_unlock(&l->lock);
    home_drop(old);
    return kept != NULL;
}

bool list_add(struct tool_list *l, size_t count, const struct entry *entries,
              const struct entry **taken)
{
    const struct entry_list *old = list_entries(l);
    size_t place;
    *taken = NULL;
    for (size_t i = 0; i < count && !*taken; i++)
        *taken = find_entry(old, entries[i].tool->name) ? &entries[i] : NULL;
    if (*taken)
        return true;
    pthread_mutex_lock(&l->lock);
    bool good = add_place(l, &place);
    if (good)
        set_source(l, place, count, entries, NULL);
    pthread_mutex_unlock(&l->lock);
    return good;
}
