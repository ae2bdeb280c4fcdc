/*
 * watch.c - news about sessions that are held, and changes for followers
 *
 * A backend that blocks is asked by the store's thread, every watch_ms
 * milliseconds while a session is held or followed.  The memory backend calls
 * watch_tell() when it has news about a session that is held; followers of it
 * look by themselves.
 */
#include "store/store.h"
#include "store/store_parts.h"

#include <stdlib.h>

enum { NS_PER_MS = 1000000, MEMORY_POLL_MS = 10 };

static int order_ids(const void *x, const void *y)
{
    const struct backend_watch *a = x, *b = y;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Sessions that are held, by their ids.  Locked. */
static struct backend_watch *list_held(allm_store *s, struct arena *a,
                                       size_t *count)
{
    size_t n = 0, i = 0;
    for (const struct store_session *t = s->held; t; t = t->next)
        n++;
    struct backend_watch *list = arena_zero(a, (n + 1) * sizeof *list);
    for (const struct store_session *t = s->held; list && t; t = t->next)
        list[i++] = (struct backend_watch){ .id = t->id, .epoch = t->epoch };
    *count = list ? i : 0;
    if (i)
        qsort(list, i, sizeof *list, order_ids);
    return list;
}

/* Locked. */
static void tell_session(struct store_session *t,
                         const struct backend_watch *about)
{
    if (!about || t->epoch != about->epoch)
        return;
    bool news = (about->lost && !t->lost) || about->cancel != t->cancel ||
                (about->sent && !t->sent);
    if (about->lost)
        lease_lose(t, about->taker);
    t->cancel = about->cancel;
    t->sent = about->sent;
    if (news)
        lease_ring(t);
}

void watch_tell(void *ud, const struct backend_watch *about)
{
    allm_store *s = ud;
    pthread_mutex_lock(&s->lock);
    for (struct store_session *t = s->held; t; t = t->next)
        if (t->id == about->id)
            tell_session(t, about);
    pthread_mutex_unlock(&s->lock);
}

/* Find out who has taken the sessions that were lost. */
static void find_takers_of(allm_store *s, struct arena *a, size_t count,
                           struct backend_watch *list)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        pthread_mutex_lock(&s->lock);
        for (const struct store_session *t = s->held; t; t = t->next)
            if (list[i].lost && t->id == list[i].id && !t->lost)
                name = arena_text(a, t->name);
        pthread_mutex_unlock(&s->lock);
        if (name)
            list[i].taker = lease_taker(s, a, name);
    }
}

static void ask_backend(allm_store *s)
{
    size_t count = 0;
    struct arena a = arena_in(s->mem);
    pthread_mutex_lock(&s->lock);
    struct backend_watch *list = list_held(s, &a, &count);
    pthread_mutex_unlock(&s->lock);
    if (count && !s->ops->watch(s->backend, &a, count, list)) {
        find_takers_of(s, &a, count, list);
        pthread_mutex_lock(&s->lock);
        for (struct store_session *t = s->held; t; t = t->next) {
            struct backend_watch key = { .id = t->id };
            tell_session(t,
                         bsearch(&key, list, count, sizeof *list, order_ids));
        }
        pthread_mutex_unlock(&s->lock);
    }
    arena_release(&a);
}

/* ---------------------------------------------------------- followers --- */

void store_follow(allm_store *s, struct store_follower *f, allm_waker *waker,
                  uint32_t *poll_ms)
{
    *f = (struct store_follower){ .waker = waker, .changed = true };
    *poll_ms = s->has_thread ? 0 : MEMORY_POLL_MS;
    store_lock(s);
    f->next = s->followers;
    s->followers = f;
    store_unlock(s);
    queue_wake(s);
}

void store_unfollow(allm_store *s, struct store_follower *f)
{
    store_lock(s);
    struct store_follower **at = &s->followers;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
    store_unlock(s);
}

bool store_follower_news(allm_store *s, struct store_follower *f)
{
    store_lock(s);
    bool changed = f->changed;
    f->changed = false;
    store_unlock(s);
    return changed;
}

static void ring_followers(allm_store *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct store_follower *f = s->followers; f; f = f->next) {
        f->changed = true;
        allm_waker_ring(f->waker);
    }
    pthread_mutex_unlock(&s->lock);
}

/* A follower of a store that cannot be asked finds out by itself. */
static void look_for_changes(allm_store *s)
{
    bool changed = false;
    struct arena a = arena_in(s->mem);
    if (s->ops->changed(s->backend, &a, &s->version, &changed) || changed)
        ring_followers(s);
    arena_release(&a);
}

void watch_now(allm_store *s)
{
    s->watch_due = true;
    pthread_mutex_lock(&s->lock);
    s->wrote = true;
    pthread_mutex_unlock(&s->lock);
}

int64_t watch_store(allm_store *s)
{
    int64_t now = clock_now_ns(clock_real());
    pthread_mutex_lock(&s->lock);
    bool held = s->held != NULL, followed = s->followers != NULL;
    bool wrote = s->wrote;
    s->wrote = false;
    pthread_mutex_unlock(&s->lock);
    if ((!held && !followed) || !s->ops->watch || atomic_load(&s->dead)) {
        s->watch_ns = now;
        return -1;
    }
    if (followed && wrote)
        ring_followers(s);
    int64_t every = (int64_t)s->ops->watch_ms(s->backend) * NS_PER_MS;
    if (s->watch_due || now - s->watch_ns >= every) {
        s->watch_due = false;
        if (held)
            ask_backend(s);
        if (followed)
            look_for_changes(s);
        s->watch_ns = now = clock_now_ns(clock_real());
    }
    return s->watch_ns + every - now;
}
