/*
 * test_queue.c - commits: groups, failures, unknown outcomes, dead handles
 *
 * The backend is that of memory:, with a call that fails; with a thread and
 * without.
 *
 * tag: thread
 */
#include "store/store.h"
#include "store/store_parts.h"

#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* --------------------------------------------------- a faulty backend --- */

enum commit_fault { COMMITS, FAILS_BEFORE, FAILS_AFTER };

static struct backend_ops faulty;
static struct {
    size_t calls, fails_at;         /* 0: none */
    enum commit_fault commit;       /* of the next commit */
    bool unreachable;               /* reopen() fails */
} plan;

static const allm_error broken = {
    .size = sizeof(allm_error),
    .kind = ALLM_ERR_STORE,
    .reason = "store_unreachable",
    .message = "planned",
};

static bool fails(void)
{
    return ++plan.calls == plan.fails_at;
}

#define FAULTY(name, params, args)                                            \
    static const allm_error *faulty_##name params                             \
    {                                                                         \
        return fails() ? &broken : memory_backend.name args;                  \
    }

FAULTY(find,
       (struct backend * b, struct arena *a, const char *n, bool e,
        struct backend_row *r, bool *f),
       (b, a, n, e, r, f))
FAULTY(take,
       (struct backend * b, struct arena *a, const char *n, const char *u,
        struct backend_row *r, enum backend_after *f, bool *t),
       (b, a, n, u, r, f, t))
FAULTY(release,
       (struct backend * b, struct arena *a, int64_t i, uint64_t e, bool d),
       (b, a, i, e, d))
FAULTY(append,
       (struct backend * b, struct arena *a, struct backend_append *const *l,
        size_t n),
       (b, a, l, n))
FAULTY(messages,
       (struct backend * b, struct arena *a, int64_t i, struct backend_range s,
        size_t *n, struct backend_message **o),
       (b, a, i, s, n, o))
FAULTY(records,
       (struct backend * b, struct arena *a, int64_t i, uint64_t f, size_t l,
        size_t *n, struct backend_record **o),
       (b, a, i, f, l, n, o))
FAULTY(blobs,
       (struct backend * b, struct arena *a, int64_t i, size_t n,
        struct backend_blob *l),
       (b, a, i, n, l))
FAULTY(inbox,
       (struct backend * b, struct arena *a, int64_t i, size_t *n,
        struct backend_sent **o),
       (b, a, i, n, o))

static const allm_error *faulty_commit(struct backend *b, struct arena *a)
{
    enum commit_fault fault = fails() ? FAILS_AFTER : plan.commit;
    plan.commit = COMMITS;
    if (fault == FAILS_BEFORE) {
        memory_backend.die(b);
        return &broken;
    }
    const allm_error *error = memory_backend.commit(b, a);
    return fault == FAILS_AFTER ? &broken : error;
}

static const allm_error *faulty_reopen(struct backend *b, struct arena *a)
{
    (void)b;
    (void)a;
    return plan.unreachable || fails() ? &broken : NULL;
}

static const allm_error *faulty_open(struct arena *a, const char *rest,
                                     const struct backend_opts *opts,
                                     struct backend **out)
{
    if (fails())
        return &broken;
    const allm_error *error = memory_backend.open(a, rest, opts, out);
    if (!error)
        (*out)->ops = &faulty;
    return error;
}

static allm_store *open_faulty(bool thread, const allm_store_opts *opts)
{
    faulty = memory_backend;
    faulty.blocks = thread;
    faulty.open = faulty_open;
    faulty.find = faulty_find;
    faulty.take = faulty_take;
    faulty.release = faulty_release;
    faulty.append = faulty_append;
    faulty.commit = faulty_commit;
    faulty.reopen = faulty_reopen;
    faulty.messages = faulty_messages;
    faulty.records = faulty_records;
    faulty.blobs = faulty_blobs;
    faulty.inbox = faulty_inbox;
    return store_open_with(&faulty, "queue", opts);
}

static void plan_none(void)
{
    plan.calls = plan.fails_at = 0;
    plan.commit = COMMITS;
    plan.unreachable = false;
}

/* ---------------------------------------------------- every call once --- */

/* Four commits; one that fails is tried again after a reload, unless the
 * record is there. */
static void write_four(struct store_session *t, struct arena *a)
{
    struct store_loaded l;
    for (uint64_t seq = 1; seq <= 4;) {
        char message[16];
        snprintf(message, sizeof message, "[%d]", (int)seq);
        const char *reason = stored_write(
            t, STORED(.type = "change", .keep = seq - 1, .message = message));
        if (*reason) {
            CHECK_TEXT(reason, "store_unreachable");
            while (store_session_reload(t, a, &l) && check_whole())
                ;
            seq = store_session_head(t) + 1;
            if (!check_whole())
                return;
        } else {
            seq++;
        }
    }
}

/* Opened, written and read, while one call fails; again until all is well. */
static bool run_script(bool thread)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    bool read = false;
    arena_init(&a, mem_default());
    allm_store *s = open_faulty(thread, NULL);
    bool opened = !allm_store_error(s);
    if (opened && store_session_open(s, &a, "s", ALLM_SESSION_CREATE, &l, &t))
        CHECK_ALWAYS(!t);               /* the lease was not kept */
    if (opened && !t && check_whole())
        CHECK_TEXT(stored_reason(store_session_open(
                       s, &a, "s", ALLM_SESSION_CREATE, &l, &t)),
                   NULL);
    if (t) {
        write_four(t, &a);
        store_session_drop(t);
        for (int i = 0; i < 2 && !read; i++)
            read = !store_session_open(s, &a, "s", 0, &l, &t);
        CHECK(read);
        if (read) {
            CHECK_INT(l.row.head, 4);
            CHECK_INT(l.message_count, 4);
        }
        if (read)
            store_session_drop(t);
    }
    allm_store_free(s);
    arena_release(&a);
    return plan.calls >= plan.fails_at;
}

static void survives_each_failed_call(void)
{
    for (int thread = 0; thread < 2; thread++) {
        bool more = true;
        for (size_t n = 0; more; n++) {
            char row[32];
            snprintf(row, sizeof row, "call %zu, thread %d", n, thread);
            check_row(row);
            plan_none();
            plan.fails_at = n;
            more = run_script(thread != 0);
        }
        CHECK(plan.fails_at > 15);
    }
    plan_none();
}

static void survives_no_memory(void)
{
    plan_none();
    run_script(false);
}

/* --------------------------------------------------- unknown outcomes --- */

static void asks_what_became_of_a_commit(void)
{
    static const struct {
        const char *why;
        enum commit_fault commit;
        bool unreachable;
        const char *reason;
        uint64_t head;              /* after a reload */
    } rows[] = {
        { "it happened", FAILS_AFTER, false, "", 2 },
        { "it did not", FAILS_BEFORE, false, "store_unreachable", 1 },
        { "nobody knows; it did", FAILS_AFTER, true, "store_unreachable", 2 },
        { "nobody knows; it did not", FAILS_BEFORE, true, "store_unreachable",
          1 },
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct store_loaded l;
        size_t k = i / 2;
        plan_none();
        check_row(rows[k].why);
        arena_init(&a, mem_default());
        allm_store *s = open_faulty(i % 2, NULL);
        struct store_session *t = stored_session(s, &a, "u",
                                                 ALLM_SESSION_CREATE, &l, NULL);
        CHECK_TEXT(stored_write(t, STORED(.type = "created")), "");
        plan.commit = rows[k].commit;
        plan.unreachable = rows[k].unreachable;
        struct store_append *first = stored_append(t, STORED(.type = "change"));
        const char *reason = stored_wait(first);
        CHECK_TEXT(reason, rows[k].reason);
        if (*rows[k].reason)        /* until it is loaded again */
            CHECK_TEXT(stored_write(t, STORED(.type = "change")),
                       "store_unreachable");
        if (t)
            CHECK_TEXT(stored_reason(store_session_reload(t, &a, &l)), NULL);
        CHECK_INT(l.row.head, rows[k].head);
        CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
        store_session_drop(t);
        allm_store_free(s);
        arena_release(&a);
    }
    plan_none();
}

/* -------------------------------------------------------- one bad one --- */

static const allm_error *append_but_one(struct backend *b, struct arena *a,
                                        struct backend_append *const *list,
                                        size_t count)
{
    static const allm_error large = { .size = sizeof(allm_error),
                                      .kind = ALLM_ERR_STORE,
                                      .reason = "record_too_large",
                                      .message = "planned" };
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i]->title, "bad"))
            return &large;
    return memory_backend.append(b, a, list, count);
}

/* Waits until all appends are queued, so that they are one group. */
static const allm_error *wait_here(struct backend *b, struct arena *a, void *ud)
{
    struct store_append **last = ud;
    (void)b;
    (void)a;
    while (!__atomic_load_n(last, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    return NULL;
}

/* An append that the database refuses fails alone. */
static void fails_alone(void)
{
    enum { N = 5, BAD = 2 };
    struct arena a;
    struct store_loaded l;
    struct store_session *t[N] = { NULL };
    struct store_append *p[N] = { NULL }, *last = NULL;
    struct job_call call = { .fn = wait_here, .arena = &a, .ud = &last };
    struct store_job job = { .call = &call };
    arena_init(&a, mem_default());
    plan_none();
    allm_store *s = open_faulty(true, NULL);
    faulty.append = append_but_one;
    for (size_t i = 0; i < N; i++)
        t[i] = stored_session(s, &a, (char[2]){ (char)('a' + (char)i) },
                              ALLM_SESSION_CREATE, &l, NULL);
    queue_put(s, &job);
    for (size_t i = 0; i < N; i++)
        p[i] = stored_append(t[i], STORED(.type = "created",
                                          .title = i == BAD ? "bad" : "good"));
    __atomic_store_n(&last, p[N - 1], __ATOMIC_RELEASE);
    queue_wait(s, &job);
    for (size_t i = 0; i < N; i++)
        CHECK_TEXT(stored_wait(p[i]), i == BAD ? "record_too_large" : "");
    for (size_t i = 0; i < N; i++)
        store_session_drop(t[i]);
    allm_store_free(s);
    arena_release(&a);
}

/* ------------------------------------------------------- a full queue --- */

static size_t watched;              /* atomic */
static uint32_t watch_every_ms;
static int silent_fd;
static bool speaks;                 /* the store's thread only */

static uint32_t watch_period(const struct backend *b)
{
    (void)b;
    return watch_every_ms;
}

static const allm_error *count_watch(struct backend *b, struct arena *a,
                                     size_t count, struct backend_watch *list)
{
    (void)b;
    (void)a;
    (void)count;
    (void)list;
    __atomic_add_fetch(&watched, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A job that queues itself until the leases were renewed. */
struct busy {
    struct store_job job;
    struct job_call call;
    allm_store *store;
    int64_t end_ns;
    size_t before, after;
    bool runs, done;
};

static size_t count_watched(void)
{
    return __atomic_load_n(&watched, __ATOMIC_ACQUIRE);
}

static allm_store *open_watched(uint32_t every_ms)
{
    plan_none();
    watch_every_ms = every_ms;
    allm_store *s = open_faulty(true, NULL);
    faulty.watch = count_watch;
    faulty.watch_ms = watch_period;
    return s;
}

static const allm_error *do_nothing(struct backend *b, struct arena *a,
                                    void *ud)
{
    (void)b;
    (void)a;
    (void)ud;
    return NULL;
}

static void queue_again(struct store_job *job)
{
    struct busy *y = (struct busy *)(void *)job;
    int64_t now = clock_now_ns(clock_real());
    if (!y->runs) {
        y->before = count_watched();
        y->end_ns = clock_after(now, 5000);
    }
    y->runs = true;
    y->after = count_watched();
    if (y->after == y->before && now < y->end_ns)
        queue_put(y->store, job);
    else
        __atomic_store_n(&y->done, true, __ATOMIC_RELEASE);
}

/* Sessions are watched, and their leases renewed, while the queue is full. */
static void watches_between_jobs(void)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = open_watched(1);
    struct store_session *t = stored_session(s, &a, "w", ALLM_SESSION_CREATE,
                                             &l, NULL);
    struct busy y = { .store = s, .call = { .fn = do_nothing, .arena = &a } };
    y.job = (struct store_job){ .call = &y.call, .ended = queue_again };
    queue_put(s, &y.job);
    while (!__atomic_load_n(&y.done, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    store_session_drop(t);
    allm_store_free(s);
    CHECK(y.after > y.before);
    arena_release(&a);
}

static int silent_socket(struct backend *b)
{
    (void)b;
    return silent_fd;
}

static bool hear_once(struct backend *b, bool readable)
{
    (void)b;
    (void)readable;
    bool heard = speaks;
    speaks = false;
    return heard;
}

static const allm_error *speak(struct backend *b, struct arena *a, void *ud)
{
    (void)b;
    (void)a;
    (void)ud;
    speaks = true;
    return NULL;
}

/* News that came with the answer to a statement: the socket says nothing. */
static void hears_news_of_a_statement(void)
{
    struct arena a;
    struct store_loaded l;
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        return;
    arena_init(&a, mem_default());
    silent_fd = ends[0];
    allm_store *s = open_watched(INT32_MAX);
    faulty.socket = silent_socket;
    faulty.hear = hear_once;
    struct store_session *t = stored_session(s, &a, "h", ALLM_SESSION_CREATE,
                                             &l, NULL);
    size_t before = count_watched();
    CHECK_TEXT(stored_reason(store_call(s, speak, &a, NULL)), NULL);
    for (int i = 0; i < 5000 && count_watched() == before; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    CHECK(count_watched() > before);
    store_session_drop(t);
    allm_store_free(s);
    close(ends[0]);
    close(ends[1]);
    arena_release(&a);
}

/* ------------------------------------------------------- dead handles --- */

struct killer {
    uint64_t at;
    bool durable;
    uint64_t calls;
};

static allm_status kill_at(void *ud, uint64_t count, bool durable)
{
    struct killer *k = ud;
    k->calls++;
    CHECK_INT(count, (k->calls + 1) / 2);
    return count == k->at && durable == k->durable ? ALLM_ERR_STORE : ALLM_OK;
}

/* As by kill -9: what was durable is there, nothing was released. */
static void dies(const char *uri)
{
    for (uint64_t at = 1; at <= 3; at++)
        for (int durable = 0; durable < 2; durable++) {
            struct arena a;
            struct store_loaded l;
            struct killer k = { .at = at, .durable = durable != 0 };
            char name[16];
            snprintf(name, sizeof name, "d%d-%d", (int)at, durable);
            arena_init(&a, mem_default());
            allm_store *s = stored_open(uri,
                                        ALLM(store_opts, .on_commit = kill_at,
                                             .on_commit_ud = &k));
            struct store_session *t =
                stored_session(s, &a, name, ALLM_SESSION_CREATE, &l, NULL);
            for (uint64_t i = 1; t && i <= 3; i++)
                CHECK_TEXT(stored_write(t, STORED(.type = "change")),
                           i < at ? "" : "store_unreachable");
            if (t)
                CHECK_TEXT(stored_reason(store_session_reload(t, &a, &l)),
                           "store_unreachable");
            store_session_drop(t);
            allm_store_free(s);
            s = stored_open(uri, NULL);
            uint64_t head = at - 1 + (uint64_t)durable;
            t = stored_session(s, &a, name, ALLM_SESSION_LOCK, &l,
                               head ? NULL : "session_not_found");
            if (t) {
                CHECK_INT(l.row.head, head);
                CHECK_INT(l.after, BACKEND_GONE);
            }
            store_session_drop(t);
            allm_store_free(s);
            arena_release(&a);
        }
}

static void memory_dies(void)
{
    stored_in_memory(dies);
}

static void sqlite_dies(void)
{
    stored_in_file(dies);
}

/* -------------------------------------------------------------- order --- */

/* A session that is freed with appends under way is released behind them, and
 * can be opened at once.  The store's thread frees the store in the end. */
static void releases_in_order(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    for (uint64_t i = 0; s && i < 20; i++) {
        struct store_session *t = stored_session(s, &a, "o",
                                                 ALLM_SESSION_CREATE, &l, NULL);
        CHECK_INT(t ? l.row.head : 2 * i, 2 * i);
        store_append_free(stored_append(t, STORED(.type = "change")));
        store_append_free(stored_append(t, STORED(.type = "change")));
        store_session_drop(t);
    }
    allm_store_free(s);                 /* waits for them */
    s = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "o", ALLM_SESSION_LOCK, &l,
                                             NULL);
    if (t)
        CHECK_INT(l.row.head, 40);
    allm_store_free(s);                 /* the session keeps it */
    CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
    store_session_drop(t);
    arena_release(&a);
}

static void memory_releases_in_order(void)
{
    stored_in_memory(releases_in_order);
}

static void sqlite_releases_in_order(void)
{
    const size_t blocks = check_live_blocks();
    stored_in_file(releases_in_order);
    for (int i = 0; i < 2000 && check_live_blocks() != blocks; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

TESTS = {
    TEST_ONCE(survives_each_failed_call),
    TEST(survives_no_memory),
    TEST_ONCE(asks_what_became_of_a_commit),
    TEST_ONCE(fails_alone),
    TEST_ONCE(watches_between_jobs),
    TEST_ONCE(hears_news_of_a_statement),
    TEST(memory_dies),
    TEST_ONCE(sqlite_dies),
    TEST(memory_releases_in_order),
    TEST_ONCE(sqlite_releases_in_order),
    TESTS_END
};
