/*
 * test_sqlite_processes.c - one file, many processes; and those that are killed
 *
 * tag: clock
 */
#include "harness/check.h"
#include "harness/stored.h"

#if ALLM_SQLITE
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 32, RECORDS = 8 };

static const char *uri(void)
{
    return stored_path() - strlen("sqlite:");
}

/* Why it failed goes to standard error; 0: all is well. */
static int complain(const allm_error *error)
{
    if (!error)
        return 0;
    fprintf(stderr, "# process %d: %s: %s\n", (int)getpid(), error->reason,
            error->message);
    return 1;
}

/* Open the file, and write a session of its own. */
static int write_session(int number, int round)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    char name[32];
    int bad = 0;
    arena_init(&a, mem_default());
    snprintf(name, sizeof name, "s%d-%d", round, number);
    allm_store *s = allm_store_open(uri(), NULL);
    bad = complain(allm_store_error(s));
    if (!bad)
        bad = complain(
            store_session_open(s, &a, name, ALLM_SESSION_CREATE, &l, &t));
    for (uint64_t i = 0; t && !bad && i < RECORDS; i++)
        bad = *stored_write(t, STORED(.type = "change", .keep = i,
                                      .message = "[1]")) != '\0';
    store_session_drop(t);
    allm_store_free(s);
    return bad;
}

/* All at once: they wait until the pipe is closed. */
static int run_all(int round)
{
    int go[2], failed = 0;
    char byte;
    if (pipe(go))
        return -1;
    for (int i = 0; i < PROCESSES; i++)
        if (!fork()) {
            close(go[1]);
            if (read(go[0], &byte, 1) < 0)
                _exit(2);
            _exit(write_session(i, round));
        }
    close(go[0]);
    close(go[1]);
    for (int i = 0, status; i < PROCESSES; i++)
        failed += wait(&status) < 0 || status;
    return failed;
}

static void check_sessions(int rounds)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri(), NULL);
    for (int i = 0; i < rounds * PROCESSES; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%d-%d", i / PROCESSES, i % PROCESSES);
        struct store_session *t = stored_session(s, &a, name, 0, &l, NULL);
        if (t)
            CHECK_INT(l.row.head, RECORDS);
        store_session_drop(t);
    }
    allm_store_free(s);
    arena_release(&a);
}

/* A process that holds a session until it is killed. */
static pid_t start_holder(void)
{
    int ready[2];
    char byte;
    if (pipe(ready))
        return -1;
    pid_t child = fork();
    if (!child) {
        struct arena a;
        struct store_loaded l;
        struct store_session *t = NULL;
        arena_init(&a, mem_default());
        allm_store *s = allm_store_open(uri(), NULL);
        int bad = complain(allm_store_error(s));
        if (!bad)
            bad = complain(
                store_session_open(s, &a, "h", ALLM_SESSION_CREATE, &l, &t));
        if (!bad)
            bad = *stored_write(t, STORED(.type = "change")) != '\0';
        if (write(ready[1], bad ? "n" : "y", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1 && byte == 'y');
    close(ready[0]);
    return child;
}

/* On a fresh file, and again with the WAL of a process that was killed. */
static void many_processes_write(void)
{
    if (!stored_file())
        return;
    CHECK_INT(run_all(0), 0);
    pid_t child = start_holder();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_INT(run_all(1), 0);
    check_sessions(2);
    stored_remove();
}

static int64_t now_ms(void)
{
    return clock_now_ns(clock_real()) / 1000000;
}

static void frees_the_lease_of_the_dead(void)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    if (!stored_file())
        return;
    arena_init(&a, mem_default());
    pid_t child = start_holder();
    allm_store *s = stored_open(uri(), NULL);
    t = stored_session(s, &a, "h", ALLM_SESSION_LOCK, &l, "session_locked");
    store_session_drop(t);
    kill(child, SIGSTOP);               /* a stopped process keeps it */
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    t = stored_session(s, &a, "h", ALLM_SESSION_LOCK, &l, "session_locked");
    store_session_drop(t);
    t = NULL;
    int64_t begin = now_ms();
    kill(child, SIGKILL);
    while (s && !t && now_ms() < begin + 5000)
        store_session_open(s, &a, "h", ALLM_SESSION_LOCK, &l, &t);
    CHECK(t && now_ms() - begin <= 100);
    if (t) {
        CHECK_INT(l.after, BACKEND_GONE);
        CHECK_INT(l.row.head, 1);
        CHECK_INT(l.row.epoch, 2);
    }
    store_session_drop(t);
    waitpid(child, NULL, 0);
    allm_store_free(s);
    arena_release(&a);
    stored_remove();
}

TESTS = {
    TEST_ONCE(many_processes_write),
    TEST_ONCE(frees_the_lease_of_the_dead),
    TESTS_END
};
#else
static void needs_sqlite(void)
{
    check_skip("SQLite");
}

TESTS = { TEST_ONCE(needs_sqlite), TESTS_END };
#endif
