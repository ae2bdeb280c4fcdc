/*
 * bench_postgres.c - an append to PostgreSQL beside a bare statement
 *
 * Both write the same bytes on a connection of their own to a server that this
 * program starts: a row is updated, a record and a message are inserted, all in
 * one statement and one round trip.  The server syncs each commit.
 */
#include "store/store.h"

#include "measure.h"

#include <stdio.h>
#include <string.h>

#if ALLM_POSTGRES
#include "harness/database.h"

#include <libpq-fe.h>

enum { RUNS = 1000 };

static const char message[] =
    "{\"__type__\":\"ALLM.Message\",\"data\":{\"role\":\"assistant\","
    "\"content\":"
    "\"Here is the answer to your question, which is neither short nor long, "
    "because most answers are like that; it has some more words in order to be "
    "about as long as a usual sentence in a chat with a model.\",\"metadata\":"
    "{}}}";
static const char state[] = "{\"status\":\"idle\",\"metadata\":{}}";

static void give_up(const char *what, const char *why)
{
    printf("failed: %s: %s\n", what, why ? why : "");
    exit(1);
}

static void run_bare(PGconn *c, const char *text, int count,
                     const char *const *values)
{
    PGresult *r = PQexecParams(c, text, count, NULL, values, NULL, NULL, 1);
    if (PQresultStatus(r) != PGRES_COMMAND_OK &&
        PQresultStatus(r) != PGRES_TUPLES_OK)
        give_up("statement", PQerrorMessage(c));
    PQclear(r);
}

static PGconn *open_bare(const char *uri)
{
    static const char *const tables[] = {
        "CREATE TABLE s (id bigint PRIMARY KEY, head bigint, sum text, "
        "state text)",
        "CREATE TABLE r (id bigserial PRIMARY KEY, session bigint, seq bigint, "
        "type text, body text, sum text, UNIQUE (session, seq))",
        "CREATE TABLE m (id bigserial PRIMARY KEY, session bigint, n bigint, "
        "since bigint, body text, hash text, UNIQUE (session, n, since))",
        "INSERT INTO s VALUES (1, 0, '', '')",
    };
    PGconn *c = PQconnectdb(uri);
    if (PQstatus(c) != CONNECTION_OK)
        give_up("connect", PQerrorMessage(c));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        run_bare(c, tables[i], 0, NULL);
    return c;
}

static void write_bare(PGconn *c, unsigned n)
{
    static const char text[] =
        "WITH u AS (UPDATE s SET head = CAST($1 AS bigint), sum = $2, "
        "state = $3 WHERE id = 1 RETURNING id), i AS (INSERT INTO r (session, "
        "seq, type, body, sum) SELECT id, CAST($1 AS bigint), 'change', $4, $2 "
        "FROM u) INSERT INTO m (session, n, since, body, hash) "
        "SELECT id, CAST($1 AS bigint), CAST($1 AS bigint), $5, $6 FROM u";
    static char record[181];
    char number[16];
    const char *values[] = {
        number, "0123456789abcdef0123456789abcdef", state, record, message,
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    };
    memset(record, 'r', 180);
    snprintf(number, sizeof number, "%u", n);
    run_bare(c, text, 6, values);
}

static void write_ours(struct store_session *t, uint64_t n)
{
    struct buf body;
    const allm_error *error = NULL;
    struct store_append *p = store_append_new(t);
    buf_init(&body, store_append_arena(p), SIZE_MAX / 2);
    buf_text(&body, message);
    store_append_open(p, "change", NULL);
    store_append_thread(p, false, n, 1, &body);
    store_append_close(p);
    store_append_columns(p)->status = "idle";
    store_append_columns(p)->state = slice_of(state);
    store_append_submit(p);
    if (store_append_wait(p, &error))
        give_up("append", error ? error->message : NULL);
    store_append_free(p);
}

static void compare_appends(const char *uri)
{
    static int64_t bare[RUNS], ours[RUNS];
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    arena_init(&a, mem_default());
    allm_store *s = allm_store_open(uri, NULL);
    const allm_error *error = store_session_open(s, &a, "bench",
                                                 ALLM_SESSION_CREATE, &l, &t);
    if (error)
        give_up("open", error->message);
    PGconn *c = open_bare(uri);
    for (unsigned i = 0; i < RUNS; i++) {
        int64_t began = measure_now();
        write_bare(c, i + 1);
        bare[i] = measure_now() - began;
        began = measure_now();
        write_ours(t, i);
        ours[i] = measure_now() - began;
    }
    PQfinish(c);
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
    int64_t x = measure_median(bare, RUNS), y = measure_median(ours, RUNS);
    printf("PostgreSQL   %8.1f us an append; a bare statement %.1f us: %.2f "
           "times, at most 1.50: %s\n",
           (double)y / 1e3, (double)x / 1e3, (double)y / (double)x,
           measure_verdict(2 * y <= 3 * x));
}

int main(void)
{
    struct database server;
    setenv("ALLM_SYNC", "1", 1);
    const char *missing = database_start(&server);
    if (!missing && !database_new(&server))
        missing = "postgresql";
    if (missing)
        printf("skipped: %s\n", missing);
    else
        compare_appends(server.uri);
    database_remove(&server);
    return 0;
}
#else
int main(void)
{
    printf("skipped: libpq\n");
    return 0;
}
#endif
