/*
 * crew.c - the thread of a toolbox: starts processes, answers their runs
 *
 *      execute() --inbox--> waiting --> running --(end)--> answered, freed
 *                              |           |
 *      on_cancel --inbox-------'-----------'   SIGTERM, SIGKILL 2 s later
 *
 * Invariants
 *   (1) Only the thread touches a call after it was posted, except for its
 *       note of cancellation, which is posted under the lock of the run.
 *   (2) A call is freed after its run was answered, which ends (1), and after a
 *       note that was posted has been taken.
 *   (3) waiting is not empty only if max_procs calls are running.
 */
#include "toolbox/crew.h"

#include "allm.h"
#include "base/clock.h"
#include "base/status.h"
#include "loop/inbox.h"
#include "loop/thread.h"
#include "loop/timers.h"
#include "proc/process.h"
#include "proc/warden.h"
#include "toolbox/answer.h"
#include "json/json.h"
#include "json/write.h"

#include <errno.h>
#include <stdatomic.h>

enum { GRACE_MS = 2000, ERR_KEPT = 4096 };

/* What other threads post. */
struct note {
    struct inbox_item item;     /* must be the first */
    struct call *call;
    bool cancel;                /* else: start it */
};

struct call {
    struct crew *crew;
    struct call *next;          /* waiting, or running */
    const struct program *program;
    const struct described *tool;
    allm_tool_run *run;         /* deferred; a root */
    struct arena arena;
    struct slice input;
    struct jail jail;
    struct process process;
    struct timer kill;          /* when SIGTERM was not enough */
    struct note start, cancel;
    atomic_bool cancel_posted;
    bool cancel_taken;
    bool began, over;
};

struct crew {
    struct mem mem;
    size_t max_procs, running_count;
    struct inbox *inbox;
    struct poll poll;
    struct poll_handler woken;
    struct timers timers;
    struct call *waiting, **waiting_end, *running;
    struct thread thread;
    pthread_mutex_t lock;       /* guards the next one */
    bool started;
    atomic_bool stopping;
};

/* --------------------------------------------------------------- calls --- */

static void free_call(struct call *c)
{
    if (atomic_load(&c->cancel_posted) && !c->cancel_taken)
        return;                 /* keeps (2) */
    struct mem mem = c->crew->mem;
    arena_release(&c->arena);
    mem_free(mem, c, sizeof *c);
}

static void remove_call(struct call **list, struct call *c)
{
    while (*list && *list != c)
        list = &(*list)->next;
    if (*list)
        *list = c->next;
}

/* Its run has been answered. */
static void end_call(struct call *c)
{
    struct crew *crew = c->crew;
    c->over = true;
    timers_cancel(&crew->timers, &c->kill);
    if (c->began) {
        remove_call(&crew->running, c);
        crew->running_count--;
    }
    jail_close(&c->jail);
    allm_tool_run_free(c->run);
    free_call(c);
}

static void process_ended(struct process *p)
{
    struct call *c = p->ud;
    answer_process(c->run, p, &c->jail, c->tool->output);
    process_release(p);
    end_call(c);
}

static const allm_error *start_process(struct call *c)
{
    const allm_error *why;
    const char *argv[] = { c->program->path, c->tool->tool->name, NULL };
    struct process_opts o = { .argv = argv, .mem = c->crew->mem,
                              .head_max = OUTPUT_HEAD, .tail_max = OUTPUT_TAIL,
                              .err_max = ERR_KEPT };
    o.warden = warden_path(&c->arena, &why);
    if (!o.warden)
        return why ? why : status_nomem();
    why = program_jail(c->program, c->tool, c->run, &c->jail, &c->arena);
    if (why)
        return why;
    o.orders = buf_slice(&c->jail.orders);
    c->process.poll = &c->crew->poll;
    c->process.input = c->input;
    c->process.done = process_ended;
    c->process.ud = c;
    int error = process_start(&c->process, &o);
    return error ? jail_not_started(&c->arena, c->program->path, error) : NULL;
}

static void start_call(struct crew *crew, struct call *c)
{
    const allm_error *why = allm_tool_cancelled(c->run) ? status_nomem()
                                                        : start_process(c);
    if (why) {
        answer_fault(c->run, why);      /* dropped if it was cancelled */
        end_call(c);
        return;
    }
    c->began = true;
    c->next = crew->running;
    crew->running = c;
    crew->running_count++;
}

static void start_waiting(struct crew *crew)
{
    while (crew->waiting && crew->running_count < crew->max_procs) {
        struct call *c = crew->waiting;
        crew->waiting = c->next;
        if (!crew->waiting)
            crew->waiting_end = &crew->waiting;
        start_call(crew, c);
    }
}

static void cancel_call(struct crew *crew, struct call *c)
{
    c->cancel_taken = true;
    if (c->over) {
        free_call(c);
        return;
    }
    if (!c->began)
        return;                 /* start_call() ends it */
    child_term(&c->process.child);
    if (!timers_set(&crew->timers, &c->kill,
                    clock_after(clock_now_ns(clock_real()), GRACE_MS)))
        child_kill(&c->process.child);
}

/* -------------------------------------------------------------- thread --- */

static void take_notes(struct crew *crew)
{
    struct inbox_item *next;
    for (struct inbox_item *i = inbox_take(crew->inbox); i; i = next) {
        struct note *n = (struct note *)(void *)i;
        next = i->next;
        if (n->cancel) {
            cancel_call(crew, n->call);
        } else {
            *crew->waiting_end = n->call;
            crew->waiting_end = &n->call->next;
        }
    }
}

static void kill_late(struct crew *crew)
{
    struct timer *t;
    while ((t = timers_pop(&crew->timers, clock_now_ns(clock_real())))) {
        struct call *c =
            (struct call *)(void *)((char *)t - offsetof(struct call, kill));
        child_kill(&c->process.child);
    }
}

static void wait_for_news(struct crew *crew)
{
    int64_t due = POLL_NEVER;
    struct poll_ready r;
    timers_next(&crew->timers, &due);
    poll_set_deadline(&crew->poll, due);
    poll_wait(&crew->poll, -1);
    while (poll_next(&crew->poll, &r))
        ((struct poll_handler *)r.tag)->ready(r.tag, r.what);
    kill_late(crew);
}

/* The end of a toolbox: nothing begins any more, what runs is killed. */
static void end_all(struct crew *crew)
{
    static const allm_error freed = {
        .size = sizeof freed,
        .kind = ALLM_ERR_TOOL,
        .reason = FAILURE_EXIT,
        .message = "the toolbox was freed",
    };
    while (crew->waiting) {
        struct call *c = crew->waiting;
        crew->waiting = c->next;
        answer_fault(c->run, &freed);
        end_call(c);
    }
    crew->waiting_end = &crew->waiting;
    for (struct call *c = crew->running; c; c = c->next) {
        answer_fault(c->run, &freed);
        child_kill(&c->process.child);
    }
}

static void run_crew(void *arg)
{
    struct crew *crew = arg;
    bool ending = false;
    while (!ending || crew->running_count) {
        take_notes(crew);
        if (atomic_load(&crew->stopping)) {
            ending = true;
            end_all(crew);
        }
        start_waiting(crew);
        if (!ending || crew->running_count)
            wait_for_news(crew);
    }
    take_notes(crew);           /* cancellations of calls that are over */
    end_all(crew);
}

static void ring_taken(struct poll_handler *h, unsigned what)
{
    struct crew *crew =
        (struct crew *)(void *)((char *)h - offsetof(struct crew, woken));
    (void)what;
    wake_readable(inbox_wake(crew->inbox));
}

struct crew *crew_new(struct mem mem, size_t max_procs)
{
    struct crew *c = mem_alloc(mem, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct crew){ .mem = mem, .max_procs = max_procs,
                        .woken = { ring_taken } };
    c->waiting_end = &c->waiting;
    timers_init(&c->timers, mem);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* Called under the lock.  0 or an errno. */
static int start_thread(struct crew *c)
{
    int error = inbox_new(c->mem, &c->inbox);
    if (error)
        return error;
    error = poll_init(&c->poll);
    if (!error)
        error = poll_add(&c->poll, wake_fd(inbox_wake(c->inbox)), POLL_READ,
                         &c->woken);
    if (!error)
        error = thread_start(&c->thread, run_crew, c, "allm-tools");
    if (error) {
        poll_release(&c->poll);
        inbox_drop(c->inbox);
        c->inbox = NULL;
    }
    c->started = !error;
    return error;
}

static int ensure_thread(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    int error = c->started ? 0 : start_thread(c);
    pthread_mutex_unlock(&c->lock);
    return error;
}

void crew_free(struct crew *c)
{
    if (!c)
        return;
    if (c->started) {
        atomic_store(&c->stopping, true);
        wake_ring(inbox_wake(c->inbox));
        thread_join(&c->thread);
        poll_release(&c->poll);
        inbox_drop(c->inbox);
    }
    timers_release(&c->timers);
    pthread_mutex_destroy(&c->lock);
    mem_free(c->mem, c, sizeof *c);
}

static void post_cancel(void *ud)
{
    struct call *c = ud;
    atomic_store(&c->cancel_posted, true);
    inbox_post(c->crew->inbox, &c->cancel.item);
}

static struct call *new_call(struct crew *crew, const struct program *p,
                             const struct described *d, const allm_json *args)
{
    struct call *c = mem_alloc(crew->mem, sizeof *c);
    struct buf input;
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->crew = crew;
    c->program = p;
    c->tool = d;
    c->start = (struct note){ .call = c };
    c->cancel = (struct note){ .call = c, .cancel = true };
    arena_init(&c->arena, crew->mem);
    buf_init(&input, &c->arena, SIZE_MAX / 2);
    json_write(&input, args ? args : json_empty_object(), 0);
    buf_byte(&input, '\n');
    c->input = buf_slice(&input);
    if (!input.broken)
        return c;
    free_call(c);
    return NULL;
}

void crew_call(struct crew *crew, const struct program *p,
               const struct described *d, allm_tool_run *run,
               const allm_json *args)
{
    int error = ensure_thread(crew);
    struct call *c = error ? NULL : new_call(crew, p, d, args);
    if (error) {
        run_fail(run, FAILURE_EXIT,
                 "the thread of the toolbox could not be "
                 "started; raise the limit (ulimit -u)");
        return;
    }
    if (!c || !(c->run = allm_tool_defer(run))) {
        if (c)
            free_call(c);
        answer_fault(run, status_nomem());
        return;
    }
    /* From here on the thread may answer and free the call. */
    allm_tool_on_cancel(c->run, post_cancel, c);
    inbox_post(crew->inbox, &c->start.item);
}
