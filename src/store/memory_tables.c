/* memory_tables.c - a store in memory: reading, listing, messages, events */
#define _GNU_SOURCE             /* memmem */
#include "store/memory_parts.h"

#include "base/status.h"

/* ------------------------------------------------------------ reading --- */

static bool is_in_range(const struct memory_message *m, struct backend_range r)
{
    bool is_there = r.at ? m->since <= r.at && (!m->until || m->until > r.at)
                         : !m->until;
    return is_there && m->row.n >= r.from && (!r.to || m->row.n < r.to);
}

const allm_error *memory_messages(struct backend *b, struct arena *a,
                                  int64_t id, struct backend_range range,
                                  size_t *count, struct backend_message **out)
{
    struct memory_db *db = memory_of(b)->db;
    size_t n = 0;
    *count = 0;
    pthread_mutex_lock(&db->lock);
    const struct memory_session *t = memory_by_id(db, id);
    for (const struct memory_message *m = t ? t->messages : NULL; m;
         m = m->next)
        n += is_in_range(m, range);
    *out = arena_zero(a, (n + 1) * sizeof **out);
    for (const struct memory_message *m = t ? t->messages : NULL; *out && m;
         m = m->next) {
        if (!is_in_range(m, range))
            continue;
        struct backend_message row = m->row;
        row.body = memory_copy(a, row.body);
        row.hash = arena_text(a, row.hash);
        row.since = m->since;
        (*out)[(*count)++] = row;
    }
    pthread_mutex_unlock(&db->lock);
    return a->broken ? status_nomem() : NULL;
}

const allm_error *memory_records(struct backend *b, struct arena *a, int64_t id,
                                 uint64_t from, size_t limit, size_t *count,
                                 struct backend_record **out)
{
    struct memory_db *db = memory_of(b)->db;
    size_t n = 0;
    *count = 0;
    pthread_mutex_lock(&db->lock);
    const struct memory_session *t = memory_by_id(db, id);
    for (const struct memory_record *r = t ? t->records : NULL; r; r = r->next)
        n += r->row.seq >= from;
    if (limit && n > limit)
        n = limit;
    *out = arena_zero(a, (n + 1) * sizeof **out);
    for (const struct memory_record *r = t ? t->records : NULL;
         *out && *count < n; r = r->next)
        if (r->row.seq >= from)
            (*out)[(*count)++] =
                (struct backend_record){
                r->row.seq, arena_text(a, r->row.type),
                memory_copy(a, r->row.body), arena_text(a, r->row.sum)
            };
    pthread_mutex_unlock(&db->lock);
    return a->broken ? status_nomem() : NULL;
}

const allm_error *memory_blobs(struct backend *b, struct arena *a, int64_t id,
                               size_t count, struct backend_blob *blobs)
{
    struct memory_db *db = memory_of(b)->db;
    pthread_mutex_lock(&db->lock);
    const struct memory_session *t = memory_by_id(db, id);
    for (size_t i = 0; i < count; i++) {
        const struct memory_blob *m = t ? t->blobs : NULL;
        while (m && strcmp(m->row.hash, blobs[i].hash) != 0)
            m = m->next;
        blobs[i].bytes = m ? memory_copy(a, m->row.bytes)
                           : (struct slice){ NULL, 0 };
    }
    pthread_mutex_unlock(&db->lock);
    return a->broken ? status_nomem() : NULL;
}

/* ------------------------------------------------------------ listing --- */

static bool is_text(const char *column, const char *wanted)
{
    return !wanted || (column && !strcmp(column, wanted));
}

static bool fits_query(const struct memory *m, const struct memory_session *t,
                       const allm_store_query *q)
{
    return t->row.head && is_text(t->row.status, q->status) &&
           is_text(t->row.waits, q->waits) && is_text(t->row.queue, q->queue) &&
           (!q->older_ms ||
            t->row.changed <= memory_now(m) - (int64_t)q->older_ms);
}

/* Newest first; of two changed at the same time the one made last. */
static bool comes_before(const struct memory_session *x,
                         const struct memory_session *y)
{
    return x->row.changed != y->row.changed ? x->row.changed > y->row.changed
                                            : x->row.id > y->row.id;
}

/* The next one in this order; NULL starts it. */
static const struct memory_session *next_listed(const struct memory *m,
                                                const allm_store_query *q,
                                                const struct memory_session *at)
{
    const struct memory_session *best = NULL;
    for (const struct memory_session *t = m->db->sessions; t; t = t->next)
        if (fits_query(m, t, q) && (!at || comes_before(at, t)) &&
            (!best || comes_before(t, best)))
            best = t;
    return best;
}

const allm_error *memory_list(struct backend *b, struct arena *a,
                              const allm_store_query *q, size_t limit,
                              size_t *count, struct backend_row **out)
{
    struct memory *m = memory_of(b);
    const struct memory_session *t = NULL;
    size_t most = 0;
    *count = 0;
    pthread_mutex_lock(&m->db->lock);
    for (t = m->db->sessions; t; t = t->next)
        most++;
    *out = arena_zero(a, (most + 1) * sizeof **out);
    if (q->after) {
        t = memory_by_name(m->db, q->after);
        limit = t ? limit : 0;
    }
    while (*out && *count < limit && (t = next_listed(m, q, t)))
        memory_row(a, t, &(*out)[(*count)++]);
    pthread_mutex_unlock(&m->db->lock);
    return a->broken ? status_nomem() : NULL;
}

/* ----------------------------------------------------------- removing --- */

const allm_error *memory_remove(struct backend *b, struct arena *a, int64_t id,
                                bool *held)
{
    struct memory_db *db = memory_of(b)->db;
    (void)a;
    pthread_mutex_lock(&db->lock);
    struct memory_session *t = memory_by_id(db, id);
    *held = t && t->owner;
    if (t && !t->owner)
        memory_forget(db, t);
    pthread_mutex_unlock(&db->lock);
    return NULL;
}

/* The record right before the last one that has a state; 0: an operation is
 * open. */
static uint64_t first_needed(const struct memory_session *t)
{
    uint64_t last = 0;
    for (const struct memory_record *r = t->records; r; r = r->next)
        if (!strcmp(r->row.type, "created") || !strcmp(r->row.type, "change") ||
            !strcmp(r->row.type, "end"))
            last = r->row.seq;
    return last && !t->row.open ? last - 1 : 0;
}

static bool mentions(struct slice text, const char *hash)
{
    return memmem(text.ptr, text.len, hash, strlen(hash)) != NULL;
}

static bool is_needed(const struct memory_session *t,
                      const struct memory_blob *blob)
{
    for (const struct memory_record *r = t->records; r; r = r->next)
        if (mentions(r->row.body, blob->row.hash))
            return true;
    for (const struct memory_message *m = t->messages; m; m = m->next)
        if (mentions(m->row.body, blob->row.hash))
            return true;
    return false;
}

/* What is before this record goes; its memory is freed with the session. */
static void cut_log(struct memory_session *t, uint64_t first)
{
    struct memory_message **m = &t->messages;
    struct memory_blob **blob = &t->blobs;
    while (t->records->row.seq < first)
        t->records = t->records->next;
    while (*m)
        if ((*m)->until && (*m)->until <= first)
            *m = (*m)->next;
        else
            m = &(*m)->next;
    t->last_message = m;
    while (*blob)
        if (is_needed(t, *blob))
            blob = &(*blob)->next;
        else
            *blob = (*blob)->next;
    t->first = first;
}

const allm_error *memory_prune(struct backend *b, struct arena *a, int64_t id,
                               bool looks, bool *removed)
{
    struct memory_db *db = memory_of(b)->db;
    (void)a;
    pthread_mutex_lock(&db->lock);
    struct memory_session *t = memory_by_id(db, id);
    uint64_t first = t ? first_needed(t) : 0;
    *removed = first > (t && t->first ? t->first : 1);
    if (*removed && !looks)
        cut_log(t, first);
    pthread_mutex_unlock(&db->lock);
    return NULL;
}

const allm_error *memory_first(struct backend *b, struct arena *a, int64_t id,
                               uint64_t *seq)
{
    struct memory_db *db = memory_of(b)->db;
    (void)a;
    pthread_mutex_lock(&db->lock);
    const struct memory_session *t = memory_by_id(db, id);
    *seq = t && t->first ? t->first : 1;
    pthread_mutex_unlock(&db->lock);
    return NULL;
}

/* ------------------------------------------------ news for the holder --- */

static struct backend_watch news_of(const struct memory_session *t)
{
    return (struct backend_watch){ .id = t->row.id, .epoch = t->row.epoch,
                                   .cancel = t->row.cancel,
                                   .sent = t->sent != NULL };
}

/* After the lock: tell the holder, if there is one. */
static void tell_owner(struct memory *owner, struct backend_watch about)
{
    if (owner && owner->backend.news)
        owner->backend.news(owner->backend.news_ud, &about);
}

static bool put_sent(struct memory *m, struct memory_session *t,
                     struct slice body, const char *queue)
{
    struct memory_sent *mine = arena_zero(&t->arena, sizeof *mine);
    if (!mine)
        return false;
    mine->row.id = ++m->db->ids;
    mine->row.body = memory_copy(&t->arena, body);
    if (queue)
        t->row.queue = arena_text(&t->arena, queue);
    if (t->arena.broken)
        return false;
    if (!t->row.due)
        t->row.due = memory_now(m);
    *t->last_sent = mine;
    t->last_sent = &mine->next;
    m->db->version++;
    return true;
}

const allm_error *memory_send(struct backend *b, struct arena *a,
                              const char *name, const char *uid,
                              struct slice body, const char *queue)
{
    struct memory *m = memory_of(b), *owner = NULL;
    struct backend_watch about = { 0 };
    (void)a;
    pthread_mutex_lock(&m->db->lock);
    struct memory_session *t = memory_by_name(m->db, name);
    if (!t)
        t = memory_add(m, name, uid);
    bool ok = t && put_sent(m, t, body, queue);
    if (ok) {
        owner = t->owner;
        about = news_of(t);
    }
    pthread_mutex_unlock(&m->db->lock);
    tell_owner(owner, about);
    return ok ? NULL : status_nomem();
}

const allm_error *memory_inbox(struct backend *b, struct arena *a, int64_t id,
                               size_t *count, struct backend_sent **out)
{
    struct memory_db *db = memory_of(b)->db;
    size_t n = 0;
    *count = 0;
    pthread_mutex_lock(&db->lock);
    const struct memory_session *t = memory_by_id(db, id);
    for (const struct memory_sent *m = t ? t->sent : NULL; m; m = m->next)
        n++;
    *out = arena_zero(a, (n + 1) * sizeof **out);
    for (const struct memory_sent *m = t ? t->sent : NULL; *out && m;
         m = m->next)
        (*out)[(*count)++] =
            (struct backend_sent){
            m->row.id, memory_copy(a, m->row.body)
        };
    pthread_mutex_unlock(&db->lock);
    return a->broken ? status_nomem() : NULL;
}

const allm_error *memory_cancel(struct backend *b, struct arena *a,
                                const char *name, bool *found, bool *held)
{
    struct memory_db *db = memory_of(b)->db;
    struct memory *owner = NULL;
    struct backend_watch about = { 0 };
    (void)a;
    pthread_mutex_lock(&db->lock);
    struct memory_session *t = memory_by_name(db, name);
    *found = t && t->row.head;
    *held = t && t->owner;
    if (t && t->row.open) {
        t->row.cancel = t->row.open;
        owner = t->owner;
        about = news_of(t);
    }
    pthread_mutex_unlock(&db->lock);
    tell_owner(owner, about);
    return NULL;
}

/* ---------------------------------------------------------- followers --- */

void memory_link_live(struct memory_session *t, struct memory_live *mine,
                      uint64_t number)
{
    struct memory_live *last = t->last_live;
    bool first = !last || last->row.op != mine->row.op;
    mine->row.n = first ? number : last->row.n + last->row.count;
    *(last ? &last->next : &t->live) = mine;
    t->last_live = mine;
}

const allm_error *memory_put_live(struct backend *b, struct arena *a,
                                  int64_t id, uint64_t epoch,
                                  const struct backend_live *live)
{
    struct memory_db *db = memory_of(b)->db;
    bool ok = true;
    (void)a;
    pthread_mutex_lock(&db->lock);
    struct memory_session *t = memory_by_id(db, id);
    if (t && t->row.epoch == epoch) {
        struct memory_live *mine = arena_zero(&t->live_arena, sizeof *mine);
        if (mine) {
            mine->row = *live;
            mine->row.body = memory_copy(&t->live_arena, live->body);
        }
        ok = mine && mine->row.body.ptr;
        if (ok) {
            memory_link_live(t, mine, 1);
            db->version++;
        }
    }
    pthread_mutex_unlock(&db->lock);
    return ok ? NULL : status_nomem();
}

const allm_error *memory_live(struct backend *b, struct arena *a, int64_t id,
                              uint64_t op, uint64_t from, size_t *count,
                              struct backend_live **out)
{
    struct memory_db *db = memory_of(b)->db;
    size_t n = 0;
    *count = 0;
    pthread_mutex_lock(&db->lock);
    const struct memory_session *t = memory_by_id(db, id);
    for (const struct memory_live *m = t ? t->live : NULL; m; m = m->next)
        n++;
    *out = arena_zero(a, (n + 1) * sizeof **out);
    for (const struct memory_live *m = t ? t->live : NULL; *out && m;
         m = m->next)
        if (m->row.op == op && m->row.n + m->row.count > from) {
            (*out)[*count] = m->row;
            (*out)[(*count)++].body = memory_copy(a, m->row.body);
        }
    pthread_mutex_unlock(&db->lock);
    return a->broken ? status_nomem() : NULL;
}

const allm_error *memory_changed(struct backend *b, struct arena *a,
                                 uint64_t *version, bool *changed)
{
    struct memory_db *db = memory_of(b)->db;
    (void)a;
    pthread_mutex_lock(&db->lock);
    *changed = *version != db->version;
    *version = db->version;
    pthread_mutex_unlock(&db->lock);
    return NULL;
}
