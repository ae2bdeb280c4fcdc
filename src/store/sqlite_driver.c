/*
 * sqlite_driver.c - statements, transactions and errors of SQLite
 *
 * Statements are prepared once and kept; their texts are literals, so the
 * address of a text is its key.
 */
#include "store/sqlite_parts.h"

#include "base/status.h"
#include "loop/thread.h"

#include <errno.h>
#include <stdio.h>

enum { WAIT_LEAST_US = 200, WAIT_MOST_US = 2000, LONG_WAIT_NS = 10000000 };

/* The bytes that SQLite locks: in PATH-shm, and in the file itself. */
enum { SHM_WRITE = 120, SHM_RECOVER = 122, SHM_READ = 123, SHM_READ_LAST = 127,
       FILE_PENDING = 0x40000000, FILE_LAST = FILE_PENDING + 511 };

/* A WAL of so many pages is to be copied into the file; of so many, readers
 * are waited for, but not long. */
enum { WAL_COPY = 1000, WAL_RESTART = 8000, WAL_WAIT_NS = 100000000 };

/* ------------------------------------------------------------- errors --- */

/* The database is locked: by whom? */
static const allm_error *busy_error(struct sqlite *q, struct arena *a)
{
    long owner = sqlite_lock_owner(q->shm_path, SHM_WRITE, SHM_RECOVER);
    if (!owner)
        owner = sqlite_lock_owner(q->path, FILE_PENDING, FILE_LAST);
    return owner ? status_error(a, ALLM_ERR_STORE, "store_busy",
                                "the process %ld has been writing to %s for "
                                "more than %u ms; try again",
                                owner, q->path, q->sql.opts.busy_ms)
                 : status_error(a, ALLM_ERR_STORE, "store_busy",
                                "other processes have been writing to %s for "
                                "more than %u ms; try again",
                                q->path, q->sql.opts.busy_ms);
}

const allm_error *sqlite_error(struct sqlite *q, struct arena *a, int code)
{
    const char *text = q->db ? sqlite3_errmsg(q->db) : sqlite3_errstr(code);
    int why = q->db ? sqlite3_system_errno(q->db) : 0;
    if ((code & 0xff) == SQLITE_CANTOPEN && (why == EACCES || why == EROFS))
        code = SQLITE_READONLY;
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return busy_error(q, a);
    case SQLITE_NOMEM:
        return status_nomem();
    case SQLITE_FULL:
        return status_error(a, ALLM_ERR_STORE, "store_full",
                            "the disk that has %s is full; free some space and "
                            "try again",
                            q->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return status_error(a, ALLM_ERR_STORE, "store_read_only",
                            "%s cannot be written; check the permissions of "
                            "the file and its folder",
                            q->path);
    case SQLITE_NOTADB:
        return status_error(a, ALLM_ERR_STORE, "not_a_store",
                            "%s is not an SQLite database; name another file",
                            q->path);
    case SQLITE_ERROR:          /* a table or a column is missing */
    case SQLITE_CORRUPT:
        return status_error(a, ALLM_ERR_STORE, "store_damaged",
                            "%s is damaged (%s); restore it from a backup",
                            q->path, text);
    case SQLITE_TOOBIG:
        return status_error(a, ALLM_ERR_STORE, "record_too_large",
                            "a record is larger than SQLite allows; pass less "
                            "at a time");
    case SQLITE_CONSTRAINT:
        return status_error(a, ALLM_ERR_STORE, "damaged_session",
                            "the session has a record or message that its row "
                            "does not count (%s); restore the store from a "
                            "backup, or remove the session",
                            text);
    default:
        return status_error(a, ALLM_ERR_STORE, "store_unreachable",
                            "%s: %s (SQLite error %d); check the disk and try "
                            "again",
                            q->path, text, code);
    }
}

/* Has another writer waited long, and this one not? */
static bool is_behind(const struct sqlite *q)
{
    return !q->in_front && sqlite_lock_is_taken(q->lock_fd, SQLITE_FRONT);
}

static void leave_front(struct sqlite *q)
{
    if (q->in_front)
        sqlite_lock_drop(q->lock_fd, SQLITE_FRONT);
    q->in_front = q->begins = false;
}

/*
 * Short waits, so that no writer starves: SQLite has no queue, whoever looks
 * when the file is free gets it.  A writer that has waited long says so by a
 * lock, which all such writers share, and looks most often; the others do not
 * look meanwhile, until they have waited as long themselves.  The time is
 * measured: a wait may take longer.
 */
int sqlite_wait(void *ud, int count)
{
    struct sqlite *q = ud;
    if (!count && !q->begins)
        q->busy_since_ns = 0;
    do {
        int64_t now = clock_now_ns(clock_real());
        if (!q->busy_since_ns)
            q->busy_since_ns = now;
        int64_t waited = now - q->busy_since_ns;
        if (waited >= q->busy_most_ns)
            return 0;
        uint64_t us = WAIT_LEAST_US;
        if (waited < LONG_WAIT_NS)
            us += random_below(random_system(), WAIT_MOST_US - WAIT_LEAST_US);
        else if (q->begins && !q->in_front)
            q->in_front = sqlite_lock_share(q->lock_fd, SQLITE_FRONT);
        thread_pause((uint32_t)us);
    } while (q->begins && is_behind(q));
    return 1;
}

/* --------------------------------------------------------- statements --- */

/* "$now" as SQLite has it. */
static const struct slice now_text =
    SLICE_INIT("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)");

/* As SQLite has it: parameters ?1, ?2 ..., which are found without a search. */
static const char *translate(struct arena *a, const char *text)
{
    const char *full = sql_expand(a, text, now_text);
    char *out = full ? arena_alloc(a, strlen(full) + 1) : NULL;
    for (size_t i = 0; out && (i == 0 || full[i - 1]); i++)
        out[i] = full[i] == '$' ? '?' : full[i];
    return out;
}

/* The cache has room for all statements that there are. */
static int prepare_statement(struct sqlite *q, struct arena *a,
                             const char *text, sqlite3_stmt **out)
{
    size_t i = 0;
    while (i < SQLITE_CACHED && q->cached[i].text && q->cached[i].text != text)
        i++;
    if (i == SQLITE_CACHED)
        return SQLITE_MISUSE;
    if (q->cached[i].text) {
        *out = q->cached[i].stmt;
        return SQLITE_OK;
    }
    const char *full = translate(a, text);
    if (!full)
        return SQLITE_NOMEM;
    int code = sqlite3_prepare_v3(q->db, full, -1, SQLITE_PREPARE_PERSISTENT,
                                  out, NULL);
    if (code == SQLITE_OK)
        q->cached[i] = (struct sqlite_cached){ text, *out };
    return code;
}

void sqlite_forget(struct sqlite *q)
{
    for (size_t i = 0; i < SQLITE_CACHED; i++) {
        sqlite3_finalize(q->cached[i].stmt);
        q->cached[i] = (struct sqlite_cached){ NULL, NULL };
    }
    sqlite3_finalize(q->version);
    q->version = NULL;
}

/* A statement need not use all its parameters. */
static int bind_value(sqlite3_stmt *stmt, int at, const struct sql_value *v)
{
    const char *ptr = v->s.ptr ? v->s.ptr : "";
    int code = SQLITE_OK;
    switch (v->kind) {
    case SQL_INT:
        code = sqlite3_bind_int64(stmt, at, v->n);
        break;
    case SQL_TEXT:
        code = sqlite3_bind_text64(stmt, at, ptr, v->s.len, NULL, SQLITE_UTF8);
        break;
    case SQL_BYTES:
        code = sqlite3_bind_blob64(stmt, at, ptr, v->s.len, NULL);
        break;
    default:
        code = sqlite3_bind_null(stmt, at);
    }
    return code == SQLITE_RANGE ? SQLITE_OK : code;
}

/* A cell of the current row, in the arena. */
static bool read_cell(struct arena *a, sqlite3_stmt *stmt, int column,
                      struct sql_value *out)
{
    *out = (struct sql_value){ .kind = SQL_NULL };
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_NULL:
        return true;
    case SQLITE_INTEGER:
        *out = sql_int(sqlite3_column_int64(stmt, column));
        return true;
    default:
        out->kind = SQL_TEXT;
        out->s.ptr = (const char *)sqlite3_column_blob(stmt, column);
        out->s.len = (size_t)sqlite3_column_bytes(stmt, column);
        out->s.ptr = arena_copy(a, (struct slice){
                                       out->s.ptr ? out->s.ptr : "",
                                       out->s.len });
        return out->s.ptr != NULL;
    }
}

static bool read_row(struct arena *a, sqlite3_stmt *stmt, struct sql_rows *rows,
                     size_t *cap)
{
    if (!arena_grow(a, &rows->cells, rows->count, cap, 1,
                    rows->columns * sizeof *rows->cells))
        return false;
    struct sql_value *row = rows->cells + rows->count++ * rows->columns;
    for (size_t i = 0; i < rows->columns; i++)
        if (!read_cell(a, stmt, (int)i, &row[i]))
            return false;
    return true;
}

static int step_all(struct sqlite *q, struct arena *a, sqlite3_stmt *stmt,
                    struct sql_rows *rows)
{
    size_t cap = 0;
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
        if (rows && !read_row(a, stmt, rows, &cap))
            return SQLITE_NOMEM;
    if (code == SQLITE_DONE && rows)
        rows->changed = sqlite3_changes(q->db);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static const allm_error *run_sqlite(struct sql *s, struct arena *a,
                                    const char *text, size_t count,
                                    const struct sql_value *params,
                                    struct sql_rows *rows)
{
    struct sqlite *q = sqlite_of(&s->backend);
    sqlite3_stmt *stmt = NULL;
    const allm_error *error = q->db ? NULL : sqlite_connect(q, a);
    if (error)
        return error;
    int code = prepare_statement(q, a, text, &stmt);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++)
        code = bind_value(stmt, (int)i + 1, &params[i]);
    if (rows)
        *rows = (struct sql_rows){
            .columns = stmt ? (size_t)sqlite3_column_count(stmt) : 0
        };
    if (code == SQLITE_OK)
        code = step_all(q, a, stmt, rows);
    if (code != SQLITE_OK)
        error = sqlite_error(q, a, code);
    sqlite3_reset(stmt);        /* the next run binds all again */
    return error;
}

const allm_error *sqlite_exec(struct sqlite *q, struct arena *a,
                              const char *text)
{
    int code = sqlite3_exec(q->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? NULL : sqlite_error(q, a, code);
}

/* ------------------------------------------------------- transactions --- */

static const allm_error *begin_sqlite(struct sql *s, struct arena *a)
{
    struct sqlite *q = sqlite_of(&s->backend);
    if (q->read_only)           /* SQLite would begin to read */
        return sqlite_error(q, a, SQLITE_READONLY);
    q->begins = true;
    q->busy_since_ns = 0;
    if (is_behind(q))
        sqlite_wait(q, 0);
    const allm_error *error = SQL_RUN(s, a, "BEGIN IMMEDIATE", NULL,
                                      sql_int(0));
    leave_front(q);
    return error;
}

static void undo_sqlite(struct sql *s)
{
    struct sqlite *q = sqlite_of(&s->backend);
    if (q->db && !sqlite3_get_autocommit(q->db))
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
}

static const allm_error *end_sqlite(struct sql *s, struct arena *a)
{
    const allm_error *error = SQL_RUN(s, a, "COMMIT", NULL, sql_int(0));
    if (error)
        undo_sqlite(s);
    return error;
}

const allm_error *sqlite_finish(struct sqlite *q, struct arena *a,
                                const allm_error *error)
{
    if (!error)
        return end_sqlite(&q->sql, a);
    undo_sqlite(&q->sql);
    return error;
}

const struct sql_driver sqlite_driver = {
    .run = run_sqlite,
    .begin = begin_sqlite,
    .end = end_sqlite,
    .undo = undo_sqlite,
    .is_held = sqlite_is_held,
};

/* Events for followers may be lost with the machine: they need no sync. */
void sqlite_set_sync(struct sqlite *q, bool on)
{
    if (q->db)
        sqlite3_exec(q->db,
                     on ? "PRAGMA synchronous = FULL"
                        : "PRAGMA synchronous = NORMAL",
                     NULL, NULL, NULL);
}

/* ------------------------------------------------------------- others --- */

const allm_error *sqlite_changed(struct backend *b, struct arena *a,
                                 uint64_t *version, bool *changed)
{
    struct sqlite *q = sqlite_of(b);
    const allm_error *error = q->db ? NULL : sqlite_connect(q, a);
    if (error)
        return error;
    int code = SQLITE_OK;
    if (!q->version)
        code = sqlite3_prepare_v2(q->db, "PRAGMA data_version", -1, &q->version,
                                  NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(q->version);
    if (code != SQLITE_ROW)
        return sqlite_error(q, a, code);
    /* what others wrote, and what we wrote ourselves */
    uint64_t now = (q->generation << 56) +
                   ((uint64_t)sqlite3_column_int64(q->version, 0) << 32) +
                   (uint32_t)sqlite3_total_changes(q->db);
    sqlite3_reset(q->version);
    *changed = now != *version;
    *version = now;
    return NULL;
}

/* A reader, or a writer, that has a transaction open keeps the WAL. */
static const allm_error *kept_error(struct sqlite *q, struct arena *a)
{
    long owner = sqlite_lock_owner(q->shm_path, SHM_WRITE, SHM_READ_LAST);
    char who[48] = "another handle of this process";
    if (owner)
        snprintf(who, sizeof who, "the process %ld", owner);
    return status_error(a, ALLM_ERR_STORE, "store_busy",
                        "the session is removed, but %s is reading the store, "
                        "so its bytes are still in %s; end that process and "
                        "remove any session, or close the store",
                        who, q->wal_path);
}

const allm_error *sqlite_shrink(struct sqlite *q, struct arena *a)
{
    const allm_error *error = sqlite_exec(q, a, "PRAGMA incremental_vacuum");
    if (error)
        return error;
    int code = sqlite3_wal_checkpoint_v2(q->db, NULL,
                                         SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                         NULL);
    if (code == SQLITE_OK)
        return NULL;
    return (code & 0xff) == SQLITE_BUSY ? kept_error(q, a)
                                        : sqlite_error(q, a, code);
}

/* After a commit, when the WAL has so many pages.  A failure does no harm: the
 * next commit tries again. */
int sqlite_trim_wal(void *ud, sqlite3 *db, const char *name, int pages)
{
    struct sqlite *q = ud;
    const int64_t most = q->busy_most_ns;
    (void)name;
    if (pages >= WAL_RESTART) {
        q->busy_most_ns = most < WAL_WAIT_NS ? most : WAL_WAIT_NS;
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_RESTART, NULL,
                                  NULL);
        q->busy_most_ns = most;
    } else if (pages >= WAL_COPY) {
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                  NULL);
    }
    return SQLITE_OK;
}

const allm_error *sqlite_check(struct backend *b, struct arena *a,
                               size_t *count, const char ***faults)
{
    struct sql_rows rows;
    const allm_error *error = SQL_RUN(sql_of(b), a, "PRAGMA integrity_check",
                                      &rows, sql_int(0));
    *count = 0;
    if (error)
        return error;
    *faults = arena_zero(a, (rows.count + 1) * sizeof **faults);
    for (size_t i = 0; *faults && i < rows.count; i++)
        if (!slice_is(rows.cells[i].s, "ok"))
            (*faults)[(*count)++] = rows.cells[i].s.ptr;
    return *faults ? NULL : status_nomem();
}
