/* place.c - the place of a session in a store, and what it forbids */
#include "session/place.h"

#include "base/status.h"

struct place *place_new(struct mem mem)
{
    struct place *d = mem_alloc(mem, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct place){ .mem = mem };
    arena_init(&d->arena, mem);
    fold_init(&d->fold, &d->arena);
    return d;
}

void place_free(struct place *d)
{
    if (!d)
        return;
    struct mem mem = d->mem;
    allm_session_record_free(d->before);
    allm_thread_free(d->rows);
    arena_release(&d->arena);
    if (d->store)
        store_session_drop(d->store);
    mem_free(mem, d, sizeof *d);
}

void place_close(struct place *d)
{
    allm_session_record_free(d->before);
    d->before = NULL;
    fold_init(&d->fold, &d->arena);
}

const allm_error *place_gone(const struct place *d, struct arena *a)
{
    const allm_error *error = store_usable(store_session_store(d->store), a);
    return error ? error : store_session_gone(d->store, a);
}

const allm_error *place_forbids(const struct place *d, struct arena *a)
{
    const allm_error *error = place_gone(d, a);
    if (error || !d->fold.begin)
        return error;
    return status_error(
        a, ALLM_ERR_SESSION, "turn_unfinished",
        "the %s that began with record %llu of the session \"%s\" was broken "
        "off; continue it with allm_session_resume()%s, or drop it with "
        "allm_session_abandon()",
        d->fold.op ? d->fold.op : "operation",
        (unsigned long long)d->fold.begin, store_session_name(d->store),
        fold_count_unknown(&d->fold)
            ? " after allm_session_settle() for each call in "
              "metadata.broken_off.unknown_tool_calls"
            : "");
}
