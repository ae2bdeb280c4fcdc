/*
 * crew.c - the thread of a toolbox: starts processes, answers their runs
 *
 *      execute() --inbox--> waiting --> running --(end)--> answered, freed
 *                              |           |
 *      on_cancel --inbox-------'-----------'   SIGTERM, SIGKILL 2 s later
 *
 * Invariants
 *   (1) Only the thread touches a run after it was posted, except for its
 *       task of cancellation, which is posted under the lock of the run.
 *   (2) It is dropped after its run was answered, which ends (1), and after a
 *       cancellation that was posted has been taken.
 *   (3) waiting is not empty only if max_procs calls are running.
 */
#include "toolbox/crew.h"

#include "allm.h"
#include "base/clock.h"
#include "base/status.h"
#include "loop/thread.h"
#include "proc/process.h"
#include "proc/warden.h"
#include "toolbox/answer.h"
#include "json/json.h"
#include "json/write.h"

#include <errno.h>

enum { GRACE_MS = 2000, ERR_KEPT = 4096 };

struct call {
    struct crew_run run;        /* must be the first */
    struct crew *crew;
    struct call *next;          /* waiting, or running */
    const struct program *program;
    const struct described *tool;
    struct arena arena;
    struct slice input;
    struct jail jail;
    struct process process;
    struct crew_timer kill;     /* when SIGTERM was not enough */
    bool began;

    const char *command;        /* of a shell; NULL: a tool of a program */
    struct program shell;
    struct described shell_tool;
    uint32_t timeout_ms;        /* of the shell */
    bool ending, late;          /* SIGTERM was sent; the timeout is why */
};

struct crew {
    struct mem mem;
    size_t max_procs, running_count;
    struct inbox *inbox;
    struct poll poll;
    struct poll_handler woken;
    struct timers timers;
    struct call *waiting, **waiting_end, *running;
    struct crew_guest *guest;   /* or NULL */
    struct thread thread;
    pthread_mutex_t lock;       /* guards the next two */
    bool started;
    char missing[CREW_MISSING]; /* the most of all processes */
    atomic_bool stopping;
};

/* --------------------------------------------------------------- calls --- */

static void free_call(struct crew_run *r)
{
    struct call *c = (struct call *)(void *)r;
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
    crew_stop_timer(crew, &c->kill);
    if (c->began) {
        remove_call(&crew->running, c);
        crew->running_count--;
    }
    jail_close(&c->jail);
    crew_run_end(&c->run);
}

static void note_missing(struct crew *c, const struct report *r)
{
    _Static_assert(sizeof c->missing == sizeof r->missing, "of one size");
    pthread_mutex_lock(&c->lock);
    if (strlen(r->missing) > strlen(c->missing))
        memcpy(c->missing, r->missing, sizeof c->missing);
    pthread_mutex_unlock(&c->lock);
}

void crew_missing(struct crew *c, char parts[CREW_MISSING])
{
    pthread_mutex_lock(&c->lock);
    memcpy(parts, c->missing, CREW_MISSING);
    pthread_mutex_unlock(&c->lock);
}

static void process_ended(struct process *p)
{
    struct call *c = p->ud;
    note_missing(c->crew, &p->report);
    if (c->command)
        answer_shell(c->run.run, p, &c->jail, c->late ? c->timeout_ms : 0);
    else
        answer_process(c->run.run, p, &c->jail, c->tool->output);
    process_release(p);
    end_call(c);
}

static const allm_error *start_process(struct call *c)
{
    const allm_error *why;
    const char *path = c->program->path;
    const char *tool[] = { path, c->tool->tool->name, NULL };
    /* The outer shell joins stdout and stderr: lines stay in their order. */
    const char *shell[] = { path, "-c", "exec \"$0\" -c \"$1\" 2>&1", path,
                            c->command, NULL };
    const char *const *argv = c->command ? shell : tool;
    struct process_opts o = { .argv = argv, .mem = c->crew->mem,
                              .head_max = OUTPUT_HEAD, .tail_max = OUTPUT_TAIL,
                              .err_max = ERR_KEPT };
    o.warden = warden_path(&c->arena, &why);
    if (!o.warden)
        return why ? why : status_nomem();
    why = program_jail(c->program, c->tool, c->run.run, &c->jail, &c->arena);
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

/* False: no memory. */
static bool set_kill(struct call *c, uint32_t after_ms)
{
    return crew_set_timer(c->crew, &c->kill,
                          clock_after(clock_now_ns(clock_real()), after_ms));
}

static void start_call(struct crew *crew, struct call *c)
{
    const allm_error *why = allm_tool_cancelled(c->run.run) ? status_nomem()
                                                            : start_process(c);
    if (why) {
        answer_fault(c->run.run, why);  /* dropped if it was cancelled */
        end_call(c);
        return;
    }
    c->began = true;
    c->next = crew->running;
    crew->running = c;
    crew->running_count++;
    if (c->timeout_ms && !set_kill(c, c->timeout_ms))
        child_kill(&c->process.child);
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

static void end_process(struct call *c)
{
    c->ending = true;
    child_term(&c->process.child);
    if (!set_kill(c, GRACE_MS))
        child_kill(&c->process.child);
}

static void kill_process(struct call *c)
{
    c->ending = true;
    child_kill(&c->process.child);
    set_kill(c, GRACE_MS);      /* again, if that was not enough */
}

static void cancel_call(struct crew_run *r)
{
    struct call *c = (struct call *)(void *)r;
    if (c->began)               /* else start_call() ends it */
        end_process(c);
}

static void kill_late(void *ud)
{
    struct call *c = ud;
    if (c->ending) {
        kill_process(c);
    } else {
        c->late = true;
        end_process(c);
    }
}

static void queue_call(struct crew_run *r)
{
    struct call *c = (struct call *)(void *)r;
    *c->crew->waiting_end = c;
    c->crew->waiting_end = &c->next;
}

/* ---------------------------------------------------------------- runs --- */

static void drop_run(struct crew_run *r)
{
    if (!atomic_load(&r->cancel_posted) || r->cancel_taken)
        r->drop(r);             /* keeps (2) */
}

void crew_run_end(struct crew_run *r)
{
    r->over = true;
    allm_tool_run_free(r->run);
    drop_run(r);
}

static void begin_run(void *ud)
{
    struct crew_run *r = ud;
    r->begin(r);
}

static void cancel_run(void *ud)
{
    struct crew_run *r = ud;
    r->cancel_taken = true;
    if (r->over)
        r->drop(r);
    else
        r->cancelled(r);
}

/* Under the lock of the run: keeps (1). */
static void post_cancel(void *ud)
{
    struct crew_run *r = ud;
    atomic_store(&r->cancel_posted, true);
    if (!inbox_post(r->crew->inbox, &r->cancel.item))
        atomic_store(&r->cancel_posted, false);
}

void crew_run_post(struct crew *c, struct crew_run *r, allm_tool_run *run)
{
    r->crew = c;
    r->start = (struct crew_task){ .run = begin_run, .ud = r };
    r->cancel = (struct crew_task){ .run = cancel_run, .ud = r };
    r->run = allm_tool_defer(run);
    if (!r->run) {
        r->drop(r);
        answer_fault(run, status_nomem());
        return;
    }
    /* From here on the thread may answer and drop it. */
    allm_tool_on_cancel(r->run, post_cancel, r);
    inbox_post(c->inbox, &r->start.item);
}

/* -------------------------------------------------------------- thread --- */

static void run_tasks(struct inbox_item *i)
{
    for (struct inbox_item *next; i; i = next) {
        struct crew_task *task = (struct crew_task *)(void *)i;
        next = i->next;
        task->run(task->ud);
    }
}

static void run_timers(struct crew *crew)
{
    struct timer *t;
    while ((t = timers_pop(&crew->timers, clock_now_ns(clock_real())))) {
        struct crew_timer *timer = (struct crew_timer *)(void *)t;
        timer->due(timer->ud);
    }
}

static void wait_for_news(struct crew *crew)
{
    int64_t due = POLL_NEVER, guest = POLL_NEVER;
    struct poll_ready r;
    timers_next(&crew->timers, &due);
    if (crew->guest)
        guest = crew->guest->due(crew->guest);
    if (guest < due)
        due = guest;
    poll_set_deadline(&crew->poll, due);
    poll_wait(&crew->poll, -1);
    while (poll_next(&crew->poll, &r))
        ((struct poll_handler *)r.tag)->ready(r.tag, r.what);
    run_timers(crew);
    if (crew->guest)
        crew->guest->turn(crew->guest);
}

/* The end of a toolbox: nothing begins any more, what runs is killed. */
static void end_all(struct crew *crew)
{
    while (crew->waiting) {
        struct call *c = crew->waiting;
        crew->waiting = c->next;
        answer_fault(c->run.run, &answer_toolbox_freed);
        end_call(c);
    }
    crew->waiting_end = &crew->waiting;
    for (struct call *c = crew->running; c; c = c->next) {
        answer_fault(c->run.run, &answer_toolbox_freed);
        kill_process(c);
    }
}

static bool is_busy(const struct crew *crew)
{
    return crew->running_count || (crew->guest && crew->guest->busy);
}

static void stop_all(struct crew *crew, bool first)
{
    end_all(crew);
    if (first && crew->guest)
        crew->guest->stop(crew->guest);
}

static void run_crew(void *arg)
{
    struct crew *crew = arg;
    bool ending = false;
    while (!ending || is_busy(crew)) {
        run_tasks(inbox_take(crew->inbox));
        if (atomic_load(&crew->stopping)) {
            stop_all(crew, !ending);
            ending = true;
        }
        start_waiting(crew);
        if (!ending || is_busy(crew))
            wait_for_news(crew);
    }
    /* Cancellations of calls that are over; no more of them. */
    run_tasks(inbox_close(crew->inbox));
    end_all(crew);
    if (crew->guest)
        crew->guest->leave(crew->guest);
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

int crew_start(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    int error = c->started ? 0 : start_thread(c);
    pthread_mutex_unlock(&c->lock);
    return error;
}

const char *crew_fault(int error)
{
    return error == EMFILE ? "the thread of the toolbox could not be started: "
                             "too many files are open; close some, or raise "
                             "the limit (ulimit -n)"
                           : "the thread of the toolbox could not be started; "
                             "raise the limit (ulimit -u)";
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

bool crew_post(struct crew *c, struct crew_task *task)
{
    return inbox_post(c->inbox, &task->item);
}

struct inbox *crew_inbox(struct crew *c)
{
    return c->inbox;
}

void crew_invite(struct crew *c, struct crew_guest *g)
{
    c->guest = g;
}

struct poll *crew_poll(struct crew *c)
{
    return &c->poll;
}

bool crew_set_timer(struct crew *c, struct crew_timer *t, int64_t due_ns)
{
    return timers_set(&c->timers, &t->timer, due_ns);
}

void crew_stop_timer(struct crew *c, struct crew_timer *t)
{
    timers_cancel(&c->timers, &t->timer);
}

/* -------------------------------------------------------------- callers --- */

static struct call *new_call(struct crew *crew, const struct program *p,
                             const struct described *d, const allm_json *args)
{
    struct call *c = mem_alloc(crew->mem, sizeof *c);
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->crew = crew;
    c->program = p;
    c->tool = d;
    c->kill.due = kill_late;
    c->kill.ud = c;
    c->run = (struct crew_run){ .begin = queue_call, .cancelled = cancel_call,
                                .drop = free_call };
    arena_init(&c->arena, crew->mem);
    struct buf input = buf_in(&c->arena, SIZE_MAX / 2);
    json_write(&input, args ? args : json_empty_object(), 0);
    buf_byte(&input, '\n');
    c->input = buf_slice(&input);
    if (!input.broken)
        return c;
    free_call(&c->run);
    return NULL;
}

/* Hand a call to the thread; a NULL call is out of memory. */
static void post_call(struct crew *crew, struct call *c, allm_tool_run *run)
{
    if (c)
        crew_run_post(crew, &c->run, run);
    else
        answer_fault(run, status_nomem());
}

bool crew_ready(struct crew *crew, allm_tool_run *run)
{
    int error = crew_start(crew);
    if (error)
        run_fail(run, FAILURE_EXIT, crew_fault(error));
    return !error;
}

void crew_call(struct crew *crew, const struct program *p,
               const struct described *d, allm_tool_run *run,
               const allm_json *args)
{
    if (crew_ready(crew, run))
        post_call(crew, new_call(crew, p, d, args), run);
}

void crew_shell(struct crew *crew, const struct crew_shell *shell,
                allm_tool_run *run)
{
    if (!crew_ready(crew, run))
        return;
    struct call *c = new_call(crew, NULL, NULL, NULL);
    if (c) {
        c->shell = shell->program;
        c->shell_tool = shell->tool;
        c->shell_tool.needs = json_copy(&c->arena, shell->tool.needs);
        c->command = arena_text(&c->arena, shell->command);
        c->timeout_ms = shell->timeout_ms;
        c->program = &c->shell;
        c->tool = &c->shell_tool;
        c->input = (struct slice){ "", 0 };
        if (c->arena.broken) {
            free_call(&c->run);
            c = NULL;
        }
    }
    post_call(crew, c, run);
}
