/* test_postgres.c - what only PostgreSQL has: leases by time, a server */
#include "store/store.h"

#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>

#define BOTH(test) \
    static void server_##test(void) \
    { \
        stored_on_server(test, false); \
    } \
    static void pooler_##test(void) \
    { \
        stored_on_server(test, true); \
    }

/* A holder whose lease has ended writes nothing, whatever it believes. */
static void a_late_holder_writes_nothing(const char *uri)
{
    struct arena a;
    struct store_loaded l = { 0 };
    arena_init(&a, mem_default());
    allm_store *slow = stored_open(uri, ALLM(store_opts, .lease_ms = 1));
    allm_store *other = stored_open(uri, ALLM(store_opts, .holder = "quick"));
    CHECK_TEXT(stored_make(slow, "one", "{\"a\":1}"), "");
    struct store_session *t = stored_session(slow, &a, "one", ALLM_SESSION_LOCK,
                                             &l, NULL);
    struct store_session *next = NULL;
    for (int i = 0; t && !next && i < 1000; i++) {
        const allm_error *error =
            store_session_open(other, &a, "one", ALLM_SESSION_LOCK, &l, &next);
        if (error && strcmp(error->reason, "session_locked"))
            break;
    }
    CHECK(next != NULL);
    if (next) {
        CHECK_INT(l.after, BACKEND_EXPIRED);
        CHECK_TEXT(stored_write(t, STORED(.type = "change")), "session_lost");
        const allm_error *gone = store_session_gone(t, &a);
        CHECK(gone && strstr(gone->message, "quick has taken"));
        CHECK_TEXT(stored_write(next, STORED(.type = "change")), "");
    }
    store_session_drop(next);
    store_session_drop(t);
    allm_store_free(other);
    allm_store_free(slow);
    arena_release(&a);
}

BOTH(a_late_holder_writes_nothing)

/* --------------------------------------------------------------- clock --- */

/* The server's clock jumps by so many milliseconds while a session is held. */
static void jump_clock(const char *uri, int64_t ms)
{
    struct arena a;
    struct store_loaded l = { 0 };
    char sql[128];
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "one", "{\"a\":1}"), "");
    struct store_session *t = stored_session(s, &a, "one", ALLM_SESSION_LOCK,
                                             &l, NULL);
    snprintf(sql, sizeof sql, "UPDATE allm_session SET until = until - (%lld)",
             (long long)ms);
    CHECK(stored_sql(sql));
    struct store_session *next =
        stored_session(other, &a, "one", ALLM_SESSION_LOCK, &l,
                       ms > 0 ? NULL : "session_locked");
    CHECK_TEXT(stored_write(t, STORED(.type = "change")),
               next ? "session_lost" : "");
    store_session_drop(t);
    allm_store_free(s);         /* it has let go when this returns */
    if (!next)
        next = stored_session(other, &a, "one", ALLM_SESSION_LOCK, &l, NULL);
    CHECK_TEXT(stored_write(next, STORED(.type = "change")), "");
    store_session_drop(next);
    allm_store_free(other);
    other = stored_open(uri, NULL);
    CHECK_INT(allm_store_remove(other, "one"), ALLM_OK);
    allm_store_free(other);
    arena_release(&a);
}

static void does_not_trust_the_clock(const char *uri)
{
    const int64_t hour = 3600000, years = INT64_C(87660) * hour;
    jump_clock(uri, hour);
    jump_clock(uri, -hour);
    jump_clock(uri, years);
    jump_clock(uri, -years);
}
BOTH(does_not_trust_the_clock)

static const allm_message greeting = { .size = sizeof greeting,
                                       .role = ALLM_ROLE_USER, .text = "hi" };

/* The clock was far ahead when the session became due. */
static void claims_what_is_due_far_ahead(const char *uri)
{
    struct arena a;
    struct store_loaded l = { 0 };
    struct store_session *t = NULL;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    CHECK_INT(allm_store_send(s, "one", &greeting, "q"), ALLM_OK);
    CHECK(stored_sql("UPDATE allm_session SET due = due + 30000"));
    CHECK_TEXT(stored_reason(store_session_claim(s, &a, "q", 0, &l, &t)),
               "nothing_due");
    CHECK(stored_sql("UPDATE allm_session SET due = due + 3600000"));
    CHECK_TEXT(stored_reason(store_session_claim(s, &a, "q", 0, &l, &t)), NULL);
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
BOTH(claims_what_is_due_far_ahead)

/* ---------------------------------------------------------------- cuts --- */

static void add_change(struct store_append *p, uint64_t keep, const char *text)
{
    struct buf body = buf_in(store_append_arena(p), SIZE_MAX / 2);
    buf_text(&body, text);
    store_append_open(p, "change", NULL);
    store_append_thread(p, false, keep, 1, &body);
    store_append_close(p);
}

/* Two records of one append remove the same message: the first one did it. */
static void cuts_a_message_once(const char *uri)
{
    struct arena a;
    struct store_loaded l = { 0 };
    const allm_error *error = NULL;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "one", "[1]"), "");
    struct store_session *t = stored_session(s, &a, "one", ALLM_SESSION_LOCK,
                                             &l, NULL);
    struct store_append *p = store_append_new(t);
    add_change(p, 1, "[2]");            /* record 2 */
    store_append_submit(p);
    store_append_wait(p, &error);
    store_append_free(p);
    p = store_append_new(t);
    add_change(p, 1, "[3]");            /* removes [2] */
    add_change(p, 0, "[4]");            /* and [1], [3] */
    add_change(p, 0, "[5]");
    store_append_submit(p);
    CHECK_INT(store_append_wait(p, &error), ALLM_OK);
    store_append_free(p);
    CHECK(stored_sql("DO $$ BEGIN IF (SELECT string_agg(body || until, ' ' "
                     "ORDER BY body) FROM allm_message) <> "
                     "'[1]4 [2]3 [3]4 [4]5' THEN RAISE EXCEPTION 'no'; END IF; "
                     "END $$;"));
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
BOTH(cuts_a_message_once)

/* --------------------------------------------------------------- syncs --- */

/* A message that was sent is durable, whatever the server's default is. */
static void syncs_what_is_sent(const char *uri)
{
    allm_store_free(stored_open(uri, NULL));
    CHECK(stored_sql(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit "
        "= off', current_database()); END $$;"
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF current_setting('synchronous_commit') = 'off' THEN "
        "RAISE EXCEPTION 'no sync'; END IF; RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON allm_inbox "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
        "EXECUTE FUNCTION refuse();"));
    allm_store *s = stored_open(uri, NULL);
    CHECK_INT(allm_store_send(s, "one", &greeting, NULL), ALLM_OK);
    allm_store_free(s);
}

static void server_syncs_what_is_sent(void)
{
    stored_on_server(syncs_what_is_sent, false);
}

/* ---------------------------------------------------------------- news --- */

enum { HELD = 3 };

struct rows {
    struct backend_row row[HELD];
};

static const allm_error *find_rows(struct backend *b, struct arena *a, void *ud)
{
    static const char *const names[HELD] = { "a", "b", "c" };
    struct rows *r = ud;
    const allm_error *error = NULL;
    for (size_t i = 0; !error && i < HELD; i++) {
        bool found = false;
        error = b->ops->find(b, a, names[i], true, &r->row[i], &found);
    }
    return error;
}

/* The store's thread renews all leases, whoever does nothing meanwhile. */
static void renews_all_leases(const char *uri)
{
    struct arena a;
    struct store_loaded l = { 0 };
    struct rows first = { 0 }, now = { 0 };
    struct store_session *t[HELD];
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, ALLM(store_opts, .lease_ms = 2000));
    allm_store *other = stored_open(uri, NULL);
    for (size_t i = 0; i < HELD; i++) {
        const char name[2] = { (char)('a' + (int)i), '\0' };
        t[i] = stored_session(s, &a, name, ALLM_SESSION_CREATE, &l, NULL);
    }
    CHECK_TEXT(stored_reason(store_call(other, find_rows, &a, &first)), NULL);
    size_t renewed = 0;
    while (renewed < HELD && !store_call(other, find_rows, &a, &now) &&
           now.row[0].id)
        for (renewed = 0; renewed < HELD &&
                          now.row[renewed].until > first.row[renewed].until;)
            renewed++;
    for (size_t i = 0; i < HELD; i++) {
        CHECK_INT(now.row[i].epoch, 1);
        CHECK(now.row[i].held);
        CHECK(!store_session_gone(t[i], &a));
        store_session_drop(t[i]);
    }
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}
BOTH(renews_all_leases)

static const allm_error *begin_to_hear(struct backend *b, struct arena *a,
                                       void *ud)
{
    (void)a;
    CHECK(b->ops->socket(b) >= 0);
    *(bool *)ud = b->ops->hear(b, false);
    return NULL;
}

static const allm_error *hear(struct backend *b, struct arena *a, void *ud)
{
    (void)a;
    *(bool *)ud = b->ops->hear(b, true);
    return NULL;
}

/* A server tells other processes at once. */
static void is_notified(const char *uri)
{
    struct arena a;
    bool heard = true;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    store_call(s, begin_to_hear, &a, &heard);
    CHECK(!heard);
    CHECK_INT(allm_store_send(other, "one", &greeting, NULL), ALLM_OK);
    while (!heard && !store_call(s, hear, &a, &heard))
        ;
    CHECK(heard);
    heard = false;
    CHECK_INT(allm_store_send(s, "one", &greeting, NULL), ALLM_OK);
    store_call(s, hear, &a, &heard);
    CHECK(!heard);              /* it knows */
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}

static void server_is_notified(void)
{
    stored_on_server(is_notified, false);
}

/* ------------------------------------------------------------- restart --- */

static void survives_a_restart_of(const char *uri)
{
    struct arena a;
    struct store_loaded l = { 0 };
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "one", ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t) {
        CHECK_TEXT(stored_write(t, STORED(.type = "created")), "");
        CHECK(stored_restart_server());
        CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
        CHECK_INT(store_session_head(t), 2);
        store_session_drop(t);
    }
    allm_store_free(s);
    arena_release(&a);
}

static void server_survives_a_restart(void)
{
    stored_on_server(survives_a_restart_of, false);
}

static void a_password_is_not_in_an_error(void)
{
    allm_store *s = allm_store_open(
        "postgresql://u:hunter2@/x?host=/nowhere&connect_timeout=1", NULL);
    const allm_error *error = allm_store_error(s);
    CHECK_TEXT(error ? error->reason : NULL,
               ALLM_POSTGRES ? "store_unreachable" : "unsupported_store");
    CHECK(error && !strstr(error->message, "hunter2"));
    allm_store_free(s);
}

TESTS = {
    TEST_ONCE(server_a_late_holder_writes_nothing),
    TEST_ONCE(pooler_a_late_holder_writes_nothing),
    TEST_ONCE(server_does_not_trust_the_clock),
    TEST_ONCE(pooler_does_not_trust_the_clock),
    TEST_ONCE(server_claims_what_is_due_far_ahead),
    TEST_ONCE(pooler_claims_what_is_due_far_ahead),
    TEST_ONCE(server_cuts_a_message_once),
    TEST_ONCE(pooler_cuts_a_message_once),
    TEST_ONCE(server_syncs_what_is_sent),
    TEST_ONCE(server_renews_all_leases),
    TEST_ONCE(pooler_renews_all_leases),
    TEST_ONCE(server_is_notified),
    TEST_ONCE(server_survives_a_restart),
    TEST_ONCE(a_password_is_not_in_an_error),
    TESTS_END
};
