/* sql.c - statements that SQLite and PostgreSQL share */
#include "store/sql.h"

#include "base/buf.h"
#include "base/status.h"

#include <stdlib.h>

/* -------------------------------------------------------------- cells --- */

static const struct sql_value *cell(const struct sql_rows *rows, size_t row,
                                    size_t column)
{
    return &rows->cells[row * rows->columns + column];
}

static uint64_t number_at(const struct sql_rows *rows, size_t row,
                          size_t column)
{
    int64_t n = cell(rows, row, column)->n;
    return n > 0 ? (uint64_t)n : 0;
}

static int64_t time_at(const struct sql_rows *rows, size_t row, size_t column)
{
    return cell(rows, row, column)->n;
}

static const char *text_at(const struct sql_rows *rows, size_t row,
                           size_t column)
{
    const struct sql_value *v = cell(rows, row, column);
    return v->kind == SQL_NULL ? NULL : v->s.ptr;
}

/* Never NULL, for columns that are not. */
static const char *word_at(const struct sql_rows *rows, size_t row,
                           size_t column)
{
    const char *text = text_at(rows, row, column);
    return text ? text : "";
}

void sql_read_row(struct sql *q, const struct sql_rows *rows, size_t i,
                  struct backend_row *out)
{
    *out = (struct backend_row){
        .id = cell(rows, i, 0)->n,
        .name = word_at(rows, i, 1),
        .uid = word_at(rows, i, 2),
        .head = number_at(rows, i, 3),
        .sum = word_at(rows, i, 4),
        .epoch = number_at(rows, i, 5),
        .holder = text_at(rows, i, 6),
        .taken = time_at(rows, i, 7),
        .until = time_at(rows, i, 8),
        .open = number_at(rows, i, 9),
        .queue = text_at(rows, i, 10),
        .due = time_at(rows, i, 11),
        .tries = (uint32_t)number_at(rows, i, 12),
        .cancel = number_at(rows, i, 13),
        .waits = text_at(rows, i, 14),
        .status = word_at(rows, i, 15),
        .title = text_at(rows, i, 16),
        .model = text_at(rows, i, 17),
        .messages = number_at(rows, i, 18),
        .state = cell(rows, i, 19)->s,
        .created = time_at(rows, i, 20),
        .changed = time_at(rows, i, 21),
    };
    out->held = q->driver->is_held(q, out, time_at(rows, i, 22));
}

const char *sql_expand(struct arena *a, const char *text, struct slice now)
{
    struct buf out = buf_in(a, 1024 * 1024);
    for (const char *at = strstr(text, "$now"); at; at = strstr(text, "$now")) {
        buf_add(&out, (struct slice){ text, (size_t)(at - text) });
        buf_add(&out, now);
        text = at + strlen("$now");
    }
    buf_text(&out, text);
    return out.broken ? NULL : out.ptr;
}

/* ------------------------------------------------------------ reading --- */

const allm_error *sql_find(struct backend *b, struct arena *a, const char *name,
                           bool with_empty, struct backend_row *row,
                           bool *found)
{
    struct sql *q = sql_of(b);
    struct sql_rows rows;
    const allm_error *error =
        SQL_RUN(q, a, "SELECT " SQL_ROW " FROM allm_session WHERE name = $1",
                &rows, sql_text(name));
    *row = (struct backend_row){ 0 };
    *found = false;
    if (error || !rows.count)
        return error;
    sql_read_row(q, &rows, 0, row);
    *found = row->head || with_empty;
    if (!*found)
        row->id = 0;
    return NULL;
}

const allm_error *sql_messages(struct backend *b, struct arena *a, int64_t id,
                               struct backend_range range, size_t *count,
                               struct backend_message **out)
{
    struct sql *q = sql_of(b);
    struct sql_rows rows;
    struct sql_value from = sql_int((int64_t)range.from);
    struct sql_value to = sql_int(range.to ? (int64_t)range.to : INT64_MAX);
    const allm_error *error =
        range.at
            ? SQL_RUN(q, a,
                      "SELECT n, body, hash, since FROM allm_message WHERE "
                      "session = $1 AND n >= $2 AND n < $3 AND since <= $4 AND "
                      "(until IS NULL OR until > $4) ORDER BY n",
                      &rows, sql_int(id), from, to, sql_int((int64_t)range.at))
            : SQL_RUN(q, a,
                      "SELECT n, body, hash, since FROM allm_message WHERE "
                      "session = $1 AND n >= $2 AND n < $3 AND until IS NULL "
                      "ORDER BY n",
                      &rows, sql_int(id), from, to);
    *count = 0;
    if (error)
        return error;
    *out = arena_zero(a, (rows.count + 1) * sizeof **out);
    for (size_t i = 0; *out && i < rows.count; i++)
        (*out)[(*count)++] = (struct backend_message){
            number_at(&rows, i, 0), cell(&rows, i, 1)->s, word_at(&rows, i, 2),
            number_at(&rows, i, 3)
        };
    return *out ? NULL : status_nomem();
}

const allm_error *sql_records(struct backend *b, struct arena *a, int64_t id,
                              uint64_t from, size_t limit, size_t *count,
                              struct backend_record **out)
{
    struct sql *q = sql_of(b);
    struct sql_rows rows;
    const allm_error *error = SQL_RUN(
        q, a,
        "SELECT seq, type, body, sum FROM allm_record WHERE session = $1 "
        "AND seq >= $2 ORDER BY seq LIMIT $3",
        &rows, sql_int(id), sql_int((int64_t)from),
        sql_int(limit ? (int64_t)limit : INT64_MAX));
    *count = 0;
    if (error)
        return error;
    *out = arena_zero(a, (rows.count + 1) * sizeof **out);
    for (size_t i = 0; *out && i < rows.count; i++)
        (*out)[(*count)++] = (struct backend_record){
            number_at(&rows, i, 0), word_at(&rows, i, 1), cell(&rows, i, 2)->s,
            word_at(&rows, i, 3)
        };
    return *out ? NULL : status_nomem();
}

const allm_error *sql_blobs(struct backend *b, struct arena *a, int64_t id,
                            size_t count, struct backend_blob *blobs)
{
    struct sql *q = sql_of(b);
    const allm_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++) {
        struct sql_rows rows = { 0 };
        error = SQL_RUN(q, a,
                        "SELECT bytes FROM allm_blob WHERE session = $1 "
                        "AND hash = $2",
                        &rows, sql_int(id), sql_text(blobs[i].hash));
        blobs[i].bytes = !error && rows.count ? cell(&rows, 0, 0)->s
                                              : (struct slice){ NULL, 0 };
    }
    return error;
}

/* Parameters that are NULL select everything. */
static const char list_text[] =
    "SELECT " SQL_ROW " FROM allm_session WHERE head > 0 "
    "AND (CAST($1 AS text) IS NULL OR status = $1) "
    "AND (CAST($2 AS text) IS NULL OR waits = $2) "
    "AND (CAST($3 AS text) IS NULL OR queue = $3) "
    "AND changed <= $now - $4 "
    "AND (CAST($5 AS text) IS NULL OR (changed, id) < "
    "(SELECT changed, id FROM allm_session WHERE name = $5)) "
    "ORDER BY changed DESC, id DESC LIMIT $6";

const allm_error *sql_list(struct backend *b, struct arena *a,
                           const allm_store_query *query, size_t limit,
                           size_t *count, struct backend_row **out)
{
    struct sql *q = sql_of(b);
    struct sql_rows rows;
    /* a clock that was set back must not hide sessions */
    int64_t older = query->older_ms ? (int64_t)query->older_ms
                                    : -(INT64_C(1) << 50);
    const allm_error *error =
        SQL_RUN(q, a, list_text, &rows, sql_text(query->status),
                sql_text(query->waits), sql_text(query->queue), sql_int(older),
                sql_text(query->after), sql_int((int64_t)limit));
    *count = 0;
    if (error)
        return error;
    *out = arena_zero(a, (rows.count + 1) * sizeof **out);
    for (size_t i = 0; *out && i < rows.count; i++)
        sql_read_row(q, &rows, i, &(*out)[(*count)++]);
    return *out ? NULL : status_nomem();
}

/* ----------------------------------------------------------- removing --- */

/* The row of allm_meta with the first record that is left. */
#define PRUNED "'pruned/' || CAST($1 AS text)"

const allm_error *sql_delete(struct sql *q, struct arena *a, int64_t id)
{
    static const char pruned[] = "DELETE FROM allm_meta WHERE key = " PRUNED;
    static const char *const texts[] = {
        "DELETE FROM allm_record WHERE session = $1",
        "DELETE FROM allm_message WHERE session = $1",
        "DELETE FROM allm_blob WHERE session = $1",
        "DELETE FROM allm_live WHERE session = $1",
        "DELETE FROM allm_inbox WHERE session = $1",
        pruned,
        "DELETE FROM allm_session WHERE id = $1",
    };
    const allm_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof texts / sizeof *texts; i++)
        error = SQL_RUN(q, a, texts[i], NULL, sql_int(id));
    return error;
}

const allm_error *sql_first(struct backend *b, struct arena *a, int64_t id,
                            uint64_t *seq)
{
    struct sql_rows rows = { 0 };
    const allm_error *error =
        SQL_RUN(sql_of(b), a,
                "SELECT CAST(value AS bigint) FROM allm_meta "
                "WHERE key = " PRUNED,
                &rows, sql_int(id));
    *seq = !error && rows.count ? number_at(&rows, 0, 0) : 1;
    return error;
}

/* Inside a transaction: what is before this record goes. */
static const allm_error *cut_log(struct sql *q, struct arena *a, int64_t id,
                                 int64_t first)
{
    static const char *const texts[] = {
        "DELETE FROM allm_record WHERE session = $1 AND seq < $2",
        "DELETE FROM allm_message WHERE session = $1 AND until <= $2",
        "DELETE FROM allm_blob WHERE session = $1 AND $2 > 0 AND NOT EXISTS "
        "(SELECT 1 FROM allm_record r WHERE r.session = $1 "
        "AND r.body LIKE '%' || allm_blob.hash || '%') AND NOT EXISTS "
        "(SELECT 1 FROM allm_message m WHERE m.session = $1 "
        "AND m.body LIKE '%' || allm_blob.hash || '%')",
        "INSERT INTO allm_meta (key, value) VALUES (" PRUNED
        ", CAST($2 AS text)) ON CONFLICT (key) DO UPDATE "
        "SET value = excluded.value",
    };
    const allm_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof texts / sizeof *texts; i++)
        error = SQL_RUN(q, a, texts[i], NULL, sql_int(id), sql_int(first));
    return error;
}

/* The record before which nothing is needed; 0: nothing can be removed. */
static const allm_error *find_needed(struct sql *q, struct arena *a, int64_t id,
                                     int64_t *needed)
{
    struct sql_rows rows = { 0 };
    uint64_t first = 1;
    const allm_error *error = sql_first(&q->backend, a, id, &first);
    if (!error)
        error = SQL_RUN(q, a,
                        "SELECT max(seq) - 1 FROM allm_record WHERE "
                        "session = $1 AND type IN ('created', 'change', 'end') "
                        "AND EXISTS (SELECT 1 FROM allm_session "
                        "WHERE id = $1 AND open = 0)",
                        &rows, sql_int(id));
    uint64_t last = !error && rows.count ? number_at(&rows, 0, 0) : 0;
    *needed = last > first ? (int64_t)last : 0;
    return error;
}

const allm_error *sql_prune(struct backend *b, struct arena *a, int64_t id,
                            bool looks, bool *removed)
{
    struct sql *q = sql_of(b);
    int64_t needed = 0;
    const allm_error *error = looks ? NULL : q->driver->begin(q, a);
    *removed = false;
    if (error)
        return error;
    error = find_needed(q, a, id, &needed);
    if (!error && needed && !looks)
        error = cut_log(q, a, id, needed);
    if (!looks && (error || !needed))
        q->driver->undo(q);
    else if (!looks)
        error = q->driver->end(q, a);
    *removed = !error && needed;
    return error;
}

/* ------------------------------------------------ news for the holder --- */

/* Inside a transaction.  The row comes first: whoever has changed it puts the
 * next message into the inbox, so messages appear in the order of their ids.
 * `due` always changes, which tells an append that waits for the row. */
static const allm_error *put_message(struct sql *q, struct arena *a,
                                     const char *name, const char *uid,
                                     struct slice body, const char *queue)
{
    const allm_error *error =
        SQL_RUN(q, a,
                "INSERT INTO allm_session (name, uid, queue, due, created, "
                "changed) VALUES ($1, $2, $3, $now, $now, $now) "
                "ON CONFLICT (name) DO UPDATE SET "
                "queue = COALESCE(excluded.queue, allm_session.queue), "
                "due = COALESCE(allm_session.due - 1, excluded.due)",
                NULL, sql_text(name), sql_text(uid), sql_text(queue));
    if (!error)
        error = SQL_RUN(q, a,
                        "INSERT INTO allm_inbox (session, at, body) "
                        "SELECT id, $now, $2 FROM allm_session WHERE name = $1",
                        NULL, sql_text(name), sql_slice(body));
    return error;
}

const allm_error *sql_send(struct backend *b, struct arena *a, const char *name,
                           const char *uid, struct slice body,
                           const char *queue)
{
    struct sql *q = sql_of(b);
    const allm_error *error = q->driver->begin(q, a);
    if (error)
        return error;
    error = put_message(q, a, name, uid, body, queue);
    if (error) {
        q->driver->undo(q);
        return error;
    }
    error = q->driver->end(q, a);
    if (!error && q->driver->notify)
        q->driver->notify(q, a);
    return error;
}

const allm_error *sql_inbox(struct backend *b, struct arena *a, int64_t id,
                            size_t *count, struct backend_sent **out)
{
    struct sql_rows rows;
    const allm_error *error = SQL_RUN(
        sql_of(b), a,
        "SELECT id, body FROM allm_inbox WHERE session = $1 ORDER BY id", &rows,
        sql_int(id));
    *count = 0;
    if (error)
        return error;
    *out = arena_zero(a, (rows.count + 1) * sizeof **out);
    for (size_t i = 0; *out && i < rows.count; i++)
        (*out)[(*count)++] = (struct backend_sent){ cell(&rows, i, 0)->n,
                                                    cell(&rows, i, 1)->s };
    return *out ? NULL : status_nomem();
}

const allm_error *sql_cancel(struct backend *b, struct arena *a,
                             const char *name, bool *found, bool *held)
{
    struct sql *q = sql_of(b);
    struct backend_row row;
    const allm_error *error = sql_find(b, a, name, false, &row, found);
    *held = false;
    if (error || !*found)
        return error;
    error = SQL_RUN(q, a,
                    "UPDATE allm_session SET cancel = open WHERE id = $1 "
                    "AND open > 0",
                    NULL, sql_int(row.id));
    *held = row.held;
    if (!error && q->driver->notify)
        q->driver->notify(q, a);
    return error;
}

static int order_watch(const void *x, const void *y)
{
    const struct backend_watch *a = x, *b = y;
    return a->id < b->id ? -1 : a->id > b->id;
}

struct backend_watch *sql_find_watch(size_t count, struct backend_watch *list,
                                     int64_t id)
{
    struct backend_watch key = { .id = id };
    return count ? bsearch(&key, list, count, sizeof key, order_watch) : NULL;
}

const allm_error *sql_live(struct backend *b, struct arena *a, int64_t id,
                           uint64_t op, uint64_t from, size_t *count,
                           struct backend_live **out)
{
    struct sql_rows rows;
    const allm_error *error =
        SQL_RUN(sql_of(b), a,
                "SELECT op, n, count, body FROM allm_live WHERE session = $1 "
                "AND op = $2 AND n + count > $3 AND n >= COALESCE((SELECT "
                "max(n) FROM allm_live WHERE session = $1 AND op = $2 "
                "AND n <= $3), 0) ORDER BY n",
                &rows, sql_int(id), sql_int((int64_t)op),
                sql_int((int64_t)from));
    *count = 0;
    if (error)
        return error;
    *out = arena_zero(a, (rows.count + 1) * sizeof **out);
    for (size_t i = 0; *out && i < rows.count; i++)
        (*out)[(*count)++] =
            (struct backend_live){
            .op = number_at(&rows, i, 0), .n = number_at(&rows, i, 1),
            .count = number_at(&rows, i, 2), .body = cell(&rows, i, 3)->s
        };
    return *out ? NULL : status_nomem();
}
