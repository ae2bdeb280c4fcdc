/*
 * sqlite.c - a store in an SQLite file: WAL, one writer at a time, synced
 *
 * Invariants
 *   (1) Every transaction that writes begins with BEGIN IMMEDIATE, so it never
 *       fails half-way because another process writes.
 *   (2) No statement stays open between two calls, so the WAL can always be
 *       checkpointed.
 *   (3) A session is held while its byte of the lock file is locked; `held`
 *       lists those of this handle, since a lock does not exclude its owner.
 */
#include "store/sqlite_parts.h"

#include "base/status.h"

/* ------------------------------------------------------------- leases --- */

static size_t find_held(const struct sqlite *q, int64_t id)
{
    size_t i = 0;
    while (i < q->held_count && q->held[i] != id)
        i++;
    return i;
}

static bool reserve_held(struct sqlite *q)
{
    if (q->held_count < q->held_cap)
        return true;
    size_t cap = q->held_cap ? 2 * q->held_cap : 8;
    int64_t *list = mem_resize(q->sql.opts.mem, q->held,
                               q->held_cap * sizeof *list, cap * sizeof *list);
    if (!list)
        return false;
    q->held = list;
    q->held_cap = cap;
    return true;
}

/* Keeps (3).  *locked false: another process or handle has it. */
static const allm_error *lock_session(struct sqlite *q, int64_t id,
                                      bool *locked)
{
    *locked = false;
    if (!reserve_held(q))
        return status_nomem();
    if (find_held(q, id) < q->held_count || !sqlite_lock_take(q->lock_fd, id))
        return NULL;
    q->held[q->held_count++] = id;
    *locked = true;
    return NULL;
}

static void unlock_session(struct sqlite *q, int64_t id)
{
    size_t i = find_held(q, id);
    if (i == q->held_count)
        return;
    q->held[i] = q->held[--q->held_count];
    sqlite_lock_drop(q->lock_fd, id);
}

bool sqlite_is_held(struct sql *s, const struct backend_row *row, int64_t now)
{
    struct sqlite *q = sqlite_of(&s->backend);
    (void)now;                  /* a lock has no time */
    return find_held(q, row->id) < q->held_count ||
           (q->lock_fd >= 0 && sqlite_lock_is_taken(q->lock_fd, row->id));
}

/* ------------------------------------------------------------- taking --- */

/* Inside a transaction: the row by its name, made if uid is given. */
static const allm_error *need_row(struct sql *s, struct arena *a,
                                  const char *name, const char *uid,
                                  struct backend_row *row)
{
    bool found = false;
    const allm_error *error = sql_find(&s->backend, a, name, true, row, &found);
    if (error || found || !uid)
        return error;
    error = SQL_RUN(s, a,
                    "INSERT INTO allm_session (name, uid, created, changed) "
                    "VALUES ($1, $2, $now, $now)",
                    NULL, sql_text(name), sql_text(uid));
    return error ? error : sql_find(&s->backend, a, name, true, row, &found);
}

/* A row that was never written and that nobody holds may go. */
static bool is_leftover(struct sql *s, struct arena *a,
                        const struct backend_row *row, const char *uid)
{
    size_t n = 0;
    struct backend_sent *sent = NULL;
    return !row->head && !uid && !row->held &&
           !sql_inbox(&s->backend, a, row->id, &n, &sent) && !n;
}

/* Inside a transaction: the lock is ours, now the row. */
static const allm_error *write_lease(struct sql *s, struct arena *a,
                                     struct backend_row *row, bool claims,
                                     enum backend_after *after)
{
    *after = !row->head    ? BACKEND_NEW
             : row->holder ? BACKEND_GONE
                           : BACKEND_RELEASED;
    bool found = false;
    const allm_error *error =
        SQL_RUN(s, a,
                "UPDATE allm_session SET epoch = epoch + 1, holder = $2, "
                "tries = CASE WHEN $3 AND changed < taken THEN tries + 1 "
                "ELSE tries END, due = CASE WHEN $3 AND changed < taken "
                "THEN $now + 1000 * (2 << tries) ELSE due END, "
                "taken = $now WHERE id = $1",
                NULL, sql_int(row->id), sql_text(s->opts.holder),
                sql_int(claims));
    const char *name = row->name;
    return error ? error : sql_find(&s->backend, a, name, true, row, &found);
}

/* Inside a transaction, which ends here.  Not taken: row says who holds it. */
static const allm_error *take_row(struct sqlite *q, struct arena *a,
                                  struct backend_row *row, bool claims,
                                  enum backend_after *after, bool *taken)
{
    struct sql *s = &q->sql;
    const int64_t id = row->id;
    const allm_error *error = lock_session(q, id, taken);
    if (error || !*taken) {
        s->driver->undo(s);
        return error;
    }
    error = sqlite_finish(q, a, write_lease(s, a, row, claims, after));
    *taken = !error;
    if (error)
        unlock_session(q, id);
    return error;
}

static const allm_error *sqlite_take(struct backend *b, struct arena *a,
                                     const char *name, const char *uid,
                                     struct backend_row *row,
                                     enum backend_after *after, bool *taken)
{
    struct sqlite *q = sqlite_of(b);
    struct sql *s = &q->sql;
    *taken = false;
    *row = (struct backend_row){ 0 };
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    error = need_row(s, a, name, uid, row);
    if (error || !row->id || is_leftover(s, a, row, uid)) {
        s->driver->undo(s);
        row->id = 0;
        return error;
    }
    return take_row(q, a, row, false, after, taken);
}

static bool is_due(const struct backend_row *row, const char *queue)
{
    return row->id && row->due && row->queue && !strcmp(row->queue, queue);
}

/* Inside a transaction, which ends here: it waits for somebody from now on,
 * unless somebody has it. */
static const allm_error *mark_stuck(struct sqlite *q, struct arena *a,
                                    int64_t id)
{
    struct sql *s = &q->sql;
    bool locked = false;
    const allm_error *error = lock_session(q, id, &locked);
    if (error || !locked) {
        s->driver->undo(s);
        return error;
    }
    error = sqlite_finish(q, a,
                          SQL_RUN(s, a,
                                  "UPDATE allm_session SET due = NULL, "
                                  "waits = '" BACKEND_STUCK "' WHERE id = $1",
                                  NULL, sql_int(id)));
    unlock_session(q, id);
    return error;
}

/* Inside a transaction the row cannot change, so it is read again. */
static const allm_error *claim_one(struct sqlite *q, struct arena *a,
                                   const char *queue, int64_t id,
                                   struct backend_row *row,
                                   enum backend_after *after, bool *taken)
{
    struct sql *s = &q->sql;
    struct sql_rows rows;
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    error = SQL_RUN(s, a, "SELECT " SQL_ROW " FROM allm_session WHERE id = $1",
                    &rows, sql_int(id));
    if (!error && rows.count)
        sql_read_row(s, &rows, 0, row);
    if (!error && is_due(row, queue) && row->tries >= BACKEND_MOST_TRIES &&
        backend_is_try(row))
        return mark_stuck(q, a, id);
    if (!error && is_due(row, queue))
        return take_row(q, a, row, true, after, taken);
    s->driver->undo(s);
    return error;
}

static const allm_error *sqlite_claim(struct backend *b, struct arena *a,
                                      const char *queue,
                                      struct backend_row *row,
                                      enum backend_after *after, bool *taken)
{
    struct sqlite *q = sqlite_of(b);
    struct sql_rows rows;
    *taken = false;
    *row = (struct backend_row){ 0 };
    struct arena scratch = arena_in(q->sql.opts.mem);
    const allm_error *error =
        SQL_RUN(&q->sql, &scratch,
                "SELECT id FROM allm_session WHERE queue = $1 "
                "AND (due <= $now OR due > $now + $2) "
                "AND COALESCE(waits, '" BACKEND_USER "') = '" BACKEND_USER "' "
                "ORDER BY due, id",
                &rows, sql_text(queue), sql_int(BACKEND_MOST_DELAY_MS));
    if (error)
        error = status_retell(a, error);
    for (size_t i = 0; !error && !*taken && i < rows.count; i++) {
        struct backend_row seen = { .id = rows.cells[i].n };
        if (!sqlite_is_held(&q->sql, &seen, 0))
            error = claim_one(q, a, queue, seen.id, row, after, taken);
    }
    arena_release(&scratch);
    return error;
}

static const allm_error *write_release(struct sql *s, struct arena *a,
                                       int64_t id, uint64_t epoch, bool due)
{
    const allm_error *error =
        SQL_RUN(s, a,
                "UPDATE allm_session SET holder = NULL, "
                "due = CASE WHEN $3 THEN MIN(COALESCE(due, $now), $now) "
                "ELSE due END "
                "WHERE id = $1 AND epoch = $2",
                NULL, sql_int(id), sql_int((int64_t)epoch), sql_int(due));
    if (!error)
        error = SQL_RUN(s, a,
                        "DELETE FROM allm_session WHERE id = $1 AND epoch = $2 "
                        "AND head = 0 AND NOT EXISTS (SELECT 1 FROM allm_inbox "
                        "WHERE session = $1)",
                        NULL, sql_int(id), sql_int((int64_t)epoch));
    return error;
}

/* A release that is lost with the machine does no harm, so it is not synced. */
static const allm_error *sqlite_release(struct backend *b, struct arena *a,
                                        int64_t id, uint64_t epoch, bool due)
{
    struct sqlite *q = sqlite_of(b);
    struct sql *s = &q->sql;
    sqlite_set_sync(q, due);
    const allm_error *error = s->driver->begin(s, a);
    if (!error)
        error = sqlite_finish(q, a, write_release(s, a, id, epoch, due));
    sqlite_set_sync(q, true);
    unlock_session(q, id);      /* whatever the database says */
    return error;
}

/* ------------------------------------------------------------ appends --- */

static const allm_error *write_columns(struct sql *s, struct arena *a,
                                       struct backend_append *p)
{
    const struct backend_record *last = &p->changes[p->change_count - 1].record;
    struct sql_rows rows = { 0 };
    const allm_error *error = SQL_RUN(
        s, a,
        "UPDATE allm_session SET head = $4, sum = $5, open = $6, "
        "due = CASE WHEN $7 THEN MIN(COALESCE(due, $now), $now) "
        "WHEN queue IS NOT NULL "
        "AND EXISTS (SELECT 1 FROM allm_inbox WHERE session = $1 AND id > $14) "
        "THEN due END, "
        "waits = $8, status = $9, title = $10, model = $11, messages = $12, "
        "state = COALESCE($13, state), tries = 0, "
        "cancel = CASE WHEN open = $6 THEN cancel ELSE 0 END, changed = $now "
        "WHERE id = $1 AND epoch = $2 AND head = $3",
        &rows, sql_int(p->id), sql_int((int64_t)p->epoch),
        sql_int((int64_t)p->head), sql_int((int64_t)last->seq),
        sql_text(last->sum), sql_int((int64_t)p->open), sql_int(p->due),
        sql_text(p->waits), sql_text(p->status), sql_text(p->title),
        sql_text(p->model), sql_int((int64_t)p->messages), sql_slice(p->state),
        sql_int(p->inbox_upto));
    p->outcome = !error && rows.changed ? BACKEND_PENDING : BACKEND_LOST;
    return error;
}

static const allm_error *write_change(struct sql *s, struct arena *a,
                                      int64_t id,
                                      const struct backend_change *c)
{
    const struct backend_record *r = &c->record;
    const allm_error *error =
        SQL_RUN(s, a,
                "INSERT INTO allm_record (session, seq, type, body, sum) "
                "VALUES ($1, $2, $3, $4, $5)",
                NULL, sql_int(id), sql_int((int64_t)r->seq), sql_text(r->type),
                sql_slice(r->body), sql_text(r->sum));
    if (!error && c->cuts)
        error = SQL_RUN(s, a,
                        "UPDATE allm_message SET until = $3 "
                        "WHERE session = $1 AND n >= $2 AND until IS NULL",
                        NULL, sql_int(id), sql_int((int64_t)c->keep),
                        sql_int((int64_t)r->seq));
    for (size_t i = 0; !error && i < c->add_count; i++)
        error = SQL_RUN(s, a,
                        "INSERT INTO allm_message "
                        "(session, n, since, body, hash) "
                        "VALUES ($1, $2, $3, $4, $5)",
                        NULL, sql_int(id), sql_int((int64_t)c->add[i].n),
                        sql_int((int64_t)r->seq), sql_slice(c->add[i].body),
                        sql_text(c->add[i].hash));
    return error;
}

static const allm_error *write_rest(struct sql *s, struct arena *a,
                                    const struct backend_append *p)
{
    const allm_error *error = NULL;
    for (size_t i = 0; !error && i < p->blob_count; i++)
        error = SQL_RUN(s, a,
                        "INSERT INTO allm_blob (session, hash, bytes) "
                        "VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                        NULL, sql_int(p->id), sql_text(p->blobs[i].hash),
                        sql_bytes(p->blobs[i].bytes));
    if (!error && p->inbox_upto)
        error = SQL_RUN(s, a,
                        "DELETE FROM allm_inbox WHERE session = $1 "
                        "AND id <= $2",
                        NULL, sql_int(p->id), sql_int(p->inbox_upto));
    if (!error && p->live_op)
        error = SQL_RUN(s, a,
                        "DELETE FROM allm_live WHERE session = $1 AND op <> $2",
                        NULL, sql_int(p->id), sql_int((int64_t)p->live_op));
    if (!error && p->live_op && p->marks_live)
        error = SQL_RUN(s, a,
                        "INSERT INTO allm_live (session, op, n, count, body) "
                        "SELECT $1, $2, " SQL_NEXT_LIVE("$1", "$2",
                                                        "0") ", 1, "
                                                             "CAST($3 AS text)",
                        NULL, sql_int(p->id), sql_int((int64_t)p->live_op),
                        sql_int((int64_t)p->epoch));
    return error;
}

static const allm_error *write_append(struct sql *s, struct arena *a,
                                      struct backend_append *p)
{
    const allm_error *error = write_columns(s, a, p);
    if (error || p->outcome == BACKEND_LOST)
        return error;
    for (size_t i = 0; !error && i < p->change_count; i++)
        error = write_change(s, a, p->id, &p->changes[i]);
    return error ? error : write_rest(s, a, p);
}

static const allm_error *sqlite_append(struct backend *b, struct arena *a,
                                       struct backend_append *const *list,
                                       size_t count)
{
    struct sql *s = sql_of(b);
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    for (size_t i = 0; !error && i < count; i++)
        error = write_append(s, a, list[i]);
    if (error)
        s->driver->undo(s);
    return error;
}

static const allm_error *sqlite_commit(struct backend *b, struct arena *a)
{
    struct sql *s = sql_of(b);
    return s->driver->end(s, a);
}

/* ------------------------------------------------------------- others --- */

static const allm_error *sqlite_remove(struct backend *b, struct arena *a,
                                       int64_t id, bool *held)
{
    struct sqlite *q = sqlite_of(b);
    struct sql *s = &q->sql;
    bool locked = false;
    *held = false;
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    error = lock_session(q, id, &locked);
    if (error || !locked) {
        s->driver->undo(s);
        *held = !error;
        return error;
    }
    error = sqlite_finish(q, a, sql_delete(s, a, id));
    unlock_session(q, id);
    return error ? error : sqlite_shrink(q, a);
}

static const allm_error *sqlite_prune(struct backend *b, struct arena *a,
                                      int64_t id, bool looks, bool *removed)
{
    const allm_error *error = sql_prune(b, a, id, looks, removed);
    return error || looks || !*removed ? error : sqlite_shrink(sqlite_of(b), a);
}

static const allm_error *sqlite_put_live(struct backend *b, struct arena *a,
                                         int64_t id, uint64_t epoch,
                                         const struct backend_live *live)
{
    struct sql *s = sql_of(b);
    sqlite_set_sync(sqlite_of(b), false);
    const allm_error *error = SQL_RUN(
        s, a,
        "INSERT INTO allm_live (session, op, n, count, body) "
        "SELECT $1, $3, " SQL_NEXT_LIVE(
            "$1", "$3", "1") ", $4, $5 "
                             "FROM allm_session WHERE id = $1 AND epoch = $2",
        NULL, sql_int(id), sql_int((int64_t)epoch), sql_int((int64_t)live->op),
        sql_int((int64_t)live->count), sql_slice(live->body));
    sqlite_set_sync(sqlite_of(b), true);
    return error;
}

/* While an operation runs, another process may cancel it at any time. */
static uint32_t sqlite_watch_ms(const struct backend *b)
{
    (void)b;
    return 50;
}

/* A lock is never lost: only messages and cancellation are news, and few
 * sessions have any. */
static const allm_error *sqlite_watch(struct backend *b, struct arena *a,
                                      size_t count, struct backend_watch *list)
{
    struct sql *s = sql_of(b);
    struct sql_rows rows = { 0 };
    const allm_error *error =
        SQL_RUN(s, a,
                "SELECT id, cancel, 0 FROM allm_session WHERE cancel > 0 "
                "UNION ALL SELECT DISTINCT session, 0, 1 FROM allm_inbox",
                &rows, sql_int(0));
    for (size_t i = 0; !error && i < rows.count; i++) {
        const struct sql_value *row = &rows.cells[i * rows.columns];
        struct backend_watch *w = sql_find_watch(count, list, row[0].n);
        if (w && row[1].n)
            w->cancel = (uint64_t)row[1].n;
        if (w && row[2].n)
            w->sent = true;
    }
    return error;
}

const struct backend_ops sqlite_backend = {
    .scheme = "sqlite",
    .blocks = true,
    .schema = schema_sqlite,
    .open = sqlite_open,
    .close = sqlite_close,
    .find = sql_find,
    .take = sqlite_take,
    .claim = sqlite_claim,
    .release = sqlite_release,
    .append = sqlite_append,
    .commit = sqlite_commit,
    .reopen = sqlite_reopen,
    .die = sqlite_die,
    .messages = sql_messages,
    .records = sql_records,
    .blobs = sql_blobs,
    .list = sql_list,
    .remove = sqlite_remove,
    .prune = sqlite_prune,
    .first = sql_first,
    .send = sql_send,
    .inbox = sql_inbox,
    .cancel = sql_cancel,
    .put_live = sqlite_put_live,
    .live = sql_live,
    .watch_ms = sqlite_watch_ms,
    .watch = sqlite_watch,
    .changed = sqlite_changed,
    .check = sqlite_check,
};
