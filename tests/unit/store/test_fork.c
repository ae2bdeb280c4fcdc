/* test_fork.c - a store in the child of a process that has it open */
#include "harness/check.h"
#include "harness/stored.h"

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

TESTS = {
    TEST_ONCE(memory_is_of_no_use_after_fork),
    TEST_ONCE(sqlite_is_of_no_use_after_fork),
    TESTS_END
};
