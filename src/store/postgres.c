/*
 * postgres.c - a store on a PostgreSQL server, for many machines
 *
 * A lease is a time, `until`, by the server's clock only.  The store's thread
 * renews the leases of the process in one statement; a holder that was too
 * slow finds another epoch, and can change nothing.
 */
#include "store/postgres_parts.h"

#include "base/status.h"

#include <stdlib.h>

enum { POLL_MS = 1000, NS_PER_MS = 1000000, MOST_TAKES = 10 };

#define LEASE_LOCK "5069154132"         /* of the advisory lock for the DDL */

/* ------------------------------------------------------------ opening --- */

static const allm_error *check_encoding(struct postgres *q, struct arena *a)
{
    struct sql_rows rows;
    const allm_error *error =
        SQL_RUN(&q->sql, a,
                "SELECT current_setting('server_encoding'), "
                "CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END",
                &rows, sql_int(0));
    if (error)
        return error;
    q->read_only = rows.cells[1].n != 0;
    if (slice_is(rows.cells[0].s, "UTF8"))
        return NULL;
    return status_error(a, ALLM_ERR_STORE, "store_encoding",
                        "the encoding of this database is %s; create one with "
                        "the encoding UTF8",
                        rows.cells[0].s.ptr);
}

/* 0: there are no tables. */
static const allm_error *find_version(struct postgres *q, struct arena *a,
                                      int64_t *version)
{
    struct sql_rows rows;
    *version = 0;
    const allm_error *error =
        SQL_RUN(&q->sql, a,
                "SELECT CASE WHEN to_regclass('allm_meta') IS NULL THEN 0 "
                "ELSE 1 END",
                &rows, sql_int(0));
    if (error || !rows.cells[0].n)
        return error;
    error = SQL_RUN(&q->sql, a,
                    "SELECT value FROM allm_meta WHERE key = 'version'", &rows,
                    sql_int(0));
    if (!error && rows.count)
        *version = strtoll(rows.cells[0].s.ptr, NULL, 10);
    if (!error && *version > SCHEMA_VERSION)
        error = status_error(a, ALLM_ERR_STORE, "store_too_new",
                             "the tables have version %lld, which is newer "
                             "than %d, the newest this library knows; update "
                             "allm",
                             (long long)*version, SCHEMA_VERSION);
    return error;
}

/* The tables, one statement after the other: a request has only one. */
static const allm_error *run_schema(struct postgres *q, struct arena *a)
{
    const allm_error *error = NULL;
    const char *at = schema_postgres;
    while (!error && *at) {
        const char *end = strstr(at, ";\n");
        const char *one = arena_copy(a,
                                     (struct slice){ at, (size_t)(end - at) });
        if (!one)
            return status_nomem();
        error = q->sql.driver->run(&q->sql, a, one, 0, NULL, NULL);
        at = end + 2;
    }
    return error;
}

/* Several processes may do so at once: a lock that ends with the transaction
 * lets one of them create the tables. */
static const allm_error *create_tables(struct postgres *q, struct arena *a)
{
    struct sql *s = &q->sql;
    int64_t version = 0;
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    error = SQL_RUN(s, a, "SELECT pg_advisory_xact_lock(" LEASE_LOCK ")", NULL,
                    sql_int(0));
    if (!error)
        error = find_version(q, a, &version);
    if (!error && !version)
        error = run_schema(q, a);
    if (error) {
        s->driver->undo(s);
        return error;
    }
    return s->driver->end(s, a);
}

/* Is there an @ behind that of the password, in the host or the database?
 * libpq ends the password at the first one. */
static bool has_loose_at(const char *uri)
{
    const char *rest = strstr(uri, "://");
    rest = rest ? rest + 3 : uri;
    const char *end = rest + strcspn(rest, "@/");
    if (*end == '@')
        rest = end + 1;
    return rest[strcspn(rest, "@?")] == '@';
}

/* Checked before libpq uses it: its errors quote what it cannot read, which may
 * be a password with a character that is not escaped. */
static const allm_error *check_uri(struct arena *a, const char *uri)
{
    PQconninfoOption *all = PQconninfoParse(uri, NULL);
    bool readable = all != NULL && !has_loose_at(uri);
    for (const PQconninfoOption *o = all; readable && o->keyword; o++)
        if (o->val && !strcmp(o->keyword, "port"))
            readable = !o->val[strspn(o->val, "0123456789,")];
    PQconninfoFree(all);
    if (readable)
        return NULL;
    return status_error(a, ALLM_ERR_STORE, "invalid_store_uri",
                        "this URI cannot be read; write it as "
                        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and "
                        "special characters of a password as %%40 (for @) or "
                        "%%2F (for /)");
}

static const allm_error *set_up(struct postgres *q, struct arena *a)
{
    int64_t version = 0;
    bool create = !(q->sql.opts.flags &
                    (ALLM_STORE_READ | ALLM_STORE_NO_CREATE));
    const allm_error *error = check_uri(a, q->uri);
    if (!error)
        error = postgres_connect(q, a);
    if (!error)
        error = check_encoding(q, a);
    if (!error)
        error = find_version(q, a, &version);
    if (error || version)
        return error;
    if (create && !q->read_only)
        return create_tables(q, a);
    return status_error(a, ALLM_ERR_STORE, "store_needs_migration",
                        "the database has no tables of allm; open it for "
                        "writing once, or run the SQL that \"allm sessions "
                        "schema\" prints");
}

static void postgres_close(struct backend *b)
{
    struct postgres *q = postgres_of(b);
    struct mem mem = q->sql.opts.mem;
    postgres_disconnect(q);
    arena_release(&q->arena);
    mem_free(mem, q, sizeof *q);
}

static const allm_error *postgres_open(struct arena *a, const char *uri,
                                       const struct backend_opts *opts,
                                       struct backend **out)
{
    struct postgres *q = mem_alloc(opts->mem, sizeof *q);
    *out = NULL;
    if (!q)
        return status_nomem();
    *q = (struct postgres){ .sql = { .backend = { .ops = &postgres_backend },
                                     .driver = &postgres_driver,
                                     .opts = *opts } };
    arena_init(&q->arena, opts->mem);
    q->uri = arena_text(&q->arena, uri);
    const allm_error *error = q->uri ? set_up(q, a) : status_nomem();
    if (error) {
        postgres_close(&q->sql.backend);
        return error;
    }
    *out = &q->sql.backend;
    return NULL;
}

/* A statement is sent by commit() alone, so none is open here. */
static void postgres_die(struct backend *b)
{
    postgres_disconnect(postgres_of(b));
}

static const allm_error *postgres_reopen(struct backend *b, struct arena *a)
{
    return postgres_connect(postgres_of(b), a);
}

/* ------------------------------------------------------------- leases --- */

/* Columns of a row that an UPDATE returns, and what it was before. */
#define RETURNED                                                              \
    "x.id, x.name, x.uid, x.head, x.sum, x.epoch, x.holder, x.taken, "        \
    "x.until, x.open, x.queue, x.due, x.tries, x.cancel, x.waits, x.status, " \
    "x.title, x.model, x.messages, x.state, x.created, x.changed, $now, "     \
    "o.holder, o.epoch"

#define TAKE(COUNT)                                                           \
    "UPDATE allm_session x SET epoch = x.epoch + 1, holder = $2, " COUNT      \
    "taken = $now, until = $now + $3 FROM o WHERE x.id = o.id "               \
    "RETURNING " RETURNED

/* A claim: is this one more try? */
#define COUNT_TRY                                                             \
    "tries = CASE WHEN x.changed < x.taken THEN x.tries + 1 ELSE x.tries "    \
    "END, due = CASE WHEN x.changed < x.taken "                               \
    "THEN $now + 1000 * (2::bigint << x.tries::integer) ELSE x.due END, "

/* A row that TAKE returned, or none. */
static void read_taken(struct sql *s, const struct sql_rows *rows,
                       struct backend_row *row, enum backend_after *after,
                       bool *taken)
{
    *taken = rows->count > 0;
    if (!*taken)
        return;
    sql_read_row(s, rows, 0, row);
    *after = !rows->cells[24].n                 ? BACKEND_NEW
             : rows->cells[23].kind == SQL_NULL ? BACKEND_RELEASED
                                                : BACKEND_EXPIRED;
}

static const allm_error *insert_row(struct sql *s, struct arena *a,
                                    const char *name, const char *uid)
{
    return SQL_RUN(s, a,
                   "INSERT INTO allm_session (name, uid, created, changed) "
                   "VALUES ($1, $2, $now, $now) ON CONFLICT (name) DO NOTHING",
                   NULL, sql_text(name), sql_text(uid));
}

/* Take it if it is free; `uid` not NULL: even if it was never used. */
static const allm_error *take_free(struct sql *s, struct arena *a,
                                   const char *name, const char *uid,
                                   struct backend_row *row,
                                   enum backend_after *after, bool *taken)
{
    struct sql_rows rows;
    const allm_error *error =
        SQL_RUN(s, a,
                "WITH o AS (SELECT id, holder, epoch FROM allm_session "
                "WHERE name = $1 AND until <= $now AND (head > 0 OR "
                "$4::bigint > 0 OR EXISTS (SELECT 1 FROM allm_inbox i "
                "WHERE i.session = allm_session.id)) FOR UPDATE) " TAKE(""),
                &rows, sql_text(name), sql_text(s->opts.holder),
                sql_int(s->opts.lease_ms), sql_int(uid != NULL));
    if (!error)
        read_taken(s, &rows, row, after, taken);
    return error;
}

/* A row that was not taken and is free now, or gone: its lease ended meanwhile,
 * unless it is only the rest of one that was never used. */
static bool is_free_now(const struct backend_row *row, const char *uid)
{
    return !row->held && (uid || row->head);
}

static const allm_error *postgres_take(struct backend *b, struct arena *a,
                                       const char *name, const char *uid,
                                       struct backend_row *row,
                                       enum backend_after *after, bool *taken)
{
    struct sql *s = sql_of(b);
    bool found = false;
    const allm_error *error = NULL;
    *taken = false;
    *row = (struct backend_row){ 0 };
    for (int i = 0; !error && i < MOST_TAKES; i++) {
        if (uid)
            error = insert_row(s, a, name, uid);
        if (!error)
            error = take_free(s, a, name, uid, row, after, taken);
        if (error || *taken)
            return error;
        error = sql_find(b, a, name, true, row, &found);
        if (!is_free_now(row, uid))
            break;
    }
    if (!error && !row->held)
        row->id = 0;
    return error;
}

#define DUE                                                                    \
    "queue = $1 AND (due <= $now OR due > $now + $5::bigint) "                 \
    "AND until <= $now "                                                       \
    "AND COALESCE(waits, '" BACKEND_USER "') = '" BACKEND_USER "'"

static const allm_error *postgres_claim(struct backend *b, struct arena *a,
                                        const char *queue,
                                        struct backend_row *row,
                                        enum backend_after *after, bool *taken)
{
    struct sql *s = sql_of(b);
    struct sql_rows rows;
    *taken = false;
    *row = (struct backend_row){ 0 };
    const allm_error *error = SQL_RUN(
        s, a,
        "WITH stuck AS (UPDATE allm_session SET due = NULL, "
        "waits = '" BACKEND_STUCK "' WHERE id IN (SELECT id FROM allm_session "
        "WHERE " DUE " AND tries >= $4::bigint AND changed < taken "
        "FOR UPDATE SKIP LOCKED)), "
        "o AS (SELECT id, holder, epoch FROM allm_session WHERE " DUE
        " AND (tries < $4::bigint OR changed >= taken) "
        "ORDER BY due, id LIMIT 1 FOR UPDATE SKIP LOCKED) " TAKE(COUNT_TRY),
        &rows, sql_text(queue), sql_text(s->opts.holder),
        sql_int(s->opts.lease_ms), sql_int(BACKEND_MOST_TRIES),
        sql_int(BACKEND_MOST_DELAY_MS));
    if (!error)
        read_taken(s, &rows, row, after, taken);
    return error;
}

static const allm_error *postgres_release(struct backend *b, struct arena *a,
                                          int64_t id, uint64_t epoch, bool due)
{
    struct sql *s = sql_of(b);
    const allm_error *error =
        SQL_RUN(s, a,
                "UPDATE allm_session SET holder = NULL, until = 0, "
                "due = CASE WHEN $3::bigint > 0 THEN LEAST(due, $now) "
                "ELSE due END WHERE id = $1 AND epoch = $2",
                NULL, sql_int(id), sql_int((int64_t)epoch), sql_int(due));
    if (!error)
        error = SQL_RUN(
            s, a,
            "DELETE FROM allm_session WHERE id = $1 AND head = 0 "
            "AND due IS NULL AND epoch = $2 AND NOT EXISTS (SELECT 1 FROM "
            "allm_inbox WHERE session = $1)",
            NULL, sql_int(id), sql_int((int64_t)epoch));
    return error;
}

/* ------------------------------------------------------------- others --- */

static const allm_error *postgres_remove(struct backend *b, struct arena *a,
                                         int64_t id, bool *held)
{
    struct sql *s = sql_of(b);
    struct sql_rows rows = { 0 };
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    error = SQL_RUN(s, a,
                    "SELECT CASE WHEN until > $now THEN 1 ELSE 0 END "
                    "FROM allm_session WHERE id = $1 FOR UPDATE",
                    &rows, sql_int(id));
    *held = !error && rows.count && rows.cells[0].n;
    if (!error && !*held)
        error = sql_delete(s, a, id);
    if (error || *held) {
        s->driver->undo(s);
        return error;
    }
    return s->driver->end(s, a);
}

static const allm_error *postgres_put_live(struct backend *b, struct arena *a,
                                           int64_t id, uint64_t epoch,
                                           const struct backend_live *live)
{
    const allm_error *error =
        SQL_RUN(sql_of(b), a,
                "WITH off AS (SELECT set_config('synchronous_commit', "
                "'off', true)) INSERT INTO allm_live "
                "(session, op, n, count, body) "
                "SELECT id, $3, " SQL_NEXT_LIVE(
                    "$1", "$3",
                    "1") ", $4, $5 "
                         "FROM allm_session, off WHERE id = $1 AND epoch = $2",
                NULL, sql_int(id), sql_int((int64_t)epoch),
                sql_int((int64_t)live->op), sql_int((int64_t)live->count),
                sql_slice(live->body));
    if (!error)
        sql_of(b)->driver->notify(sql_of(b), a);
    return error;
}

static uint32_t postgres_watch_ms(const struct backend *b)
{
    uint32_t third = ((const struct sql *)b)->opts.lease_ms / 3;
    return third < POLL_MS ? third + 1 : POLL_MS;
}

#define OF_LEASES                                                             \
    " unnest($1::bigint[], $2::bigint[]) AS t(id, epoch)"                     \
    " WHERE x.id = t.id AND x.epoch = t.epoch"
#define NEWS                                                                  \
    "x.id, x.cancel, EXISTS (SELECT 1 FROM allm_inbox i "                     \
    "WHERE i.session = x.id)"

/* {1,2}: the ids, or the epochs. */
static struct sql_value write_array(struct arena *a, size_t count,
                                    const struct backend_watch *list,
                                    bool epochs)
{
    struct buf text = buf_in(a, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        buf_byte(&text, i ? ',' : '{');
        buf_uint(&text, epochs ? list[i].epoch : (uint64_t)list[i].id);
    }
    buf_byte(&text, '}');
    return sql_slice(buf_slice(&text));
}

/* Rows of sessions that are still held, in any order. */
static void read_news(const struct sql_rows *rows, size_t count,
                      struct backend_watch *list)
{
    for (size_t i = 0; i < count; i++)
        list[i].lost = true;
    for (size_t i = 0; i < rows->count; i++) {
        const struct sql_value *row = &rows->cells[i * rows->columns];
        struct backend_watch *w = sql_find_watch(count, list, row[0].n);
        if (w)
            *w = (struct backend_watch){ .id = w->id, .epoch = w->epoch,
                                         .cancel = (uint64_t)row[1].n,
                                         .sent = row[2].n != 0 };
    }
}

/* All leases of the process in one statement; it also tells which sessions
 * were lost or cancelled, or have messages. */
static const allm_error *postgres_watch(struct backend *b, struct arena *a,
                                        size_t count,
                                        struct backend_watch *list)
{
    struct postgres *q = postgres_of(b);
    struct sql *s = &q->sql;
    struct sql_rows rows = { 0 };
    int64_t now = clock_now_ns(clock_real());
    int64_t third = (int64_t)s->opts.lease_ms * NS_PER_MS / 3;
    struct sql_value ids = write_array(a, count, list, false);
    struct sql_value epochs = write_array(a, count, list, true);
    bool renew = now - q->renewed_ns >= third;
    const allm_error *error =
        a->broken ? status_nomem()
        : renew
            ? SQL_RUN(
                  s, a,
                  "UPDATE allm_session x SET until = $now + $3 FROM" OF_LEASES
                  " RETURNING " NEWS,
                  &rows, ids, epochs, sql_int(s->opts.lease_ms))
            : SQL_RUN(s, a, "SELECT " NEWS " FROM allm_session x," OF_LEASES,
                      &rows, ids, epochs);
    if (error)
        return error;
    if (renew)
        q->renewed_ns = now;
    read_news(&rows, count, list);
    return NULL;
}

/* The transactions that are visible: cheap, and every commit changes it. */
static const allm_error *postgres_changed(struct backend *b, struct arena *a,
                                          uint64_t *version, bool *changed)
{
    struct sql_rows rows = { 0 };
    const allm_error *error =
        SQL_RUN(sql_of(b), a, "SELECT CAST(txid_current_snapshot() AS text)",
                &rows, sql_int(0));
    *changed = false;
    if (error)
        return error;
    uint64_t now = 0;
    for (size_t i = 0; i < rows.cells[0].s.len; i++)
        now = now * 1000003 + (unsigned char)rows.cells[0].s.ptr[i];
    *changed = now != *version;
    *version = now;
    return NULL;
}

const struct backend_ops postgres_backend = {
    .scheme = "postgresql",
    .blocks = true,
    .schema = schema_postgres,
    .open = postgres_open,
    .close = postgres_close,
    .find = sql_find,
    .take = postgres_take,
    .claim = postgres_claim,
    .release = postgres_release,
    .append = postgres_append,
    .commit = postgres_commit,
    .reopen = postgres_reopen,
    .die = postgres_die,
    .messages = sql_messages,
    .records = sql_records,
    .blobs = sql_blobs,
    .list = sql_list,
    .remove = postgres_remove,
    .prune = sql_prune,
    .first = sql_first,
    .send = sql_send,
    .inbox = sql_inbox,
    .cancel = sql_cancel,
    .put_live = postgres_put_live,
    .live = sql_live,
    .watch_ms = postgres_watch_ms,
    .watch = postgres_watch,
    .changed = postgres_changed,
    .socket = postgres_socket,
    .hear = postgres_hear,
};
