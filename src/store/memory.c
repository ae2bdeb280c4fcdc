/*
 * memory.c - a store in the memory of this process
 *
 *      memory:        a database of one handle
 *      memory:NAME    one that all handles with this name share; it is gone
 *                     with the last of them
 *
 * Used for tests, and where nothing shall outlive the process.  It has the
 * tables of schema.c as lists, and behaves like the other two.
 *
 * Invariants
 *   (1) Everything is under the database's lock, except what append() has
 *       prepared and commit() has not linked yet.
 *   (2) append() allocates, commit() only links: so an append is written as a
 *       whole or not at all.
 *   (3) What a session contains is in its arena, and is freed with it.
 */
#include "store/memory_parts.h"

#include "base/status.h"

#include <stdio.h>

/* ------------------------------------------------------- the database --- */

/* Databases that have a name, for the handles that come later. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_db *registry;

static struct memory_db *new_db(struct mem mem, const char *name)
{
    struct memory_db *db = mem_alloc(mem, sizeof *db);
    if (!db)
        return NULL;
    *db = (struct memory_db){ .mem = mem };
    arena_init(&db->arena, mem);
    db->name = arena_text(&db->arena, name);
    if (db->name && !pthread_mutex_init(&db->lock, NULL))
        return db;
    arena_release(&db->arena);
    mem_free(mem, db, sizeof *db);
    return NULL;
}

/* The database of this name, or a new one; its own if the name is "". */
static struct memory_db *keep_db(struct mem mem, const char *name)
{
    pthread_mutex_lock(&registry_lock);
    struct memory_db *db = *name ? registry : NULL;
    while (db && strcmp(db->name, name) != 0)
        db = db->next;
    if (!db && (db = new_db(mem, name)) && *name) {
        db->next = registry;
        registry = db;
    }
    if (db)
        db->holders++;
    pthread_mutex_unlock(&registry_lock);
    return db;
}

static void free_session(struct memory_db *db, struct memory_session *t)
{
    arena_release(&t->arena);
    arena_release(&t->columns[0]);
    arena_release(&t->columns[1]);
    arena_release(&t->state[0]);
    arena_release(&t->state[1]);
    arena_release(&t->live_arena);
    mem_free(db->mem, t, sizeof *t);
}

static void drop_db(struct memory_db *db)
{
    pthread_mutex_lock(&registry_lock);
    bool last = --db->holders == 0;
    struct memory_db **at = &registry;
    while (last && *at && *at != db)
        at = &(*at)->next;
    if (last && *at)
        *at = db->next;
    pthread_mutex_unlock(&registry_lock);
    if (!last)
        return;
    while (db->sessions) {
        struct memory_session *next = db->sessions->next;
        free_session(db, db->sessions);
        db->sessions = next;
    }
    pthread_mutex_destroy(&db->lock);
    arena_release(&db->arena);
    mem_free(db->mem, db, sizeof *db);
}

static const allm_error *memory_open(struct arena *a, const char *rest,
                                     const struct backend_opts *opts,
                                     struct backend **out)
{
    (void)a;
    struct memory *m = mem_alloc(opts->mem, sizeof *m);
    *out = NULL;
    if (!m)
        return status_nomem();
    *m = (struct memory){ .backend = { .ops = &memory_backend },
                          .opts = *opts };
    m->db = keep_db(opts->mem, rest);
    if (!m->db) {
        mem_free(opts->mem, m, sizeof *m);
        return status_nomem();
    }
    arena_init(&m->arena, opts->mem);
    pthread_mutex_lock(&m->db->lock);
    m->next = m->db->handles;
    m->db->handles = m;
    pthread_mutex_unlock(&m->db->lock);
    *out = &m->backend;
    return NULL;
}

/* A lease that was not released ends with its handle, as that of a process
 * ends with the process. */
static void memory_close(struct backend *b)
{
    struct memory *m = memory_of(b);
    struct memory_db *db = m->db;
    pthread_mutex_lock(&db->lock);
    struct memory **at = &db->handles;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    for (struct memory_session *t = db->sessions; t; t = t->next)
        if (t->owner == m) {
            t->owner = NULL;
            t->gone = true;
        }
    pthread_mutex_unlock(&db->lock);
    drop_db(db);
    arena_release(&m->arena);
    mem_free(m->opts.mem, m, sizeof *m);
}

/* --------------------------------------------------------------- rows --- */

struct memory_session *memory_by_name(struct memory_db *db, const char *name)
{
    struct memory_session *t = db->sessions;
    while (t && strcmp(t->row.name, name) != 0)
        t = t->next;
    return t;
}

struct memory_session *memory_by_id(struct memory_db *db, int64_t id)
{
    struct memory_session *t = db->sessions;
    while (t && t->row.id != id)
        t = t->next;
    return t;
}

struct slice memory_copy(struct arena *a, struct slice s)
{
    return (struct slice){ s.ptr ? arena_copy(a, s) : NULL, s.len };
}

/* A row for a caller, who does not hold the lock. */
const allm_error *memory_row(struct arena *a, const struct memory_session *t,
                             struct backend_row *out)
{
    *out = t->row;
    out->held = t->owner != NULL;
    out->name = arena_text(a, t->row.name);
    out->uid = arena_text(a, t->row.uid);
    out->sum = arena_text(a, t->row.sum ? t->row.sum : "");
    out->holder = arena_text(a, t->row.holder);
    out->queue = arena_text(a, t->row.queue);
    out->waits = arena_text(a, t->row.waits);
    out->status = arena_text(a, t->row.status);
    out->title = arena_text(a, t->row.title);
    out->model = arena_text(a, t->row.model);
    out->state = memory_copy(a, t->row.state);
    return a->broken ? status_nomem() : NULL;
}

static void init_session(struct memory_session *t, struct mem mem)
{
    *t = (struct memory_session){ .row = { .sum = "", .status = "idle" } };
    arena_init(&t->arena, mem);
    arena_init(&t->columns[0], mem);
    arena_init(&t->columns[1], mem);
    arena_init(&t->state[0], mem);
    arena_init(&t->state[1], mem);
    arena_init(&t->live_arena, mem);
    t->last_record = &t->records;
    t->last_message = &t->messages;
    t->last_sent = &t->sent;
}

struct memory_session *memory_add(struct memory *m, const char *name,
                                  const char *uid)
{
    struct memory_db *db = m->db;
    struct memory_session *t = mem_alloc(db->mem, sizeof *t);
    if (!t)
        return NULL;
    init_session(t, db->mem);
    t->row.id = ++db->ids;
    t->row.name = arena_text(&t->arena, name);
    t->row.uid = arena_text(&t->arena, uid);
    t->row.created = t->row.changed = memory_now(m);
    if (t->arena.broken) {
        free_session(db, t);
        return NULL;
    }
    t->next = db->sessions;
    db->sessions = t;
    return t;
}

void memory_forget(struct memory_db *db, struct memory_session *t)
{
    struct memory_session **at = &db->sessions;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    free_session(db, t);
    db->version++;
}

static const allm_error *memory_find(struct backend *b, struct arena *a,
                                     const char *name, bool with_empty,
                                     struct backend_row *row, bool *found)
{
    struct memory_db *db = memory_of(b)->db;
    const allm_error *error = NULL;
    *row = (struct backend_row){ 0 };
    pthread_mutex_lock(&db->lock);
    struct memory_session *t = memory_by_name(db, name);
    *found = t && (t->row.head || with_empty);
    if (*found)
        error = memory_row(a, t, row);
    pthread_mutex_unlock(&db->lock);
    return error;
}

/* ------------------------------------------------------------- leases --- */

/* A time when it is due, not later than now. */
static int64_t choose_due(int64_t due, int64_t now)
{
    return due && due < now ? due : now;
}

/* This claim is one more try: the next one will be later. */
static void count_try(const struct memory *m, struct memory_session *t)
{
    if (!backend_is_try(&t->row))
        return;
    t->row.tries++;
    t->row.due = memory_now(m) + (INT64_C(1000) << t->row.tries);
}

static const allm_error *take_session(struct memory *m, struct arena *a,
                                      struct memory_session *t,
                                      struct backend_row *row,
                                      enum backend_after *after, bool *taken)
{
    const char *holder = arena_text(&t->arena, m->opts.holder);
    if (!holder)
        return status_nomem();
    *after = !t->row.head ? BACKEND_NEW
             : t->gone    ? BACKEND_GONE
                          : BACKEND_RELEASED;
    t->row.epoch++;
    t->row.holder = holder;
    t->row.taken = memory_now(m);
    t->owner = m;
    t->gone = false;
    *taken = true;
    return memory_row(a, t, row);
}

static const allm_error *memory_take(struct backend *b, struct arena *a,
                                     const char *name, const char *uid,
                                     struct backend_row *row,
                                     enum backend_after *after, bool *taken)
{
    struct memory *m = memory_of(b);
    const allm_error *error = NULL;
    *taken = false;
    *row = (struct backend_row){ 0 };
    pthread_mutex_lock(&m->db->lock);
    struct memory_session *t = memory_by_name(m->db, name);
    if (t && t->owner)
        error = memory_row(a, t, row);
    else if (t && (t->row.head || t->sent || uid))
        error = take_session(m, a, t, row, after, taken);
    else if (!t && uid && (t = memory_add(m, name, uid)))
        error = take_session(m, a, t, row, after, taken);
    else if (uid)
        error = status_nomem();
    pthread_mutex_unlock(&m->db->lock);
    return error;
}

static bool is_due(const struct memory *m, const struct backend_row *row)
{
    int64_t now = memory_now(m);
    return row->due &&
           (row->due <= now || row->due > now + BACKEND_MOST_DELAY_MS);
}

/* Does it wait for a decision, from now on or already? */
static bool is_stuck(struct memory_session *t)
{
    struct backend_row *row = &t->row;
    if (row->tries >= BACKEND_MOST_TRIES && backend_is_try(row)) {
        row->waits = BACKEND_STUCK;
        row->due = 0;
    }
    return row->waits && strcmp(row->waits, BACKEND_USER) != 0;
}

static const allm_error *memory_claim(struct backend *b, struct arena *a,
                                      const char *queue,
                                      struct backend_row *row,
                                      enum backend_after *after, bool *taken)
{
    struct memory *m = memory_of(b);
    struct memory_session *oldest = NULL;
    const allm_error *error = NULL;
    *taken = false;
    *row = (struct backend_row){ 0 };
    pthread_mutex_lock(&m->db->lock);
    for (struct memory_session *t = m->db->sessions; t; t = t->next)
        if (!t->owner && t->row.queue && !strcmp(t->row.queue, queue) &&
            is_due(m, &t->row) && !is_stuck(t) &&
            (!oldest || t->row.due < oldest->row.due ||
             (t->row.due == oldest->row.due && t->row.id < oldest->row.id)))
            oldest = t;
    if (oldest)
        count_try(m, oldest);
    if (oldest)
        error = take_session(m, a, oldest, row, after, taken);
    pthread_mutex_unlock(&m->db->lock);
    return error;
}

static const allm_error *memory_release(struct backend *b, struct arena *a,
                                        int64_t id, uint64_t epoch, bool due)
{
    struct memory *m = memory_of(b);
    (void)a;
    pthread_mutex_lock(&m->db->lock);
    struct memory_session *t = memory_by_id(m->db, id);
    if (t && t->owner == m && t->row.epoch == epoch) {
        t->owner = NULL;
        t->row.holder = NULL;
        if (due)
            t->row.due = choose_due(t->row.due, memory_now(m));
        if (!t->row.head && !t->sent)
            memory_forget(m->db, t);
    }
    pthread_mutex_unlock(&m->db->lock);
    return NULL;
}

/* ------------------------------------------------------------ appends --- */

static bool stage_record(struct memory_session *t,
                         const struct backend_record *r,
                         struct memory_record ***last)
{
    struct memory_record *mine = arena_zero(&t->arena, sizeof *mine);
    if (!mine)
        return false;
    mine->row = (struct backend_record){
        .seq = r->seq,
        .type = arena_text(&t->arena, r->type),
        .body = memory_copy(&t->arena, r->body),
        .sum = arena_text(&t->arena, r->sum),
    };
    **last = mine;
    *last = &mine->next;
    return true;
}

static bool stage_messages(struct memory_session *t,
                           const struct backend_change *c,
                           struct memory_message ***last)
{
    for (size_t i = 0; i < c->add_count; i++) {
        struct memory_message *mine = arena_zero(&t->arena, sizeof *mine);
        if (!mine)
            return false;
        mine->row.n = c->add[i].n;
        mine->row.body = memory_copy(&t->arena, c->add[i].body);
        mine->row.hash = arena_text(&t->arena, c->add[i].hash);
        mine->since = c->record.seq;
        **last = mine;
        *last = &mine->next;
    }
    return true;
}

static bool has_blob(const struct memory_session *t, const char *hash)
{
    for (const struct memory_blob *b = t->blobs; b; b = b->next)
        if (!strcmp(b->row.hash, hash))
            return true;
    return false;
}

static bool stage_blobs(struct memory_session *t, struct staged *g)
{
    for (size_t i = 0; i < g->append->blob_count; i++) {
        const struct backend_blob *blob = &g->append->blobs[i];
        if (has_blob(t, blob->hash))
            continue;
        struct memory_blob *mine = arena_zero(&t->arena, sizeof *mine);
        if (!mine)
            return false;
        mine->row.hash = arena_text(&t->arena, blob->hash);
        mine->row.bytes = memory_copy(&t->arena, blob->bytes);
        mine->next = g->blobs;
        g->blobs = mine;
    }
    return true;
}

/* The mark of a holder that writes events; it outlives live_arena. */
static bool stage_mark(struct memory_session *t, struct staged *g)
{
    char epoch[24];
    const struct backend_append *p = g->append;
    if (!p->live_op || !p->marks_live)
        return true;
    snprintf(epoch, sizeof epoch, "%llu", (unsigned long long)p->epoch);
    g->mark = arena_zero(&t->arena, sizeof *g->mark);
    if (!g->mark)
        return false;
    g->mark->row = (struct backend_live){
        .op = p->live_op, .count = 1,
        .body = memory_copy(&t->arena, slice_of(epoch))
    };
    return true;
}

/* The row as it will be, its strings in the spare arenas. */
static bool stage_row(struct memory *m, struct memory_session *t,
                      struct staged *g)
{
    const struct backend_append *p = g->append;
    const struct backend_record *last = &p->changes[p->change_count - 1].record;
    struct arena *a = &t->columns[t->columns_at ^ 1];
    struct arena *state = &t->state[t->state_at ^ 1];
    arena_reset(a);
    a->broken = false;
    g->row.head = last->seq;
    g->row.sum = arena_text(a, last->sum);
    g->row.open = p->open;
    g->row.waits = arena_text(a, p->waits);
    g->row.status = arena_text(a, p->status);
    g->row.title = arena_text(a, p->title);
    g->row.model = arena_text(a, p->model);
    g->row.messages = p->messages;
    g->row.changed = memory_now(m);
    if (p->state.ptr) {
        arena_reset(state);
        state->broken = false;
        g->row.state = memory_copy(state, p->state);
    }
    return !a->broken && !state->broken;
}

static const allm_error *stage_append(struct memory *m,
                                      struct backend_append *p)
{
    struct memory_session *t = memory_by_id(m->db, p->id);
    if (!t || t->owner != m || t->row.epoch != p->epoch ||
        t->row.head != p->head) {
        p->outcome = BACKEND_LOST;
        return NULL;
    }
    struct staged *g = arena_zero(&m->arena, sizeof *g);
    if (!g)
        return status_nomem();
    struct memory_record **last_record = &g->records;
    struct memory_message **last_message = &g->messages;
    bool ok = true;
    g->session = t;
    g->append = p;
    for (size_t i = 0; ok && i < p->change_count; i++)
        ok = stage_record(t, &p->changes[i].record, &last_record) &&
             stage_messages(t, &p->changes[i], &last_message);
    ok = ok && stage_blobs(t, g) && stage_mark(t, g) && stage_row(m, t, g) &&
         !t->arena.broken;
    t->arena.broken = false;
    p->outcome = BACKEND_PENDING;
    g->next = m->staged;
    m->staged = g;
    return ok ? NULL : status_nomem();
}

static const allm_error *memory_append(struct backend *b, struct arena *a,
                                       struct backend_append *const *list,
                                       size_t count)
{
    struct memory *m = memory_of(b);
    const allm_error *error = NULL;
    (void)a;
    m->staged = NULL;
    arena_reset(&m->arena);
    pthread_mutex_lock(&m->db->lock);
    for (size_t i = 0; !error && i < count; i++)
        error = stage_append(m, list[i]);
    pthread_mutex_unlock(&m->db->lock);
    if (error)
        m->staged = NULL;
    return error;
}

/* Messages that a change removes from the thread. */
static void cut_messages(struct memory_session *t,
                         const struct backend_change *c)
{
    for (struct memory_message *m = t->messages; c->cuts && m; m = m->next)
        if (!m->until && m->row.n >= c->keep && m->since < c->record.seq)
            m->until = c->record.seq;
}

static void drop_sent(struct memory_session *t, int64_t upto)
{
    while (t->sent && t->sent->row.id <= upto)
        t->sent = t->sent->next;
    if (!t->sent)
        t->last_sent = &t->sent;
}

static void link_lists(struct memory_session *t, const struct staged *g)
{
    *t->last_record = g->records;
    while (*t->last_record)
        t->last_record = &(*t->last_record)->next;
    if (g->messages) {
        *t->last_message = g->messages;
        while (*t->last_message)
            t->last_message = &(*t->last_message)->next;
    }
    for (struct memory_blob *b = g->blobs; b;) {
        struct memory_blob *next = b->next;
        b->next = t->blobs;
        t->blobs = b;
        b = next;
    }
}

/* Only the columns of the append: others may have changed since. */
static void link_row(struct memory_session *t, const struct staged *g)
{
    struct backend_row *row = &t->row;
    if (row->open != g->row.open)
        row->cancel = 0;
    if (g->append->due)
        row->due = choose_due(row->due, g->row.changed);
    else if (!t->sent || !row->queue)
        row->due = 0;           /* else more was sent */
    row->head = g->row.head;
    row->sum = g->row.sum;
    row->open = g->row.open;
    row->waits = g->row.waits;
    row->status = g->row.status;
    row->title = g->row.title;
    row->model = g->row.model;
    row->messages = g->row.messages;
    row->changed = g->row.changed;
    row->tries = 0;
    t->columns_at ^= 1;
    if (!g->append->state.ptr)
        return;
    row->state = g->row.state;
    t->state_at ^= 1;
}

static void link_append(const struct staged *g)
{
    struct memory_session *t = g->session;
    const struct backend_append *p = g->append;
    link_lists(t, g);
    for (size_t i = 0; i < p->change_count; i++)
        cut_messages(t, &p->changes[i]);
    drop_sent(t, p->inbox_upto);
    if (p->live_op && t->live && t->live->row.op != p->live_op) {
        arena_reset(&t->live_arena);
        t->live = t->last_live = NULL;
    }
    if (g->mark)
        memory_link_live(t, g->mark, 0);
    link_row(t, g);
}

static const allm_error *memory_commit(struct backend *b, struct arena *a)
{
    struct memory *m = memory_of(b);
    (void)a;
    pthread_mutex_lock(&m->db->lock);
    for (const struct staged *g = m->staged; g; g = g->next)
        link_append(g);
    m->staged = NULL;
    m->db->version++;
    pthread_mutex_unlock(&m->db->lock);
    return NULL;
}

static const allm_error *memory_reopen(struct backend *b, struct arena *a)
{
    (void)b;
    (void)a;
    return NULL;
}

static void memory_die(struct backend *b)
{
    memory_of(b)->staged = NULL;
}

const struct backend_ops memory_backend = {
    .scheme = "memory",
    .schema = "",
    .open = memory_open,
    .close = memory_close,
    .find = memory_find,
    .take = memory_take,
    .claim = memory_claim,
    .release = memory_release,
    .append = memory_append,
    .commit = memory_commit,
    .reopen = memory_reopen,
    .die = memory_die,
    .messages = memory_messages,
    .records = memory_records,
    .blobs = memory_blobs,
    .list = memory_list,
    .remove = memory_remove,
    .prune = memory_prune,
    .first = memory_first,
    .send = memory_send,
    .inbox = memory_inbox,
    .cancel = memory_cancel,
    .put_live = memory_put_live,
    .live = memory_live,
    .changed = memory_changed,
};
