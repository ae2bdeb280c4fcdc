/* test_fork.c - a store in the child of a process that has it open */
#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: every function fails, and nothing waits for a thread. */
static int use_in_child(allm_store *s, struct store_session *t,
                        struct store_append *p, const char *uri)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *other = NULL;
    int bad = 0;
    arena_init(&a, mem_default());
    const char *reasons[] = {
        stored_reason(allm_store_error(s)),
        stored_reason(store_session_open(s, &a, "x", 0, &l, &other)),
        stored_reason(store_session_claim(s, &a, "q", 0, &l, &other)),
        stored_reason(store_session_reload(t, &a, &l)),
        stored_reason(store_session_gone(t, &a)),
        stored_write(t, STORED(.type = "change")),
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        bad += !reasons[i] || strcmp(reasons[i], "store_forked");
    if (!strncmp(uri, "sqlite:", 7)) {
        allm_store *again = allm_store_open(uri, NULL);
        const char *reason = stored_reason(allm_store_error(again));
        bad += !reason || strcmp(reason, "store_forked");
    }
    store_append_free(p);
    store_session_watch(t, NULL);
    store_session_drop(store_session_keep(t));
    store_session_drop(t);
    allm_store_free(s);
    return bad;
}

static void is_of_no_use_after_fork(const char *uri)
{
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    struct store_session *t = stored_session(s, &a, "f", ALLM_SESSION_CREATE,
                                             &l, NULL);
    struct store_append *p = stored_append(t, STORED(.type = "created"));
    if (!p)
        return;
    pid_t child = fork();
    if (!child)
        stored_leave(use_in_child(s, t, p, uri));
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    CHECK_TEXT(stored_wait(p), "");
    CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
}

static void memory_is_of_no_use_after_fork(void)
{
    stored_in_memory(is_of_no_use_after_fork);
}

static void sqlite_is_of_no_use_after_fork(void)
{
    stored_in_file(is_of_no_use_after_fork);
}

/* Holds up the store's thread until the other end of a pipe is closed. */
static allm_status wait_for_end(void *end, uint64_t count, bool durable)
{
    char byte;
    (void)count;
    (void)durable;
    return read(*(int *)end, &byte, 1) < 0 ? ALLM_ERR_STORE : ALLM_OK;
}

/* In a process of its own, which a wait of a minute would end. */
static int open_another(const char *name)
{
    struct arena a;
    struct store_loaded l;
    char uri[512];
    snprintf(uri, sizeof uri, "sqlite:%s-2", stored_path());
    arena_init(&a, mem_default());
    alarm(10);
    allm_store *s = stored_open(uri, ALLM(store_opts, .busy_ms = 60000));
    struct store_session *t = stored_session(s, &a, name, ALLM_SESSION_CREATE,
                                             &l, NULL);
    return !t;
}

/* A session is about to be released by the store's thread: the child has no
 * such thread, and does not wait for it. */
static void waits_for_no_release_after_fork(void)
{
    struct arena a;
    struct store_loaded l;
    int hold[2], status = -1;
    const char *uri = stored_file();
    if (!uri || pipe(hold))
        return;
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, ALLM(store_opts, .on_commit = wait_for_end,
                                          .on_commit_ud = &hold[0]));
    struct store_session *t = stored_session(s, &a, "f", ALLM_SESSION_CREATE,
                                             &l, NULL);
    struct store_append *p = stored_append(t, STORED(.type = "created"));
    store_session_drop(t);
    pid_t child = fork();
    if (!child)
        stored_leave(open_another("f"));
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    close(hold[1]);
    CHECK_TEXT(stored_wait(p), "");
    close(hold[0]);
    allm_store_free(s);
    arena_release(&a);
    stored_remove();
}

TESTS = {
    TEST_ONCE(memory_is_of_no_use_after_fork),
    TEST_ONCE(sqlite_is_of_no_use_after_fork),
    TEST_ONCE(waits_for_no_release_after_fork),
    TESTS_END
};
