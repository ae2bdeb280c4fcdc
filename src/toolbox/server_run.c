/*
 * server_run.c - the life of one MCP server, in the thread of the toolbox
 *
 *      OFF --job--> OPENING --ready--> OPEN --death--> RESTING --0.5 s ...-.
 *                      ^  |               |                               |
 *                      |  '--failed--> ENDING --> FAILED <-- 5 times      |
 *                      '--------------------------------------------------'
 *
 * Invariants
 *   (1) A job is in s->jobs until its done() is called.
 *   (2) A job that may change something is sent once.
 *   (3) The client exists while there is a connection, and is freed only by
 *       server_closed().
 *   (4) The client has no request of a job that is not in s->jobs: a job may be
 *       freed by its done().
 */
#include "toolbox/server.h"

#include "base/clock.h"
#include "base/status.h"
#include "toolbox/answer.h"
#include "json/json.h"

enum { RESTARTS = 5, REST_MS = 500, REST_MOST_MS = 30 * 1000, LISTS = 256 };

int64_t server_now(void)
{
    return clock_now_ns(clock_real());
}

/* ----------------------------------------------------------------- jobs --- */

static void unlink_job(struct server *s, struct server_job *job)
{
    struct server_job **at = &s->jobs;
    while (*at && *at != job)
        at = &(*at)->next;
    if (*at)
        *at = job->next;
}

static void finish_job(struct server *s, struct server_job *job,
                       const struct mcp_event *ev)
{
    unlink_job(s, job);
    job->done(s, job, ev);                              /* keeps (1) */
}

/* The client, if there is one, forgets a job that is under way. */
static void forget_job(struct server *s, struct server_job *job)
{
    unlink_job(s, job);
    if (job->number && s->client)                       /* keeps (4) */
        mcp_client_cancel(s->client, job->number, server_now());
}

static void fail_jobs(struct server *s, const allm_error *error)
{
    struct mcp_event ev = { .kind = MCP_ANSWER, .error = error };
    while (s->jobs) {
        struct server_job *job = s->jobs;
        forget_job(s, job);
        job->done(s, job, &ev);                         /* keeps (1) */
    }
}

static void send_job(struct server *s, struct server_job *job)
{
    struct mcp_ask ask = { .method = job->method, .name = job->name,
                           .arguments = job->arguments, .ud = job,
                           .total_ms = job->total_ms };
    job->number = mcp_client_request(s->client, &ask, server_now());
}

static void send_jobs(struct server *s)
{
    for (struct server_job *job = s->jobs; job; job = job->next)
        if (!job->number)
            send_job(s, job);
}

void server_add_job(struct server *s, struct server_job *job)
{
    struct server_job **at = &s->jobs;
    while (*at)
        at = &(*at)->next;
    *at = job;
    job->next = NULL;
    job->number = 0;
    job->resent = false;
    if (s->forms)
        server_call_pause(job, true);
    if (s->phase == PHASE_OFF || s->phase == PHASE_FAILED) {
        s->restarts = s->phase == PHASE_FAILED ? RESTARTS : 0;
        server_begin(s);
    } else if (s->phase == PHASE_OPEN) {
        send_job(s, job);
    }
    server_pump(s);
}

void server_remove_job(struct server *s, struct server_job *job)
{
    forget_job(s, job);
    server_pump(s);
}

/* ---------------------------------------------------------------- lists --- */

static void take_list(struct server *s, struct server_job *job,
                      const struct mcp_event *ev)
{
    (void)job;
    s->is_listing = false;
    if (s->relist && s->phase == PHASE_OPEN) {
        s->relist = false;
        s->is_listing = true;
        server_add_job(s, &s->listing);
        return;
    }
    bool offered = !ev->error && server_offer(s, ev->value);
    if (offered || s->was_ready) {
        s->was_ready = true;
        if (s->phase == PHASE_OPEN)
            server_tell(s, SERVER_READY, NULL);
    } else if (s->phase == PHASE_OPEN) {        /* else give_up() tells it */
        server_tell(s, SERVER_FAILED, ev->error ? ev->error : status_nomem());
        server_end(s, false);
    }
}

/* A server that changes its list again and again is not followed for ever:
 * lists that a chat has seen stay in memory. */
static void list_tools(struct server *s)
{
    if (s->is_listing) {
        s->relist = true;
        return;
    }
    if (s->lists >= LISTS)
        return;
    s->is_listing = true;
    s->listing = (struct server_job){ .method = MCP_TOOLS_LIST,
                                      .harmless = true,
                                      .total_ms = s->conf.start_ms,
                                      .done = take_list };
    server_add_job(s, &s->listing);
}

/* --------------------------------------------------------------- events --- */

static void take_ready(struct server *s)
{
    s->phase = PHASE_OPEN;
    s->known = mcp_client_revision(s->client);
    s->listens = mcp_client_listens(s->client);
    pthread_mutex_lock(&s->owner->lock);
    s->revision = s->known->name;
    pthread_mutex_unlock(&s->owner->lock);
    bool lists = !s->conf.manifest && !s->conf.disabled &&
                 mcp_client_has(s->client, "tools");
    if (!lists || s->was_ready) {
        s->was_ready = true;
        server_tell(s, SERVER_READY, NULL);
    }
    bool relists = lists && !s->is_listing;
    send_jobs(s);
    if (relists)
        list_tools(s);
}

/* A job that does no harm is sent once more by the next connection. */
static void take_answer(struct server *s, const struct mcp_event *ev)
{
    struct server_job *job = ev->ud;
    bool died = ev->error && !strcmp(ev->error->reason, "handler_exit");
    if (!ev->error && job != &s->listing)
        s->restarts = 0;
    if (died && job->harmless && !job->resent && !s->owner->stopping) {
        job->resent = true;
        job->number = 0;
        if (s->http && s->phase == PHASE_OPEN)
            send_job(s, job);
    } else {
        finish_job(s, job, ev);                         /* keeps (2) */
    }
}

/* The connection is of no use any more. */
static void take_failure(struct server *s, const allm_error *error)
{
    if (s->phase == PHASE_OPENING || !s->was_ready ||
        error->kind == ALLM_ERR_NOMEM)
        server_tell(s, SERVER_FAILED, error);
    server_end(s, true);
}

static void take_event(struct server *s, const struct mcp_event *ev)
{
    struct server_job *job = ev->ud;
    if (ev->kind == MCP_READY)
        take_ready(s);
    else if (ev->kind == MCP_FAILED)
        take_failure(s, ev->error);
    else if (ev->kind == MCP_ANSWER)
        take_answer(s, ev);
    else if (ev->kind == MCP_PROGRESS && job && job->progress)
        job->progress(s, job, ev);
    else if (ev->kind == MCP_LOG)
        server_trace_log(s, ev->value);
    else if (ev->kind == MCP_ELICIT)
        server_elicit(s, ev);
    else if (ev->kind == MCP_WITHDRAWN)
        server_withdraw(s, ev->question);
    else if (ev->kind == MCP_CHANGED && (ev->lists & MCP_CHANGED_TOOLS) &&
             s->phase == PHASE_OPEN && !s->conf.disabled)
        list_tools(s);
}

/* True: there were some. */
static bool take_events(struct server *s)
{
    struct mcp_event ev;
    bool any = false;
    for (; s->client && mcp_client_next(s->client, &ev); any = true)
        take_event(s, &ev);
    return any;
}

/* One that is set earlier is left: when it is due, there is nothing to do, and
 * it is set again.  That saves two system calls for every request. */
static void set_timer(struct server *s, int64_t due)
{
    if (s->timer.timer.due_ns <= due && timer_is_set(&s->timer.timer))
        return;
    if (!crew_set_timer(s->owner->opts.crew, &s->timer, due) && s->pipe.running)
        child_kill(&s->pipe.process.child);
}

/* ----------------------------------------------------------------- link --- */

static void flush_link(struct server *s)
{
    if (s->http)
        http_flush(s);
    else
        pipe_flush(s);
}

static int64_t link_deadline(const struct server *s)
{
    int64_t at = mcp_client_deadline(s->client);
    int64_t http = s->http ? http_deadline(s) : INT64_MAX;
    return http < at ? http : at;
}

/* Before its events: who has seen an answer sees what was ignored before. */
static void keep_counts(struct server *s)
{
    struct mcp_counts now = mcp_client_counts(s->client);
    if (!memcmp(&now, &s->counts, sizeof now))
        return;
    pthread_mutex_lock(&s->owner->lock);
    s->counts = now;
    pthread_mutex_unlock(&s->owner->lock);
    server_trace_counts(s);
}

/* Not within itself: an event is valid until the next one is taken. */
void server_pump(struct server *s)
{
    bool any = !s->pumping;
    s->pumping = true;
    if (s->client)
        keep_counts(s);
    while (any) {
        any = take_events(s);
        if (s->client && s->phase != PHASE_ENDING)
            flush_link(s);
        any = take_events(s) || any;    /* what cannot be sent has failed */
        if (!any) {
            s->pumping = false;
            if (s->client && s->phase != PHASE_ENDING)
                set_timer(s, link_deadline(s));
        }
    }
}

/* ----------------------------------------------------- begin, rest, end --- */

static void server_due(void *ud)
{
    struct server *s = ud;
    if (s->phase == PHASE_ENDING && s->http) {
        http_timeout(s);
    } else if (s->phase == PHASE_ENDING) {
        pipe_timeout(s);
    } else if (s->phase == PHASE_RESTING) {
        server_begin(s);
        server_pump(s);
    } else if (s->client) {
        mcp_client_tick(s->client, server_now());
        server_pump(s);
    }
}

static void give_up(struct server *s, const allm_error *error)
{
    s->phase = PHASE_FAILED;
    server_tell(s, SERVER_FAILED, error);
    fail_jobs(s, s->error);
}

static const allm_error *connect_server(struct server *s, struct arena *a)
{
    struct servers *all = s->owner;
    struct mcp_client_opts o = { .elicits = all->opts.elicit != NULL,
                                 .root = all->opts.root,
                                 .start_ms = s->conf.start_ms,
                                 .listens = s->listens,
                                 .logs = all->opts.trace != NULL,
                                 .http = !s->conf.command };
    s->client = mcp_client_new(all->mem, &o);
    if (!s->client)
        return status_nomem();
    return s->conf.command ? pipe_start(s, a) : http_start(s);
}

static void make_live(struct server *s)
{
    if (s->is_live)
        return;
    s->is_live = true;
    s->next_live = s->owner->live;
    s->owner->live = s;
}

void server_begin(struct server *s)
{
    make_live(s);
    if (s->owner->stopping) {
        s->phase = PHASE_OFF;
        return;
    }
    struct arena a = arena_in(s->owner->mem);
    s->timer.due = server_due;
    s->timer.ud = s;
    s->forgot = false;
    s->phase = PHASE_OPENING;
    server_tell(s, SERVER_STARTING, NULL);
    const allm_error *why = connect_server(s, &a);
    if (why) {
        mcp_client_free(s->client);
        s->client = NULL;
        give_up(s, why);
    } else {
        s->owner->guest.busy++;
        mcp_client_start(s->client, s->known, server_now());
    }
    arena_release(&a);
}

void server_end(struct server *s, bool at_once)
{
    if (!s->client || s->phase == PHASE_ENDING)
        return;
    s->phase = PHASE_ENDING;
    if (s->http)
        http_end(s, at_once);
    else
        pipe_end(s, at_once);
}

/* When a rest of this time is over; a virtual clock jumps there. */
static int64_t rest_until(struct clock c, int64_t ms)
{
    bool jumps = c.sleep_until &&
                 c.sleep_until(c.ud, clock_after(clock_now_ns(c), ms));
    return clock_after(server_now(), jumps ? 0 : ms);
}

/* Wait before the next start, longer each time. */
static void rest(struct server *s)
{
    int64_t ms = (int64_t)REST_MS << s->restarts++;
    s->phase = PHASE_RESTING;
    server_tell(s, SERVER_STARTING, NULL);
    crew_stop_timer(s->owner->opts.crew, &s->timer);
    set_timer(s, rest_until(s->owner->opts.clock,
                            ms < REST_MOST_MS ? ms : REST_MOST_MS));
}

/* A session may also be forgotten before the server is ready: once. */
static bool may_restart(const struct server *s)
{
    return s->was_ready ? s->restarts < RESTARTS : s->forgot && !s->restarts;
}

static void after_end(struct server *s, const allm_error *why)
{
    if (s->owner->stopping) {
        s->phase = PHASE_OFF;
        server_tell(s, SERVER_OFF, NULL);
        fail_jobs(s, why);
    } else if (may_restart(s)) {
        rest(s);
    } else {
        give_up(s, s->error && s->state == SERVER_FAILED ? s->error : why);
    }
}

/* Those with the SDK of Rust end unless the first request is "initialize". */
static bool ended_by_probe(const struct server *s)
{
    return s->conf.command && !s->known && !s->owner->stopping &&
           mcp_client_is_probed(s->client);
}

void server_closed(struct server *s, const char *why)
{
    struct mcp_client *client = s->client;
    bool probed = ended_by_probe(s);
    s->phase = PHASE_ENDING;
    if (!probed)
        mcp_client_gone(client, why);
    take_events(s);
    pthread_mutex_lock(&s->owner->lock);
    s->counts = mcp_client_counts(client);
    s->pid = 0;
    pthread_mutex_unlock(&s->owner->lock);
    server_drop_forms(s);
    s->client = NULL;                                   /* keeps (3) */
    s->owner->guest.busy--;
    if (probed) {
        s->known = revision_legacy();
        server_begin(s);
    } else {
        struct arena a = arena_in(s->owner->mem);
        after_end(s,
                  status_error(&a, ALLM_ERR_TOOL, "handler_exit", "%s", why));
        arena_release(&a);
    }
    mcp_client_free(client);
    server_pump(s);
}

void server_stop(struct server *s)
{
    fail_jobs(s, &answer_toolbox_freed);
    server_drop_forms(s);
    if (s->phase == PHASE_ENDING)
        return;                 /* its timer ends it */
    crew_stop_timer(s->owner->opts.crew, &s->timer);
    if (s->client)
        server_end(s, false);
    else
        s->phase = PHASE_OFF;
}
