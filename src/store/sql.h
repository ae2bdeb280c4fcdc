/*
 * sql.h - statements that SQLite and PostgreSQL share
 *
 * A driver runs one statement with parameters $1, $2 ... and returns its rows.
 * What is the same for both databases is in sql.c; each driver adds how it
 * opens, locks, appends and commits.
 */
#pragma once

#include "store/backend.h"

enum sql_kind { SQL_NULL, SQL_INT, SQL_TEXT, SQL_BYTES };

struct sql_value {
    enum sql_kind kind;
    int64_t n;
    struct slice s;             /* TEXT is followed by a NUL in results */
};

struct sql_rows {
    size_t count, columns;
    struct sql_value *cells;    /* row after row, in the arena */
    int64_t changed;            /* rows that the statement changed */
};

enum { SQL_MOST_PARAMS = 64 };

struct sql;

struct sql_driver {
    /* Run a statement; in text, "$now" stands for the time in milliseconds.
     * The text is a literal: it is the key of a cache. */
    const allm_error *(*run)(struct sql *q, struct arena *a, const char *text,
                             size_t count, const struct sql_value *params,
                             struct sql_rows *rows);
    /* A transaction that writes. */
    const allm_error *(*begin)(struct sql *q, struct arena *a);
    const allm_error *(*end)(struct sql *q, struct arena *a);
    void (*undo)(struct sql *q);
    /* Tell other processes to look at the store; NULL: they find out. */
    void (*notify)(struct sql *q, struct arena *a);
    /* Is the session held by anyone at this moment? */
    bool (*is_held)(struct sql *q, const struct backend_row *row, int64_t now);
};

struct sql {
    struct backend backend;
    const struct sql_driver *driver;
    struct backend_opts opts;
};

static inline struct sql *sql_of(struct backend *b)
{
    return (struct sql *)b;
}

static inline struct sql_value sql_int(int64_t n)
{
    return (struct sql_value){ .kind = SQL_INT, .n = n };
}

static inline struct sql_value sql_text(const char *text)
{
    return (struct sql_value){ .kind = text ? SQL_TEXT : SQL_NULL,
                               .s = slice_of(text) };
}

static inline struct sql_value sql_slice(struct slice s)
{
    return (struct sql_value){ .kind = s.ptr ? SQL_TEXT : SQL_NULL, .s = s };
}

static inline struct sql_value sql_bytes(struct slice s)
{
    return (struct sql_value){ .kind = SQL_BYTES, .s = s };
}

/* The columns of a row, in the order that sql_read_row() expects. */
#define SQL_ROW \
    "id, name, uid, head, sum, epoch, holder, taken, until, open, queue, " \
    "due, tries, cancel, waits, status, title, model, messages, state, " \
    "created, changed, $now"

/* Read row i; `held` is asked of the driver. */
void sql_read_row(struct sql *q, const struct sql_rows *rows, size_t i,
                  struct backend_row *out);

/* The text with this instead of each "$now"; NULL: out of memory. */
const char *sql_expand(struct arena *a, const char *text, struct slice now);

/* Run a statement that has these parameters. */
#define SQL_RUN(q, a, text, rows, ...)                                        \
    (q)->driver->run((q), (a), (text),                                        \
                     sizeof((struct sql_value[]){ __VA_ARGS__ }) /            \
                         sizeof(struct sql_value),                            \
                     (struct sql_value[]){ __VA_ARGS__ }, (rows))

/* What both backends put into their tables of functions. */
const allm_error *sql_find(struct backend *b, struct arena *a, const char *name,
                           bool with_empty, struct backend_row *row,
                           bool *found);
const allm_error *sql_messages(struct backend *b, struct arena *a, int64_t id,
                               struct backend_range range, size_t *count,
                               struct backend_message **out);
const allm_error *sql_records(struct backend *b, struct arena *a, int64_t id,
                              uint64_t from, size_t limit, size_t *count,
                              struct backend_record **out);
const allm_error *sql_blobs(struct backend *b, struct arena *a, int64_t id,
                            size_t count, struct backend_blob *blobs);
const allm_error *sql_list(struct backend *b, struct arena *a,
                           const allm_store_query *query, size_t limit,
                           size_t *count, struct backend_row **out);
const allm_error *sql_prune(struct backend *b, struct arena *a, int64_t id,
                            bool looks, bool *removed);
const allm_error *sql_first(struct backend *b, struct arena *a, int64_t id,
                            uint64_t *seq);
const allm_error *sql_send(struct backend *b, struct arena *a, const char *name,
                           const char *uid, struct slice body,
                           const char *queue);
const allm_error *sql_inbox(struct backend *b, struct arena *a, int64_t id,
                            size_t *count, struct backend_sent **out);
const allm_error *sql_cancel(struct backend *b, struct arena *a,
                             const char *name, bool *found, bool *held);
const allm_error *sql_live(struct backend *b, struct arena *a, int64_t id,
                           uint64_t op, uint64_t from, size_t *count,
                           struct backend_live **out);

/* The number of the next row of allm_live; that of the first one. */
#define SQL_NEXT_LIVE(SESSION, OP, FIRST)                                     \
    "COALESCE((SELECT v.n + v.count FROM allm_live v WHERE v.session = "      \
    SESSION " AND v.op = " OP " ORDER BY v.n DESC LIMIT 1), " FIRST ")"

/* The entry of a session in a list that is in the order of ids; or NULL. */
struct backend_watch *sql_find_watch(size_t count, struct backend_watch *list,
                                     int64_t id);

/* All rows of a session go.  Inside a transaction. */
const allm_error *sql_delete(struct sql *q, struct arena *a, int64_t id);

/* The tables (schema.c), and their version. */
enum { SCHEMA_VERSION = 1 };
extern const char schema_sqlite[], schema_postgres[];
