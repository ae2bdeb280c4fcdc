/* test_store.c - what every backend does, run on each of them */
#include "store/store.h"

#include "harness/check.h"
#include "harness/stored.h"
#include "loop/thread.h"

#include <stdio.h>

static void refused(allm_store *s, struct arena *a, const char *name,
                    uint32_t flags, struct store_loaded *l, const char *reason)
{
    store_session_drop(stored_session(s, a, name, flags, l, reason));
}

/* ----------------------------------------------------------- sessions --- */

static void keeps_what_is_written(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "trip", ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t) {
        CHECK_INT(l.after, BACKEND_NEW);
        CHECK_TEXT(stored_write(t, STORED(.type = "created", .keep = 0,
                                          .message = "{\"a\":1}")),
                   "");
        CHECK_TEXT(stored_write(t, STORED(.type = "change", .keep = 1,
                                          .message = "{\"b\":2}")),
                   "");
        CHECK_TEXT(stored_write(t, STORED(.type = "change", .keep = 1,
                                          .message = "{\"c\":3}",
                                          .title = "Trip")),
                   "");
        CHECK_INT(store_session_head(t), 3);
    }
    store_session_drop(t);
    allm_store_free(s);
    s = stored_open(uri, NULL);
    t = stored_session(s, &a, "trip", ALLM_SESSION_LOCK, &l, NULL);
    if (t) {
        CHECK_INT(l.after, BACKEND_RELEASED);
        CHECK_INT(l.row.head, 3);
        CHECK_INT(l.row.epoch, 2);
        CHECK_TEXT(l.row.status, "completed");
        CHECK_TEXT(l.row.title, "Trip");
        CHECK_SLICE(l.row.state, SLICE("{\"status\":\"completed\"}"));
        CHECK_INT(l.record_count, 0);
        CHECK_INT(l.message_count, 2);
        if (l.message_count == 2)
            CHECK_SLICE(l.messages[1].body, SLICE("{\"c\":3}"));
    }
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
EACH(keeps_what_is_written)

static void has_one_holder(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "one", ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t && other) {
        refused(s, &a, "one", ALLM_SESSION_LOCK, &l, "session_locked");
        refused(other, &a, "one", ALLM_SESSION_LOCK, &l, "session_locked");
        refused(other, &a, "one", 0, &l, "session_not_found");
        CHECK_TEXT(stored_write(t, STORED(.type = "created")), "");
        struct store_session *reader = stored_session(other, &a, "one", 0, &l,
                                                      NULL);
        if (reader) {
            CHECK(l.row.held);
            CHECK_TEXT(stored_write(reader, STORED(.type = "change")),
                       "session_read_only");
        }
        store_session_drop(reader);
        CHECK_TEXT(stored_reason(store_session_release(t, &a, false)), NULL);
        CHECK_TEXT(stored_write(t, STORED(.type = "change")),
                   "session_released");
        struct store_session *next =
            stored_session(other, &a, "one", ALLM_SESSION_LOCK, &l, NULL);
        if (next)
            CHECK_TEXT(stored_write(next, STORED(.type = "change")), "");
        store_session_drop(next);
    }
    store_session_drop(t);
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}
EACH(has_one_holder)

/* Another handle finds a session that was dropped free, although the store's
 * thread releases it. */
static void is_free_when_it_was_dropped(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s[2] = { stored_open(uri, NULL), stored_open(uri, NULL) };
    for (size_t i = 0; s[0] && s[1] && i < 20; i++) {
        struct store_session *t = stored_session(s[i % 2], &a, "one",
                                                 ALLM_SESSION_CREATE, &l, NULL);
        if (t && !store_session_head(t))
            CHECK_TEXT(stored_write(t, STORED(.type = "created")), "");
        store_session_drop(t);
    }
    CHECK_INT(allm_store_remove(s[0], "one"), ALLM_OK);
    allm_store_free(s[1]);
    allm_store_free(s[0]);
    arena_release(&a);
}
EACH(is_free_when_it_was_dropped)

/* A session that was created and never changed leaves nothing behind. */
static void forgets_the_unwritten(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "no", ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t) {
        struct store_append *p = store_append_new(t);
        if (p) {
            store_append_open(p, "created", NULL);
            store_append_close(p);
        }
        store_append_free(p);           /* never submitted */
        CHECK_INT(store_session_head(t), 0);
    }
    store_session_drop(t);
    refused(s, &a, "no", ALLM_SESSION_LOCK, &l, "session_not_found");
    t = stored_session(s, &a, "no", ALLM_SESSION_CREATE, &l, NULL);
    if (t) {
        store_append_free(store_append_new(t));
        CHECK_TEXT(stored_write(t, STORED(.type = "created")), "");
    }
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
EACH(forgets_the_unwritten)

static void checks_names(const char *uri)
{
    static const struct {
        const char *why, *name, *reason;
    } rows[] = {
        { "none", NULL, "invalid_name" },
        { "empty", "", "invalid_name" },
        { "a slash", "a/b", "invalid_name" },
        { "a dot", "a.b", "invalid_name" },
        { "not ASCII", "caf\xc3\xa9", "invalid_name" },
        { "a line end", "a\n", "invalid_name" },
        { "all kinds", "aZ09_-:", "session_not_found" },
    };
    struct arena a;
    struct store_loaded l;
    char name[130] = "";
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        refused(s, &a, rows[i].name, ALLM_SESSION_LOCK, &l, rows[i].reason);
    }
    memset(name, 'x', 128);
    refused(s, &a, name, 0, &l, "session_not_found");
    name[128] = 'x';
    refused(s, &a, name, 0, &l, "invalid_name");
    refused(s, &a, "a", 1u << 7, &l, "invalid_options");
    allm_store_free(s);
    arena_release(&a);
}
EACH(checks_names)

/* ------------------------------------------------------------ loading --- */

static const allm_error *read_messages(struct backend *b, struct arena *a,
                                       void *ud)
{
    struct store_loaded *l = ud;
    return b->ops->messages(b, a, l->row.id,
                            (struct backend_range){ .at = l->row.head },
                            &l->message_count, &l->messages);
}

static void has_the_thread_of_every_record(const char *uri)
{
    static const char *const steps[] = { "[0]", "[1]", "[2]", "[3]", "[4]" };
    static const uint64_t keeps[] = { 0, 1, 2, 1, 0 };
    static const char *const threads[] = { "[0]", "[0][1]", "[0][1][2]",
                                           "[0][3]", "[4]" };
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "t", ALLM_SESSION_CREATE,
                                             &l, NULL);
    for (size_t i = 0; t && i < 5; i++)
        CHECK_TEXT(stored_write(t, STORED(.type = "change", .keep = keeps[i],
                                          .message = steps[i])),
                   "");
    for (size_t i = 0; t && i < 5; i++) {
        char thread[64] = "";
        l.row.head = i + 1;
        const char *reason =
            stored_reason(store_call(s, read_messages, &a, &l));
        CHECK_TEXT(reason, NULL);
        for (size_t k = 0; !reason && k < l.message_count; k++)
            strcat(thread, l.messages[k].body.ptr);
        CHECK_TEXT(thread, threads[i]);
    }
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
EACH(has_the_thread_of_every_record)

static void loads_blobs(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    char text[RECORD_BLOB_OVER + 32], body[RECORD_BLOB_OVER + 64];
    arena_init(&a, mem_default());
    memset(text, 'b', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    snprintf(body, sizeof body, "{\"x\":[\"%s\",\"%s\"]}", text, "short");
    allm_store *s = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "b", body), "");
    struct store_session *t = stored_session(s, &a, "b", ALLM_SESSION_LOCK, &l,
                                             NULL);
    if (t) {
        CHECK_INT(l.blob_count, 1);
        CHECK_TEXT(stored_write(t, STORED(.type = "change", .keep = 1,
                                          .message = body)),
                   "");
        CHECK_TEXT(stored_reason(store_session_reload(t, &a, &l)), NULL);
        CHECK_INT(l.message_count, 2);
        CHECK_INT(l.blob_count, 1);
        if (l.blob_count == 1)
            CHECK_SLICE(store_loaded_blob(&l, l.blobs[0].hash), slice_of(text));
        CHECK(!store_loaded_blob(&l, "no").ptr);
    }
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
EACH(loads_blobs)

/* The records of an open operation are loaded, others are not. */
static void loads_what_is_open(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    for (size_t before = 0; s && before < 4; before++) {
        char name[16];
        snprintf(name, sizeof name, "s%zu", before);
        struct store_session *t = stored_session(s, &a, name,
                                                 ALLM_SESSION_CREATE, &l, NULL);
        for (size_t i = 0; i < before; i++)
            CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
        CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true)),
                   "");
        CHECK_TEXT(stored_write(t, STORED(.type = "call")), "");
        store_session_drop(t);
        t = stored_session(s, &a, name, ALLM_SESSION_LOCK, &l, NULL);
        if (t) {
            CHECK_INT(l.row.open, before + 1);
            CHECK_INT(l.record_count, 2);
            CHECK_TEXT(l.records[0].type, "begin");
            CHECK_TEXT(stored_write(t, STORED(.type = "end", .ends = true)),
                       "");
            CHECK_TEXT(stored_reason(store_session_reload(t, &a, &l)), NULL);
            CHECK_INT(l.record_count, 0);
        }
        store_session_drop(t);
    }
    allm_store_free(s);
    arena_release(&a);
}
EACH(loads_what_is_open)

/* ------------------------------------------------------------ listing --- */

struct listing {
    allm_store_query query;
    size_t limit;
    char names[64];
};

static const allm_error *list_here(struct backend *b, struct arena *a, void *ud)
{
    struct listing *l = ud;
    size_t count = 0;
    struct backend_row *rows = NULL;
    const allm_error *error = b->ops->list(b, a, &l->query, l->limit, &count,
                                           &rows);
    l->names[0] = '\0';
    for (size_t i = 0; !error && i < count; i++) {
        strcat(l->names, rows[i].name);
        strcat(l->names, " ");
    }
    return error;
}

static void check_list(allm_store *s, allm_store_query query, size_t limit,
                       const char *names)
{
    struct arena a;
    struct listing l = { .query = query, .limit = limit };
    arena_init(&a, mem_default());
    if (s)
        CHECK_TEXT(stored_reason(store_call(s, list_here, &a, &l)), NULL);
    CHECK_TEXT(l.names, names);
    arena_release(&a);
}

static void lists_the_newest_first(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    for (const char *n = "abcd"; *n; n++)
        CHECK_TEXT(stored_make(s, (char[2]){ *n }, NULL), "");
    struct store_session *t = stored_session(s, &a, "e", ALLM_SESSION_CREATE,
                                             &l, NULL);
    check_list(s, (allm_store_query){ 0 }, 9, "d c b a ");
    check_list(s, (allm_store_query){ 0 }, 2, "d c ");
    check_list(s, (allm_store_query){ .after = "c" }, 9, "b a ");
    check_list(s, (allm_store_query){ .after = "a" }, 9, "");
    check_list(s, (allm_store_query){ .status = "no" }, 9, "");
    check_list(s, (allm_store_query){ .status = "completed" }, 1, "d ");
    check_list(s, (allm_store_query){ .after = "x" }, 9, "");
    check_list(s, (allm_store_query){ .older_ms = 3600000 }, 9, "");
    check_list(s, (allm_store_query){ .queue = "q" }, 9, "");
    CHECK_TEXT(stored_write(t, STORED(.type = "created", .status = "no")), "");
    check_list(s, (allm_store_query){ .status = "no" }, 9, "e ");
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}
EACH(lists_the_newest_first)

/* ----------------------------------------------------------- removing --- */

struct removal {
    const char *name;
    bool found, held;
};

static const allm_error *remove_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct removal *r = ud;
    struct backend_row row;
    const allm_error *error = b->ops->find(b, a, r->name, false, &row,
                                           &r->found);
    return error || !r->found ? error : b->ops->remove(b, a, row.id, &r->held);
}

static void removes_sessions(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    struct removal r = { .name = "x" };
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "x", "[1]"), "");
    CHECK_TEXT(stored_make(s, "y", "[1]"), "");
    struct store_session *t = stored_session(s, &a, "x", ALLM_SESSION_LOCK, &l,
                                             NULL);
    if (t && other) {
        CHECK_TEXT(stored_reason(store_call(other, remove_here, &a, &r)), NULL);
        CHECK(r.held);
        CHECK_TEXT(stored_reason(store_call(s, remove_here, &a, &r)), NULL);
        CHECK(r.held);
        CHECK_TEXT(stored_reason(store_session_release(t, &a, false)), NULL);
    }
    store_session_drop(t);
    if (s && other) {
        CHECK_TEXT(stored_reason(store_call(other, remove_here, &a, &r)), NULL);
        CHECK(r.found && !r.held);
        refused(s, &a, "x", ALLM_SESSION_LOCK, &l, "session_not_found");
        CHECK_TEXT(stored_make(s, "x", "[2]"), "");
        t = stored_session(s, &a, "y", ALLM_SESSION_LOCK, &l, NULL);
        store_session_drop(t);
    }
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}
EACH(removes_sessions)

/* ------------------------------------------ messages and cancellation --- */

struct sending {
    const char *name, *body, *queue;
};

static const allm_error *send_here(struct backend *b, struct arena *a, void *ud)
{
    const struct sending *m = ud;
    return b->ops->send(b, a, m->name, "0123456789abcdef0123456789abcdef",
                        slice_of(m->body), m->queue);
}

static void send_to(allm_store *s, const char *name, const char *body,
                    const char *queue)
{
    struct arena a;
    struct sending m = { name, body, queue };
    arena_init(&a, mem_default());
    if (s)
        CHECK_TEXT(stored_reason(store_call(s, send_here, &a, &m)), NULL);
    arena_release(&a);
}

static struct store_session *claim(allm_store *s, struct arena *a,
                                   struct store_loaded *l, const char *name)
{
    struct store_session *t = NULL;
    if (!s)
        return NULL;
    const allm_error *error = store_session_claim(s, a, "q", 0, l, &t);
    CHECK_TEXT(t ? store_session_name(t) : stored_reason(error), name);
    return t;
}

static void claim_nothing(allm_store *s, struct arena *a,
                          struct store_loaded *l)
{
    store_session_drop(claim(s, a, l, "nothing_due"));
}

/* The lease is free when this returns, for other handles, too. */
static void let_go(struct store_session *t, bool due)
{
    struct arena a;
    arena_init(&a, mem_default());
    if (t)
        CHECK_TEXT(stored_reason(store_session_release(t, &a, due)), NULL);
    store_session_drop(t);
    arena_release(&a);
}

static void claims_what_is_due(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    claim_nothing(s, &a, &l);
    CHECK_TEXT(stored_make(s, "old", "[1]"), "");
    send_to(s, "old", "[2]", "q");
    send_to(s, "new", "[3]", "q");
    send_to(s, "old", "[4]", NULL);
    send_to(s, "else", "[5]", "r");
    send_to(s, "none", "[6]", NULL);
    struct store_session *t = claim(s, &a, &l, "old");
    if (t) {
        CHECK_INT(l.sent_count, 2);
        if (l.sent_count == 2)
            CHECK_SLICE(l.sent[1].body, SLICE("[4]"));
    }
    int64_t upto = t && l.sent_count ? l.sent[0].id : 0;
    struct store_session *u = claim(other, &a, &l, "new");
    if (u)
        CHECK_INT(l.after, BACKEND_NEW);
    claim_nothing(other, &a, &l);
    if (t) {                            /* one message stays: still due */
        CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true,
                                          .due = true, .inbox_upto = upto)),
                   "");
        CHECK_TEXT(stored_write(t, STORED(.type = "end", .ends = true)), "");
        store_session_drop(t);
        t = claim(s, &a, &l, "old");
        CHECK_INT(l.sent_count, 1);
        upto = l.sent_count ? l.sent[0].id : 0;
        CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true,
                                          .inbox_upto = upto)),
                   "");
        CHECK_TEXT(stored_write(t, STORED(.type = "end", .ends = true)), "");
    }
    store_session_drop(t);
    claim_nothing(s, &a, &l);
    let_go(u, false);                   /* never written, but sent to */
    let_go(claim(s, &a, &l, "new"), true);
    u = claim(other, &a, &l, "new");
    store_session_drop(u);
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}
EACH(claims_what_is_due)

/* A message is the answer to a question, but decides nothing. */
static void leaves_alone_what_waits(const char *uri)
{
    static const char *const waits[] = { "tools", "unknown", "user" };
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "x", "[1]"), "");
    send_to(s, "x", "[2]", "q");
    for (size_t i = 0; i < 3; i++) {
        check_row(waits[i]);
        struct store_session *t = stored_session(s, &a, "x", ALLM_SESSION_LOCK,
                                                 &l, NULL);
        if (t)
            CHECK_TEXT(stored_write(t, STORED(.type = "change",
                                              .waits = waits[i])),
                       "");
        let_go(t, false);
        store_session_drop(claim(s, &a, &l, i < 2 ? "nothing_due" : "x"));
    }
    check_row(NULL);
    allm_store_free(s);
    arena_release(&a);
}
EACH(leaves_alone_what_waits)

/* Claim it until this is so many a try; a claim in the millisecond of the last
 * record does not count as one. */
static bool claim_try(allm_store *s, struct arena *a, uint32_t tries, bool due)
{
    for (int i = 0; i < 10000; i++) {
        struct store_loaded l;
        struct store_session *t = claim(s, a, &l, "x");
        bool mine = t && l.row.tries == tries;
        if (!t)
            return false;
        let_go(t, due);
        if (mine || l.row.tries)
            return mine;
    }
    return false;
}

/* A session that nobody gets on with is tried later and later, then not. */
static void gives_up(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    send_to(s, "x", "[1]", "q");
    for (uint32_t i = 0; i <= BACKEND_MOST_TRIES; i++)
        CHECK(claim_try(s, &a, i, true));
    claim_nothing(s, &a, &l);
    send_to(s, "x", "[2]", "q");
    claim_nothing(s, &a, &l);           /* only a person can help */
    struct store_session *t = stored_session(s, &a, "x", ALLM_SESSION_LOCK, &l,
                                             NULL);
    CHECK_TEXT(l.row.waits, "stuck");
    CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true,
                                      .due = true)),
               "");
    let_go(t, false);
    CHECK(claim_try(s, &a, 0, false));  /* it has a record: as ever */
    CHECK(claim_try(s, &a, 1, false));
    claim_nothing(s, &a, &l);           /* for two seconds */
    t = stored_session(s, &a, "x", ALLM_SESSION_LOCK, &l, NULL);
    CHECK_TEXT(l.row.waits, NULL);
    CHECK_TEXT(stored_write(t, STORED(.type = "change", .due = true)), "");
    let_go(t, false);
    CHECK(claim_try(s, &a, 0, false));  /* at once */
    allm_store_free(s);
    arena_release(&a);
}
EACH(gives_up)

static const allm_error *cancel_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct removal *r = ud;
    return b->ops->cancel(b, a, r->name, &r->found, &r->held);
}

/* Wait up to two seconds for another handle's news. */
static bool becomes_cancelled(const struct store_session *t, uint64_t begin)
{
    struct clock c = clock_real();
    int64_t end = clock_after(clock_now_ns(c), 20000);
    while (!store_session_cancelled(t, begin) && check_whole()) {
        if (clock_now_ns(c) > end)
            return false;
        thread_pause(1000);     /* valgrind runs one thread at a time */
    }
    return true;
}

static void cancels_what_is_open(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    struct removal r = { .name = "c" };
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "c", ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t && other) {
        CHECK_TEXT(stored_reason(store_call(other, cancel_here, &a, &r)), NULL);
        CHECK(!r.found);
        CHECK_TEXT(stored_write(t, STORED(.type = "created")), "");
        CHECK_TEXT(stored_write(t, STORED(.type = "begin", .begins = true)),
                   "");
        CHECK(!store_session_cancelled(t, 2));
        CHECK_TEXT(stored_reason(store_call(other, cancel_here, &a, &r)), NULL);
        CHECK(r.found && r.held);
        CHECK(becomes_cancelled(t, 2));
        CHECK(!store_session_cancelled(t, 1));
        CHECK_TEXT(stored_write(t, STORED(.type = "end", .ends = true)), "");
        CHECK_TEXT(stored_reason(store_session_reload(t, &a, &l)), NULL);
        CHECK_INT(l.row.cancel, 0);
    }
    store_session_drop(t);
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}
EACH(cancels_what_is_open)

/* ---------------------------------------------------------- followers --- */

struct following {
    int64_t id;
    uint64_t epoch, op, from, version;
    bool changed;
    size_t count;
    struct backend_live *live;
};

static const allm_error *put_here(struct backend *b, struct arena *a, void *ud)
{
    const struct following *f = ud;
    struct backend_live live = { .op = f->op, .count = 2,
                                 .body = SLICE("[1]\n[2]\n") };
    return b->ops->put_live(b, a, f->id, f->epoch, &live);
}

static const allm_error *live_here(struct backend *b, struct arena *a, void *ud)
{
    struct following *f = ud;
    return b->ops->live(b, a, f->id, f->op, f->from, &f->count, &f->live);
}

static const allm_error *changed_here(struct backend *b, struct arena *a,
                                      void *ud)
{
    struct following *f = ud;
    return b->ops->changed(b, a, &f->version, &f->changed);
}

static void check_live(allm_store *s, struct following *f, size_t count)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_TEXT(stored_reason(store_call(s, live_here, &a, f)), NULL);
    CHECK_INT(f->count, count);
    arena_release(&a);
}

static void put_live(allm_store *s, struct following f)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_TEXT(stored_reason(store_call(s, put_here, &a, &f)), NULL);
    arena_release(&a);
}

static void keeps_live_events(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "l", ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t && other) {
        struct following f = { .id = l.row.id, .epoch = 1, .op = 9, .from = 0 };
        store_call(other, changed_here, &a, &f);
        store_call(other, changed_here, &a, &f);
        CHECK(!f.changed);
        put_live(s, f);
        store_call(other, changed_here, &a, &f);
        CHECK(f.changed);
        put_live(s, f);
        f.epoch = 7;
        put_live(s, f);                 /* of a holder that has lost it */
        f.from = 0;
        check_live(other, &f, 2);
        f.from = 1;
        check_live(other, &f, 2);
        f.from = 3;
        check_live(other, &f, 1);
        f.from = 5;
        check_live(other, &f, 0);
        f.op = 2;
        check_live(other, &f, 0);
        CHECK_TEXT(
            stored_write(t, STORED(.type = "created", .drops_live = true)), "");
        f.op = 9;
        f.from = 0;
        check_live(other, &f, 0);
    }
    store_session_drop(t);
    allm_store_free(other);
    allm_store_free(s);
    arena_release(&a);
}
EACH(keeps_live_events)

/* --------------------------------------------------------------- URIs --- */

static void refuses_other_uris(void)
{
    static const struct {
        const char *uri, *reason;
    } rows[] = {
        { NULL, "invalid_store_uri" },
        { "", "invalid_store_uri" },
        { "mysql://x", "invalid_store_uri" },
        { "sqlite", "invalid_store_uri" },
#if ALLM_SQLITE
        { "sqlite:", "invalid_store_uri" },
        { "sqlite:/dev/null", "not_a_store" },
        { "sqlite:/tmp", "not_a_store" },
        { "sqlite:/nowhere/at/all.db", "store_unreachable" },
#else
        { "sqlite:x", "unsupported_store" },
#endif
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].uri ? rows[i].uri : "NULL");
        allm_store *s = allm_store_open(rows[i].uri, NULL);
        CHECK_TEXT(stored_reason(allm_store_error(s)), rows[i].reason);
        allm_store_free(s);
    }
}

TESTS = {
    TEST_EACH(keeps_what_is_written),
    TEST_EACH(has_one_holder),
    TEST_EACH(is_free_when_it_was_dropped),
    TEST_EACH(forgets_the_unwritten),
    TEST_EACH(checks_names),
    TEST_EACH(has_the_thread_of_every_record),
    TEST_EACH(loads_blobs),
    TEST_EACH(loads_what_is_open),
    TEST_EACH(lists_the_newest_first),
    TEST_EACH(removes_sessions),
    TEST_EACH(claims_what_is_due),
    TEST_EACH(leaves_alone_what_waits),
    TEST_ALL(gives_up),
    TEST_EACH(cancels_what_is_open),
    TEST_EACH(keeps_live_events),
    TEST_ONCE(refuses_other_uris),
    TESTS_END
};
