/*
 * run.c - one execution of a tool's function, and its outcome
 *
 *      start --worker--> queued --> function --+--> answered --> polled
 *        |                           ^         |
 *        '--inline-------------------'         +--> deferred --any thread--'
 *                                    |         |
 *                                    '--later--'
 *
 * Invariants
 *   (1) A run is claimed once; only the thread that claimed it answers.
 *   (2) The outcome is written under the lock: by the thread that claimed the
 *       run, unless it is abandoned, or by the thread that pulls, at a timeout.
 *   (3) The waker is not rung while the function runs: the batch polls the run
 *       after the function returns.
 */
#include "tool/run.h"

#include <errno.h>

static struct allm_tool_run *run_of_job(struct job *job)
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

enum run_claim run_claim(struct allm_tool_run *r)
{
    pthread_mutex_lock(&r->shared->lock);
    enum run_claim claim = r->answered    ? RUN_TWICE
                           : r->abandoned ? RUN_DROPPED
                                          : RUN_MINE;
    r->answered = true;         /* keeps (1) */
    r->on_cancel = NULL;
    pthread_mutex_unlock(&r->shared->lock);
    return claim;
}

void run_publish(struct allm_tool_run *r, struct outcome o)
{
    struct batch_shared *d = r->shared;
    pthread_mutex_lock(&d->lock);
    if (!r->abandoned) {
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
        run_publish(r, (struct outcome){ .kind = OUTCOME_FAILURE,
                                         .reason = reason,
                                      .detail = detail });
}

void run_fail_copy(struct allm_tool_run *r, const char *reason,
                   const char *detail)
{
    if (run_claim(r) == RUN_MINE)
        run_publish(r, outcome_failed(&r->memory, reason, "%s", detail));
}

void run_nomem(struct allm_tool_run *r)
{
    if (run_claim(r) == RUN_MINE)
        run_publish(r, (struct outcome){ .kind = OUTCOME_NOMEM });
}

static void execute_call(struct allm_tool_run *r)
{
    if (r->executor)
        r->executor->execute(r->executor->self, r->tool, r, r->arguments);
    else if (r->tool && r->tool->call)
        r->tool->call(r, r->arguments, r->tool->ud);
    else
        run_fail(r, FAILURE_NOT_FOUND, DETAIL_NO_FUNCTION);
}

/* The function has returned; `ring` wakes the thread that pulls. */
static void note_return(struct allm_tool_run *r, bool ring)
{
    struct batch_shared *d = r->shared;
    pthread_mutex_lock(&d->lock);
    bool silent = !r->answered && !r->deferred && !r->later;
    pthread_mutex_unlock(&d->lock);
    if (silent)
        run_fail(r, FAILURE_RETURN,
                 "the function returned without an answer; call allm_tool_ok() "
                 "or a similar function once, or allm_tool_defer()");
    pthread_mutex_lock(&d->lock);
    r->busy = false;
    if (ring && !r->abandoned)
        batch_shared_ring(d);
    pthread_mutex_unlock(&d->lock);
}

/* Record the start; false: the run is abandoned. */
static bool note_start(struct allm_tool_run *r)
{
    int64_t now = clock_now_ns(r->shared->env.clock);
    pthread_mutex_lock(&r->shared->lock);
    bool wanted = !r->abandoned;
    r->began_ns = now;
    pthread_mutex_unlock(&r->shared->lock);
    return wanted;
}

static void run_job(struct job *job)
{
    struct allm_tool_run *r = run_of_job(job);
    if (note_start(r))
        execute_call(r);
}

/* Only now may the batch continue: from here on, releasing the workers waits
 * for this thread. */
static void job_done(struct job *job)
{
    struct allm_tool_run *r = run_of_job(job);
    note_return(r, true);
    batch_shared_drop(r->shared);
}

static void job_dropped(struct job *job)
{
    struct allm_tool_run *r = run_of_job(job);
    r->in_worker = false;
    run_fail(r, FAILURE_EXIT, "the loop was freed before the function began");
    note_return(r, true);
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

/* Pass it to a worker; false: there are no workers. */
static bool submit_run(struct allm_tool_run *r)
{
    const struct tool_env *env = &r->shared->env;
    struct workers *workers = env->workers ? env->workers(env->workers_ud, true)
                                           : NULL;
    if (!workers)
        return false;
    r->job = (struct job){ run_job, job_done, job_dropped, NULL };
    r->in_worker = true;
    batch_shared_keep(r->shared);
    int error = workers_submit(workers, &r->job);
    if (!error)
        return true;
    r->in_worker = false;
    batch_shared_drop(r->shared);
    if (error == ENOMEM)
        run_nomem(r);
    else
        run_fail(r, FAILURE_EXIT,
                 "no thread could be started for the function; raise the limit "
                 "(ulimit -u), or set ALLM_TOOL_INLINE for tools that never "
                 "block");
    r->busy = false;
    return true;
}

void run_start(struct allm_tool_run *r)
{
    r->busy = true;             /* no other thread knows it yet */
    if (!is_inline(r) && submit_run(r))
        return;
    note_start(r);
    execute_call(r);
    note_return(r, false);
}

/* Called under the lock, so that an answer waits until fn has returned. */
static void call_on_cancel(struct allm_tool_run *r)
{
    allm_tool_cancel_fn fn = r->on_cancel;
    r->on_cancel = NULL;
    if (fn)
        fn(r->on_cancel_ud);
}

void run_abandon(struct allm_tool_run *r)
{
    const struct tool_env *env = &r->shared->env;
    pthread_mutex_lock(&r->shared->lock);
    r->abandoned = true;
    call_on_cancel(r);
    pthread_mutex_unlock(&r->shared->lock);
    if (!r->in_worker)
        return;
    r->in_worker = false;
    struct workers *workers = env->workers(env->workers_ud, false);
    if (workers && workers_abandon(workers, &r->job))
        batch_shared_drop(r->shared);     /* the job's reference */
}

static void call_later(struct allm_tool_run *r)
{
    pthread_mutex_lock(&r->shared->lock);
    allm_tool_fn fn = r->later;
    r->later = NULL;
    r->busy = true;
    pthread_mutex_unlock(&r->shared->lock);
    fn(r, r->arguments, r->later_ud);
    note_return(r, false);
}

static struct outcome timed_out(const struct allm_tool_run *r,
                                int64_t timeout_ns)
{
    return outcome_failed(home_arena(r->shared->home), FAILURE_TIMEOUT,
                          "no answer within %lld ms; the function was given up",
                          (long long)(timeout_ns / 1000000));
}

void run_pause(struct allm_tool_run *r, bool paused)
{
    struct batch_shared *d = r->shared;
    pthread_mutex_lock(&d->lock);
    if (!r->abandoned && r->paused != paused) {
        int64_t now = clock_now_ns(d->env.clock);
        r->paused = paused;
        if (paused)
            r->paused_ns = now;
        else
            r->began_ns = clock_add(r->began_ns,
                                    clock_between(r->paused_ns, now));
        if (!r->busy)
            batch_shared_ring(d);       /* its deadline is another one */
    }
    pthread_mutex_unlock(&d->lock);
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

/* What run_poll() does next. */
enum next { HAS_OUTCOME, CALL_LATER, EXPIRE, WAIT };

/* Called under the lock. */
static enum next choose_next(struct allm_tool_run *r, int64_t now,
                             int64_t timeout_ns, int64_t *due)
{
    int64_t began = r->began_ns == INT64_MIN ? now : r->began_ns;
    int64_t end = r->paused ? INT64_MAX : clock_add(began, timeout_ns);
    if (r->ready && !r->busy)
        return HAS_OUTCOME;
    if (r->later && !r->busy && !r->answered && now >= r->later_ns &&
        r->later_ns <= end)
        return CALL_LATER;
    if (now >= end)
        return EXPIRE;
    *due = r->later && !r->busy && r->later_ns < end ? r->later_ns : end;
    return WAIT;
}

/* The tool's own timeout, or that of the chat. */
static int64_t own_timeout(const struct allm_tool_run *r, int64_t timeout_ns)
{
    const allm_tool *tool = r->tool;
    if (!tool || !(tool->flags & ALLM_TOOL_OWN_TIME) || !tool->timeout_ms)
        return timeout_ns;
    return tool->timeout_ms == UINT32_MAX ? INT64_MAX
                                          : (int64_t)tool->timeout_ms * 1000000;
}

allm_status run_poll(struct allm_tool_run *r, int64_t timeout_ns,
                     int64_t *again_ns)
{
    timeout_ns = own_timeout(r, timeout_ns);
    for (;;) {
        int64_t due = INT64_MAX, now = clock_now_ns(r->shared->env.clock);
        pthread_mutex_lock(&r->shared->lock);
        enum next next = choose_next(r, now, timeout_ns, &due);
        pthread_mutex_unlock(&r->shared->lock);
        if (next == HAS_OUTCOME)
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

const char *allm_tool_run_key(const allm_tool_run *r)
{
    return r ? r->key : NULL;
}
