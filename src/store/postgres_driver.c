/*
 * postgres_driver.c - the connection to PostgreSQL, statements and errors
 *
 * libpq is used by its asynchronous functions, so that every request has a
 * deadline.  Statements are unnamed and have parameters; nothing depends on
 * the session of the server, so a pooler in transaction mode may stand between.
 * Results come in binary form: integers as eight bytes, strings as they are.
 */
#include "store/postgres_parts.h"

#include "base/status.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum { CONNECT_MS = 10000, NS_PER_MS = 1000000 };

/* ------------------------------------------------------------- errors --- */

#define UNREACHABLE "store_unreachable"

/* What the server or libpq says, in one line. */
static const char *first_line(struct arena *a, const char *text)
{
    struct slice s = slice_of(text ? text : "");
    const char *line = arena_copy(a, slice_trim(slice_take(&s, '\n')));
    return line ? line : "";
}

static const allm_error *lost_connection(struct postgres *q, struct arena *a,
                                         const char *why)
{
    const allm_error *error = status_error(
        a, ALLM_ERR_STORE, UNREACHABLE,
        "the PostgreSQL server cannot be reached: %s; check the URI, or try "
        "again when it is back",
        why);
    postgres_disconnect(q);
    return error;
}

/* Errors of the server by their SQLSTATE; a prefix names a class. */
static const struct {
    const char *state, *reason, *advice;
} states[] = {
    { "40001", "store_busy", "it conflicts with another transaction; try "
                             "again" },
    { "40P01", "store_busy", "it conflicts with another transaction; try "
                             "again" },
    { "55P03", "store_busy", "a lock is held by another transaction; try "
                             "again" },
    { "57014", "store_busy", "it took too long; try again" },
    { "53", "store_full", "the server lacks disk space or memory" },
    { "25006", "store_read_only", "the server is a standby; use the primary" },
    { "42501", "store_needs_migration", "this role may not create or change "
               "the tables; let an owner run the SQL that \"allm sessions "
               "schema\" prints" },
    { "57P", UNREACHABLE, "the server is shutting down or starting; try "
                          "again" },
    { "08", UNREACHABLE, "the connection broke; try again" },
    { "28", UNREACHABLE, "check the user name and the password" },
    { "3D000", UNREACHABLE, "create the database first" },
    { "XX001", "store_damaged", "restore it from a backup" },
};

static const allm_error *server_error(struct postgres *q, struct arena *a,
                                      const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = first_line(a, PQresultErrorMessage(result));
    for (size_t i = 0; state && i < sizeof states / sizeof *states; i++)
        if (!strncmp(state, states[i].state, strlen(states[i].state)))
            return status_error(a, ALLM_ERR_STORE, states[i].reason, "%s: %s",
                                text, states[i].advice);
    if (!state || PQstatus(q->conn) == CONNECTION_BAD)
        return lost_connection(q, a, text);
    return status_error(a, ALLM_ERR_STORE, UNREACHABLE,
                        "%s (SQLSTATE %s); this is a defect, please report it",
                        text, state);
}

bool postgres_is_transient(const allm_error *error)
{
    return error && (!strcmp(error->reason, UNREACHABLE) ||
                     !strcmp(error->reason, "store_busy"));
}

/* ------------------------------------------------------------ waiting --- */

/* Wait for the socket until the deadline; false: it has passed. */
static bool wait_socket(const struct postgres *q, bool write, int64_t end_ns)
{
    for (;;) {
        int64_t left = end_ns - clock_now_ns(clock_real());
        struct pollfd fd = { PQsocket(q->conn),
                             (short)(write ? POLLIN | POLLOUT : POLLIN), 0 };
        if (left <= 0 || fd.fd < 0)
            return false;
        int n = poll(&fd, 1, (int)(left / NS_PER_MS) + 1);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

static int64_t deadline_of(const struct postgres *q)
{
    return clock_after(clock_now_ns(clock_real()), q->sql.opts.busy_ms);
}

/* --------------------------------------------------------- connecting --- */

void postgres_disconnect(struct postgres *q)
{
    PQfinish(q->conn);
    q->conn = NULL;
    q->asked = false;
}

/* The server's notices are not for our caller's standard error. */
static void ignore_notice(void *ud, const PGresult *notice)
{
    (void)ud;
    (void)notice;
}

const allm_error *postgres_connect(struct postgres *q, struct arena *a)
{
    int64_t end = clock_after(clock_now_ns(clock_real()), CONNECT_MS);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    postgres_disconnect(q);
    q->conn = PQconnectStart(q->uri);
    if (!q->conn)
        return status_nomem();
    PQsetNoticeReceiver(q->conn, ignore_notice, NULL);
    if (PQstatus(q->conn) == CONNECTION_BAD)
        return lost_connection(q, a, first_line(a, PQerrorMessage(q->conn)));
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        if (!wait_socket(q, state == PGRES_POLLING_WRITING, end))
            return lost_connection(q, a, "it did not answer in time");
        state = PQconnectPoll(q->conn);
    }
    if (state == PGRES_POLLING_FAILED)
        return lost_connection(q, a, first_line(a, PQerrorMessage(q->conn)));
    PQsetnonblocking(q->conn, 1);
    return NULL;
}

/* ------------------------------------------------------ notifications --- */

/*
 * Listening only shortens the wait, so its failure is no error.  Behind a
 * pooler the backend is another one than the connection says: it is shared,
 * and notifications would not come.  Such a store looks once a second.
 */
static void listen_to(struct postgres *q, struct arena *a)
{
    struct sql *s = &q->sql;
    struct sql_rows rows = { 0 };
    q->asked = true;
    if (SQL_RUN(s, a, "SELECT pg_backend_pid()", &rows, sql_int(0)) ||
        !q->conn || rows.cells[0].n != PQbackendPID(q->conn))
        return;
    SQL_RUN(s, a, "LISTEN allm", NULL, sql_int(0));
}

int postgres_socket(struct backend *b)
{
    struct postgres *q = postgres_of(b);
    struct arena a = arena_in(q->sql.opts.mem);
    if (q->conn && !q->asked)
        listen_to(q, &a);
    arena_release(&a);
    return q->conn ? PQsocket(q->conn) : -1;
}

bool postgres_hear(struct backend *b, bool readable)
{
    struct postgres *q = postgres_of(b);
    bool heard = false;
    if (q->conn && readable && !PQconsumeInput(q->conn))
        postgres_disconnect(q);
    for (PGnotify *n; q->conn && (n = PQnotifies(q->conn));) {
        heard = heard || n->be_pid != PQbackendPID(q->conn);
        PQfreemem(n);
    }
    return heard;
}

/* Without a sync, and not in the transaction that it is about: the server lets
 * only one transaction at a time commit a notification. */
static void notify_postgres(struct sql *s, struct arena *a)
{
    SQL_RUN(s, a,
            "SELECT set_config('synchronous_commit', 'off', true), "
            "pg_notify('allm', '')",
            NULL, sql_int(0));
}

/* --------------------------------------------------------- statements --- */

/* "$now" as PostgreSQL has it. */
static const struct slice now_text =
    SLICE_INIT("CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)");

struct parameters {
    const char *values[SQL_MOST_PARAMS];
    int lengths[SQL_MOST_PARAMS];
    int formats[SQL_MOST_PARAMS];
};

static bool fill_parameter(struct arena *a, struct parameters *p, size_t i,
                           const struct sql_value *v)
{
    struct buf text;
    p->lengths[i] = (int)v->s.len;
    p->formats[i] = v->kind == SQL_BYTES;
    switch (v->kind) {
    case SQL_NULL:
        p->values[i] = NULL;
        return true;
    case SQL_INT:
        buf_init(&text, a, 32);
        buf_int(&text, v->n);
        p->values[i] = text.ptr;
        return !text.broken;
    case SQL_BYTES:
        p->values[i] = v->s.ptr ? v->s.ptr : "";
        return true;
    default:                    /* a string needs its NUL */
        p->values[i] = arena_copy(a, v->s);
        return p->values[i] != NULL;
    }
}

/* Send everything; false: the connection is gone, or it takes too long. */
static bool flush_request(const struct postgres *q, int64_t end)
{
    int left;
    while ((left = PQflush(q->conn)) == 1) {
        if (!wait_socket(q, true, end) || !PQconsumeInput(q->conn))
            return false;
    }
    return left == 0;
}

static bool await_result(const struct postgres *q, int64_t end)
{
    while (PQisBusy(q->conn))
        if (!wait_socket(q, false, end) || !PQconsumeInput(q->conn))
            return false;
    return true;
}

/* The result of the request that was sent; NULL and *error. */
static PGresult *take_result(struct postgres *q, struct arena *a, int64_t end,
                             const allm_error **error)
{
    PGresult *last = NULL;
    for (;;) {
        if (!await_result(q, end)) {
            PQclear(last);
            *error = lost_connection(q, a, "it did not answer in time");
            return NULL;
        }
        PGresult *next = PQgetResult(q->conn);
        if (!next)
            break;
        PQclear(last);
        last = next;
    }
    ExecStatusType status = PQresultStatus(last);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return last;
    *error = server_error(q, a, last);
    PQclear(last);
    return NULL;
}

static int64_t read_number(const unsigned char *bytes, int len)
{
    uint64_t n = 0;
    if (len == 1)
        return bytes[0];        /* a boolean */
    for (int i = 0; i < len && i < 8; i++)
        n = n << 8 | bytes[i];
    return len == 4 ? (int32_t)n : (int64_t)n;
}

/* bool, int8, int4: the types of ours that are numbers. */
static bool is_number(Oid type)
{
    return type == 16 || type == 20 || type == 23;
}

static bool read_cells(struct arena *a, const PGresult *r,
                       struct sql_rows *rows)
{
    rows->count = (size_t)PQntuples(r);
    rows->columns = (size_t)PQnfields(r);
    rows->cells =
        arena_zero(a, (rows->count * rows->columns + 1) * sizeof *rows->cells);
    for (size_t i = 0; rows->cells && i < rows->count * rows->columns; i++) {
        int row = (int)(i / rows->columns), column = (int)(i % rows->columns);
        const char *bytes = PQgetvalue(r, row, column);
        int len = PQgetlength(r, row, column);
        if (PQgetisnull(r, row, column))
            continue;
        if (is_number(PQftype(r, column))) {
            rows->cells[i] =
                sql_int(read_number((const unsigned char *)bytes, len));
        } else {
            rows->cells[i].kind = SQL_TEXT;
            rows->cells[i].s.len = (size_t)len;
            rows->cells[i].s.ptr =
                arena_copy(a, (struct slice){ bytes, (size_t)len });
        }
    }
    return rows->cells && !a->broken;
}

static const allm_error *run_postgres(struct sql *s, struct arena *a,
                                      const char *text, size_t count,
                                      const struct sql_value *params,
                                      struct sql_rows *rows)
{
    struct postgres *q = postgres_of(&s->backend);
    struct parameters p;
    const allm_error *error = q->conn ? NULL : postgres_connect(q, a);
    const char *full = sql_expand(a, text, now_text);
    if (error)
        return error;
    if (!full)
        return status_nomem();
    if (!strchr(full, '$'))
        count = 0;              /* such as BEGIN */
    for (size_t i = 0; i < count; i++)
        if (!fill_parameter(a, &p, i, &params[i]))
            return status_nomem();
    int64_t end = deadline_of(q);
    if (!PQsendQueryParams(q->conn, full, (int)count, NULL, p.values, p.lengths,
                           p.formats, 1) ||
        !flush_request(q, end))
        return lost_connection(q, a, first_line(a, PQerrorMessage(q->conn)));
    PGresult *result = take_result(q, a, end, &error);
    if (!result)
        return error;
    if (rows) {
        *rows = (struct sql_rows){ .changed = strtoll(PQcmdTuples(result), NULL,
                                                      10) };
        if (!read_cells(a, result, rows))
            error = status_nomem();
    }
    PQclear(result);
    return error;
}

/* ------------------------------------------------------- transactions --- */

static void undo_postgres(struct sql *s)
{
    struct postgres *q = postgres_of(&s->backend);
    if (!q->conn)
        return;
    struct arena a = arena_in(s->opts.mem);
    if (SQL_RUN(s, &a, "ROLLBACK", NULL, sql_int(0)))
        postgres_disconnect(q);
    arena_release(&a);
}

/* What is reported as written is written, also where the server's
 * synchronous_commit is off. */
static const allm_error *begin_postgres(struct sql *s, struct arena *a)
{
    const allm_error *error = SQL_RUN(s, a, "BEGIN", NULL, sql_int(0));
    if (error)
        return error;
    error = SQL_RUN(s, a,
                    "SELECT set_config('synchronous_commit', 'on', true) "
                    "WHERE current_setting('synchronous_commit') = 'off'",
                    NULL, sql_int(0));
    if (error)
        undo_postgres(s);
    return error;
}

static const allm_error *end_postgres(struct sql *s, struct arena *a)
{
    return SQL_RUN(s, a, "COMMIT", NULL, sql_int(0));
}

/* By the server's clock. */
static bool is_held_postgres(struct sql *s, const struct backend_row *row,
                             int64_t now)
{
    (void)s;
    return row->until > now;
}

const struct sql_driver postgres_driver = {
    .run = run_postgres,
    .begin = begin_postgres,
    .end = end_postgres,
    .undo = undo_postgres,
    .notify = notify_postgres,
    .is_held = is_held_postgres,
};
