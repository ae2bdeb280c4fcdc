/* crew.h - the thread of a toolbox: starts processes, answers their runs */
#pragma once

#include "loop/inbox.h"
#include "loop/poll.h"
#include "loop/timers.h"
#include "toolbox/program.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The thread starts with the first call.  All functions may be called from any
 * thread; { 0 } is not valid.
 */
struct crew;

/* At most max_procs processes run at once; others wait in line.  NULL: out of
 * memory. */
struct crew *crew_new(struct mem mem, size_t max_procs);

/* Kill all processes, answer their runs, stop the guest, and join the
 * thread. */
void crew_free(struct crew *c);

/* The parts of the sandbox that were not in force for a process that has ended:
 * " mounts pids". */
enum { CREW_MISSING = 128 };
void crew_missing(struct crew *c, char parts[CREW_MISSING]);

/* ------------------------------------------------- work for the thread --- */

/* Something that the thread does once. */
struct crew_task {
    struct inbox_item item;     /* must be the first */
    void (*run)(void *ud);
    void *ud;
};

/* Start the thread if there is none: 0 or an errno.  Then tasks can be posted;
 * false: the toolbox is being freed. */
int crew_start(struct crew *c);
/* What the user is told about this errno. */
const char *crew_fault(int error);
bool crew_post(struct crew *c, struct crew_task *task);

/* Where tasks are posted, for those who may outlive the crew. */
struct inbox *crew_inbox(struct crew *c);

/*
 * What lives in the thread besides calls: servers.  All functions are called
 * there.  Before the first call of crew_start().
 */
struct crew_guest {
    void (*stop)(struct crew_guest *g);         /* the toolbox is being freed;
                                                   the thread ends when busy
                                                   is 0 */
    void (*turn)(struct crew_guest *g);         /* after each wait */
    int64_t (*due)(struct crew_guest *g);       /* when turn() is due */
    void (*leave)(struct crew_guest *g);        /* the thread ends */
    size_t busy;
};
void crew_invite(struct crew *c, struct crew_guest *g);

/* For the thread only. */
struct crew_timer {
    struct timer timer;         /* must be the first */
    void (*due)(void *ud);
    void *ud;
};
struct poll *crew_poll(struct crew *c);
/* False: no memory, and it is not set.  One that is set can be moved. */
bool crew_set_timer(struct crew *c, struct crew_timer *t, int64_t due_ns);
void crew_stop_timer(struct crew *c, struct crew_timer *t);

/*
 * A run that the thread answers.  The owner fills in the functions, which are
 * called in the thread; drop() in any.  After it answered the run, it calls
 * crew_run_end().
 */
struct crew_run {
    void (*begin)(struct crew_run *r);
    void (*cancelled)(struct crew_run *r);      /* nobody waits any more */
    void (*drop)(struct crew_run *r);           /* free it */

    struct crew *crew;
    allm_tool_run *run;         /* deferred; a root */
    struct crew_task start, cancel;
    atomic_bool cancel_posted;
    bool cancel_taken, over;
};

/* Defer the run and hand it to the thread.  If that fails, the run is answered
 * and the struct dropped. */
void crew_run_post(struct crew *c, struct crew_run *r, allm_tool_run *run);
void crew_run_end(struct crew_run *r);

/* False: there is no thread, and the run was answered. */
bool crew_ready(struct crew *c, allm_tool_run *run);

/* ---------------------------------------------------- calls of programs --- */

/*
 * Run this tool of a program.  The run is deferred and answered by the thread.
 * Program and tool must outlive the crew.
 */
void crew_call(struct crew *c, const struct program *p,
               const struct described *d, allm_tool_run *run,
               const allm_json *args);

/* A command for a shell. */
struct crew_shell {
    struct program program;     /* the shell; its texts outlive the crew */
    struct described tool;
    const char *command;        /* copied, as are the needs of the tool */
    uint32_t timeout_ms;
};

/* Run it as crew_call() does.  Its stdout and stderr are one. */
void crew_shell(struct crew *c, const struct crew_shell *shell,
                allm_tool_run *run);
