/*
 * test_postgres_locks.c - what happens while a statement waits for a row
 *
 * A connection of its own holds a lock; the steps of a test begin when the
 * server says that so many others wait for one.
 *
 * tag: thread
 */
#include "store/sql.h"
#include "store/store.h"

#include "loop/thread.h"

#include "harness/check.h"
#include "harness/stored.h"

#include <pthread.h>

static const allm_message greeting = { .size = sizeof greeting,
                                       .role = ALLM_ROLE_USER, .text = "hi" };

struct statement {
    const char *text;
    int64_t n;
};

static const allm_error *run_statement(struct backend *b, struct arena *a,
                                       void *ud)
{
    struct statement *t = ud;
    struct sql_rows rows = { 0 };
    const allm_error *error = sql_of(b)->driver->run(sql_of(b), a, t->text, 0,
                                                     NULL, &rows);
    t->n = !error && rows.count ? rows.cells[0].n : -1;
    return error;
}

/* Run it on the connection of a store; the number that it returns, or -1. */
static int64_t number_of(allm_store *s, const char *text)
{
    struct arena a;
    struct statement t = { text, -1 };
    arena_init(&a, mem_default());
    CHECK_TEXT(stored_reason(store_call(s, run_statement, &a, &t)), NULL);
    arena_release(&a);
    return t.n;
}

static void await_waiting(allm_store *s, int64_t count)
{
    while (number_of(s, "SELECT count(*) FROM pg_stat_activity WHERE "
                        "wait_event_type = 'Lock' "
                        "AND datname = current_database()") != count)
        thread_pause(1000);
}

static void *send_one(void *ud)
{
    CHECK_INT(allm_store_send(ud, "one", &greeting, "q"), ALLM_OK);
    return NULL;
}

/* Three handles: one sends, one holds locks, one asks. */
struct handles {
    allm_store *sender, *locker, *asker;
    pthread_t thread;
};

static void open_handles(struct handles *h, const char *uri)
{
    h->sender = stored_open(uri, ALLM(store_opts, .busy_ms = 60000));
    h->locker = stored_open(uri, NULL);
    h->asker = stored_open(uri, NULL);
}

static void close_handles(struct handles *h)
{
    allm_store_free(h->sender);
    allm_store_free(h->locker);
    allm_store_free(h->asker);
}

/* Send to the session "one", whose row is locked: the sender waits. */
static void send_to_locked_row(struct handles *h, const char *uri)
{
    open_handles(h, uri);
    CHECK_TEXT(stored_make(h->asker, "one", "[1]"), "");
    CHECK_INT(number_of(h->asker, "SELECT count(*) FROM allm_session"), 1);
    number_of(h->locker, "BEGIN");
    number_of(h->locker, "SELECT id FROM allm_session FOR UPDATE");
    pthread_create(&h->thread, NULL, send_one, h->sender);
    await_waiting(h->asker, 1);
}

/* A message never gets an earlier place than one that was there before: its
 * reader takes all messages up to the last one it saw. */
static void keeps_messages_in_order(const char *uri)
{
    struct handles h;
    send_to_locked_row(&h, uri);
    number_of(h.locker, "INSERT INTO allm_inbox (session, at, body) "
                        "SELECT id, 0, 'first' FROM allm_session");
    number_of(h.locker, "COMMIT");
    pthread_join(h.thread, NULL);
    CHECK_INT(number_of(h.asker, "SELECT count(*) FROM allm_inbox"), 2);
    CHECK_INT(number_of(h.asker, "SELECT count(*) FROM allm_inbox x WHERE "
                                 "x.id < (SELECT id FROM allm_inbox "
                                 "WHERE at = 0)"),
              0);
    close_handles(&h);
}

static void server_keeps_messages_in_order(void)
{
    stored_on_server(keeps_messages_in_order, false);
}

/* An operation ends while a message arrives: the statement that ends it began
 * before the message was there, and waits for the row that sending changes. */
static void stays_due_if_more_is_sent(const char *uri)
{
    struct arena a;
    struct store_loaded l = { 0 };
    struct handles h;
    arena_init(&a, mem_default());
    open_handles(&h, uri);
    allm_store *worker = stored_open(uri, ALLM(store_opts, .busy_ms = 60000));
    struct store_session *t = stored_session(worker, &a, "one",
                                             ALLM_SESSION_CREATE, &l, NULL);
    CHECK_INT(allm_store_send(worker, "one", &greeting, "q"), ALLM_OK);
    CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true,
                                      .due = true, .inbox_upto = 1)),
               "");
    number_of(h.locker, "BEGIN");
    number_of(h.locker, "SELECT id FROM allm_session FOR UPDATE");
    pthread_create(&h.thread, NULL, send_one, h.sender);
    await_waiting(h.asker, 1);
    struct store_append *end =
        stored_append(t, STORED(.type = "end", .ends = true));
    await_waiting(h.asker, 2);
    number_of(h.locker, "COMMIT");
    pthread_join(h.thread, NULL);
    CHECK_TEXT(stored_wait(end), "");
    CHECK_INT(number_of(h.asker, "SELECT count(*) FROM allm_session WHERE due "
                                 "IS NOT NULL"),
              1);
    CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true,
                                      .due = true, .inbox_upto = 2)),
               "");
    CHECK_TEXT(stored_write(t, STORED(.type = "end", .ends = true)), "");
    CHECK_INT(number_of(h.asker, "SELECT count(*) FROM allm_session WHERE due "
                                 "IS NOT NULL"),
              0);
    store_session_drop(t);
    allm_store_free(worker);
    close_handles(&h);
    arena_release(&a);
}

static void server_stays_due_if_more_is_sent(void)
{
    stored_on_server(stays_due_if_more_is_sent, false);
}

/* The row goes while a message for it is on its way: a session that was never
 * used is let go, or one is removed. */
static void sends_to_a_row_that_goes(const char *uri)
{
    struct handles h;
    send_to_locked_row(&h, uri);
    number_of(h.locker, "DELETE FROM allm_session");
    number_of(h.locker, "COMMIT");
    pthread_join(h.thread, NULL);
    CHECK_INT(number_of(h.asker, "SELECT count(*) FROM allm_inbox i, "
                                 "allm_session s WHERE i.session = s.id "
                                 "AND s.due IS NOT NULL"),
              1);
    close_handles(&h);
}

static void server_sends_to_a_row_that_goes(void)
{
    stored_on_server(sends_to_a_row_that_goes, false);
}

TESTS = {
    TEST_ONCE(server_keeps_messages_in_order),
    TEST_ONCE(server_stays_due_if_more_is_sent),
    TEST_ONCE(server_sends_to_a_row_that_goes),
    TESTS_END
};
