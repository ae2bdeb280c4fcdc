/*
 * run.c - one call of one tool: where it runs, and its answer
 *
 *      start --worker--> queued --> function --+--> answered --> looked at
 *        |                           ^         |
 *        '--inline-------------------'         +--> deferred --any thread--'
 *                                    |         |
 *                                    '--later--'
 *
 * Invariants
 *   (1) A run is claimed once; only who claimed it writes its answer.
 *   (2) The outcome is written under the lock: by who claimed the run, unless
 *       it is gone, or by the thread that pulls, when its time is over.
 *   (3) While its function is busy nobody is rung; the return of the function
 *       tells all that happened meanwhile.
 */
#include "tool/run.h"

#include <errno.h>

static struct allm_tool_run *of_job(struct job *job)
{
    return (
        struct allm_tool_run *)(void *)((char *)job -
                                        offsetof(struct allm_tool_run, job));
}

static void release_memory(void *arg)
{
    arena_release(&((struct allm_tool_run *)arg)->memory);
}

struct allm_tool_run *run_new(struct batch_shared *d,
                              const allm_tool_call *call,
                              const allm_json *arguments, const allm_tool *tool,
                              const allm_executor *executor)
{
    struct allm_tool_run *r = arena_zero(home_arena(d->home), sizeof *r);
    if (!r)
        return NULL;
    r->shared = d;
    r->call = call;
    r->arguments = arguments;
    r->tool = tool;
    r->executor = executor;
    r->began_ns = INT64_MIN;
    arena_init(&r->memory, d->env.mem);
    return home_on_free(d->home, release_memory, r) ? r : NULL;
}

/* -------------------------------------------------------------- answering --- */

enum run_claim run_claim(struct allm_tool_run *r)
{
    pthread_mutex_lock(&r->shared->lock);
    enum run_claim claim = r->answered ? RUN_TWICE
                           : r->gone   ? RUN_DROPPED
                                       : RUN_MINE;
    r->answered = true;         /* keeps (1) */
    pthread_mutex_unlock(&r->shared->lock);
    return claim;
}

void run_show(struct allm_tool_run *r, struct outcome o)
{
    struct batch_shared *d = r->shared;
    pthread_mutex_lock(&d->lock);
    if (!r->gone) {
        r->outcome = o;
        r->stamp = ++d->stamps;
        r->ready = true;
        if (!r->busy)           /* keeps (3) */
            batch_shared_ring(d);
    }
    pthread_mutex_unlock(&d->lock);
}

void run_fail(struct allm_tool_run *r, const char *reason, const char *detail)
{
    if (run_claim(r) == RUN_MINE)
        run_show(r, (struct outcome){ .kind = OUTCOME_FAILURE, .reason = reason,
                                      .detail = detail });
}

/* ---------------------------------------------------------------- running --- */

static void call_function(struct allm_tool_run *r)
{
    if (r->executor)
        r->executor->execute(r->executor->self, r->tool, r, r->arguments);
    else if (r->tool && r->tool->call)
        r->tool->call(r, r->arguments, r->tool->ud);
    else
        run_fail(r, "not_found", "no function is set for this tool");
}

/* The function has returned; in a worker the other thread must be told. */
static void returned(struct allm_tool_run *r, bool tell)
{
    struct batch_shared *d = r->shared;
    pthread_mutex_lock(&d->lock);
    bool silent = !r->answered && !r->deferred && !r->later;
    pthread_mutex_unlock(&d->lock);
    if (silent)
        run_fail(r, FAILURE_RETURN,
                 "the function returned without an answer; call allm_tool_ok() "
                 "or its like once, or allm_tool_defer()");
    pthread_mutex_lock(&d->lock);
    r->busy = false;
    if (tell && !r->gone)
        batch_shared_ring(d);
    pthread_mutex_unlock(&d->lock);
}

/* False: nobody waits for it any more. */
static bool begin(struct allm_tool_run *r)
{
    int64_t now = clock_now_ns(r->shared->env.clock);
    pthread_mutex_lock(&r->shared->lock);
    bool wanted = !r->gone;
    r->began_ns = now;
    pthread_mutex_unlock(&r->shared->lock);
    return wanted;
}

static void work(struct job *job)
{
    struct allm_tool_run *r = of_job(job);
    if (begin(r))
        call_function(r);
}

/* Only now is the batch told: from here on whoever releases the workers waits
 * for this thread. */
static void work_done(struct job *job)
{
    struct allm_tool_run *r = of_job(job);
    returned(r, true);
    batch_shared_drop(r->shared);
}

static void work_dropped(struct job *job)
{
    struct allm_tool_run *r = of_job(job);
    r->in_worker = false;
    run_fail(r, FAILURE_EXIT, "the loop was freed before the tool began");
    returned(r, true);
    batch_shared_drop(r->shared);
}

static bool is_inline(const struct allm_tool_run *r)
{
    if (r->tool && (r->tool->flags & ALLM_TOOL_INLINE))
        return true;
    if (r->executor)
        return MEM_REACHES(r->executor, flags) &&
               (r->executor->flags & ALLM_EXECUTOR_INLINE) != 0;
    return !r->tool || !r->tool->call;
}

/* Hand it to a worker; false: there is none. */
static bool submit(struct allm_tool_run *r)
{
    const struct tool_env *env = &r->shared->env;
    struct workers *workers = env->workers ? env->workers(env->workers_ud, true)
                                           : NULL;
    if (!workers)
        return false;
    r->job = (struct job){ work, work_done, work_dropped, NULL };
    r->in_worker = true;
    batch_shared_keep(r->shared);
    int error = workers_submit(workers, &r->job);
    if (!error)
        return true;
    r->in_worker = false;
    batch_shared_drop(r->shared);
    if (error == ENOMEM && run_claim(r) == RUN_MINE)
        run_show(r, (struct outcome){ .kind = OUTCOME_NOMEM });
    else
        run_fail(r, FAILURE_EXIT,
                 "no thread could be started for it; raise the limit (ulimit "
                 "-u), or mark tools that never block with ALLM_TOOL_INLINE");
    r->busy = false;
    return true;
}

void run_start(struct allm_tool_run *r)
{
    r->busy = true;             /* nobody else knows it yet */
    if (!is_inline(r) && submit(r))
        return;
    begin(r);
    call_function(r);
    returned(r, false);
}

/* ---------------------------------------------------------------- looking --- */

void run_abandon(struct allm_tool_run *r)
{
    const struct tool_env *env = &r->shared->env;
    pthread_mutex_lock(&r->shared->lock);
    r->gone = true;
    pthread_mutex_unlock(&r->shared->lock);
    if (!r->in_worker)
        return;
    r->in_worker = false;
    struct workers *workers = env->workers(env->workers_ud, false);
    if (workers && workers_abandon(workers, &r->job))
        batch_shared_drop(r->shared);     /* the job's */
}

static void call_later(struct allm_tool_run *r)
{
    pthread_mutex_lock(&r->shared->lock);
    allm_tool_fn fn = r->later;
    r->later = NULL;
    r->busy = true;
    pthread_mutex_unlock(&r->shared->lock);
    fn(r, r->arguments, r->later_ud);
    returned(r, false);
}

static struct outcome timed_out(const struct allm_tool_run *r,
                                int64_t timeout_ns)
{
    return outcome_failed(home_arena(r->shared->home), FAILURE_TIMEOUT,
                          "no answer within %lld ms; the function was given up",
                          (long long)(timeout_ns / 1000000));
}

void run_expire(struct allm_tool_run *r, struct outcome o)
{
    run_abandon(r);
    pthread_mutex_lock(&r->shared->lock);
    if (!r->ready) {
        r->outcome = o;         /* keeps (2) */
        r->stamp = ++r->shared->stamps;
        r->ready = true;
    }
    r->busy = false;
    pthread_mutex_unlock(&r->shared->lock);
}

/* What to do next, under the lock. */
enum next { SHOW, CALL_LATER, EXPIRE, WAIT };

static enum next look(struct allm_tool_run *r, int64_t now, int64_t timeout_ns,
                      int64_t *due)
{
    int64_t end = clock_add(r->began_ns == INT64_MIN ? now : r->began_ns,
                            timeout_ns);
    if (r->ready && !r->busy)
        return SHOW;
    if (r->later && !r->busy && !r->answered && now >= r->later_ns &&
        r->later_ns <= end)
        return CALL_LATER;
    if (now >= end)
        return EXPIRE;
    *due = r->later && !r->busy && r->later_ns < end ? r->later_ns : end;
    return WAIT;
}

allm_status run_look(struct allm_tool_run *r, int64_t timeout_ns,
                     int64_t *again_ns)
{
    for (;;) {
        int64_t due = INT64_MAX, now = clock_now_ns(r->shared->env.clock);
        pthread_mutex_lock(&r->shared->lock);
        enum next next = look(r, now, timeout_ns, &due);
        pthread_mutex_unlock(&r->shared->lock);
        if (next == SHOW)
            return ALLM_EVENT;
        if (next == CALL_LATER)
            call_later(r);
        else if (next == EXPIRE)
            run_expire(r, timed_out(r, timeout_ns));
        else {
            if (due < *again_ns)
                *again_ns = due;
            return ALLM_AGAIN;
        }
    }
}

/* ----------------------------------------------------------------- public --- */

void allm_tool_run_free(allm_tool_run *r)
{
    if (!r)
        return;
    run_fail(r, FAILURE_RETURN, "the deferred run was freed without an answer");
    batch_shared_drop(r->shared);
}

const allm_tool_call *allm_tool_run_call(const allm_tool_run *r)
{
    return r ? r->call : NULL;
}

const allm_json *allm_tool_run_context(const allm_tool_run *r)
{
    return r ? r->shared->context : NULL;
}

const char *allm_tool_run_session_id(const allm_tool_run *r)
{
    return r ? r->shared->session_id : NULL;
}

const char *allm_tool_run_request_id(const allm_tool_run *r)
{
    return r ? r->shared->request_id : NULL;
}
