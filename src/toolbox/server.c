/*
 * server.c - all MCP servers of a toolbox: add them, wait for them, report
 *
 * Servers live in the thread of the toolbox.  What other threads see of them is
 * guarded by one lock, which is held only for a moment.
 */
#include "toolbox/server.h"

#include "base/clock.h"
#include "base/status.h"
#include "net/client.h"
#include "json/json.h"

#include <time.h>

/* ---------------------------------------------------------------- guest --- */

static void stop_servers(struct crew_guest *g)
{
    struct servers *all = (struct servers *)(void *)g;
    all->stopping = true;
    for (struct server *s = all->live; s; s = s->next_live)
        server_stop(s);
}

static void turn_servers(struct crew_guest *g)
{
    struct servers *all = (struct servers *)(void *)g;
    if (!all->http)
        return;
    client_timeout(all->http);
    for (struct server *s = all->live; s; s = s->next_live) {
        http_turn(s);
        if (s->http && s->phase == PHASE_ENDING && http_has_left(s))
            http_timeout(s);
    }
}

/* While its poll set exists. */
static void leave_servers(struct crew_guest *g)
{
    struct servers *all = (struct servers *)(void *)g;
    client_free(all->http);
    all->http = NULL;
}

static int64_t servers_due(struct crew_guest *g)
{
    struct servers *all = (struct servers *)(void *)g;
    return all->http ? client_due(all->http) : POLL_NEVER;
}

struct servers *servers_new(struct mem mem, const struct servers_opts *opts)
{
    struct servers *all = mem_alloc(mem, sizeof *all);
    pthread_condattr_t attr;
    if (!all)
        return NULL;
    *all = (struct servers){ .guest = { stop_servers, turn_servers,
                                        servers_due, leave_servers, 0 },
                              .opts = *opts, .mem = mem,
                             .news.fd = -1 };
    all->end = &all->first;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &attr);
    pthread_condattr_destroy(&attr);
    crew_invite(opts->crew, &all->guest);
    return all;
}

void servers_free(struct servers *all)
{
    if (!all)
        return;
    for (struct server *s = all->first; s; s = s->next)
        home_drop(s->error_home);
    wake_release(&all->news);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    mem_free(all->mem, all, sizeof *all);
}

/* ----------------------------------------------------------------- news --- */

/* What it was told last remains if nothing new is to be told. */
static void keep_error(struct server *s, const allm_error *error)
{
    struct allm_home *home = home_new(s->owner->mem, 512);
    const allm_error *copy = home ? status_retell(home_arena(home), error)
                                  : status_nomem();
    home_drop(s->error_home);
    s->error_home = home;
    s->error = copy;
}

void server_tell(struct server *s, enum server_state state,
                 const allm_error *error)
{
    struct servers *all = s->owner;
    pthread_mutex_lock(&all->lock);
    s->state = state;
    s->settled = s->settled || state != SERVER_STARTING;
    if (error)
        keep_error(s, error);
    else if (state == SERVER_READY)
        s->error = NULL;
    if (all->news.fd >= 0)
        wake_ring(&all->news);
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

/* --------------------------------------------------------------- adding --- */

struct server *servers_find(struct servers *all, const char *name)
{
    pthread_mutex_lock(&all->lock);
    struct server *s = all->first;
    while (s && strcmp(s->conf.name, name) != 0)
        s = s->next;
    pthread_mutex_unlock(&all->lock);
    return s;
}

static void begin_server(void *ud)
{
    struct server *s = ud;
    if (s->phase != PHASE_OFF)
        return;
    server_begin(s);
    server_pump(s);
}

/* The revision of a manifest, so that the server need not be probed; a modern
 * one is asked what it tells of. */
static const struct revision *known_revision(const allm_json *manifest)
{
    const struct revision *r =
        revision_find(json_text_at(manifest, "revision"));
    return r && !r->modern ? r : NULL;
}

/* A server with a manifest is started by its first call. */
static const allm_error *open_server(struct servers *all, struct server *s,
                                     struct arena *a)
{
    const allm_json *tools = json_at(s->conf.manifest, "tools");
    bool lazy = s->conf.manifest || s->conf.disabled;
    int error = crew_start(all->opts.crew);
    if (error)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit", "%s",
                            crew_fault(error));
    if (!list_reserve(all->opts.list, &s->order) ||
        (tools && !s->conf.disabled && !server_offer(s, tools)))
        return status_nomem();
    s->settled = lazy;
    s->state = lazy ? SERVER_OFF : SERVER_STARTING;
    s->known = known_revision(s->conf.manifest);
    s->begin = (struct crew_task){ .run = begin_server, .ud = s };
    pthread_mutex_lock(&all->lock);
    *all->end = s;
    all->end = &s->next;
    pthread_mutex_unlock(&all->lock);
    if (!lazy)
        crew_post(all->opts.crew, &s->begin);
    return NULL;
}

const allm_error *servers_add(struct servers *all, struct allm_home *home,
                              const char *name, const allm_json *entry)
{
    struct arena *a = home_arena(home);
    struct server *s = arena_zero(a, sizeof *s);
    if (!s)
        return status_nomem();
    if (servers_find(all, name))
        return status_error(a, ALLM_ERR_VALIDATION, "invalid_server",
                            "there is already a server named %.64s", name);
    s->owner = all;
    const allm_error *error = server_conf_read(&s->conf, home, name, entry,
                                               all->opts.root,
                                               all->opts.grants);
    return error ? error : open_server(all, s, a);
}

/* -------------------------------------------------------------- waiting --- */

static bool all_settled(const struct servers *all)
{
    const struct server *s = all->first;
    while (s && s->settled)
        s = s->next;
    return !s;
}

/* The time that pthread_cond_timedwait() waits for. */
static struct timespec time_after(int timeout_ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += timeout_ms / 1000;
    t.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

bool servers_wait(struct servers *all, int timeout_ms, bool (*done)(void *ud),
                  void *ud)
{
    struct timespec end = time_after(timeout_ms < 0 ? 0 : timeout_ms);
    int error = 0;
    while (!done(ud) && !error)
        error = timeout_ms < 0
                    ? pthread_cond_wait(&all->changed, &all->lock)
                    : pthread_cond_timedwait(&all->changed, &all->lock, &end);
    return done(ud);
}

static bool are_settled(void *ud)
{
    return all_settled(ud);
}

bool servers_settle(struct servers *all, int timeout_ms)
{
    pthread_mutex_lock(&all->lock);
    if (all->news.fd >= 0)
        wake_clear(&all->news);
    bool settled = servers_wait(all, timeout_ms, are_settled, all);
    pthread_mutex_unlock(&all->lock);
    return settled;
}

const allm_error *servers_missing(struct servers *all, struct arena *a)
{
    const allm_error *error = NULL;
    pthread_mutex_lock(&all->lock);
    for (struct server *s = all->first; s && !error; s = s->next)
        if (s->conf.required && s->state == SERVER_FAILED)
            error = status_error(a, ALLM_ERR_TOOL, "handler_exit",
                                 "server %s is required, but failed: %s",
                                 s->conf.name,
                                 s->error ? s->error->message : "");
    pthread_mutex_unlock(&all->lock);
    return error;
}

int servers_fd(struct servers *all)
{
    pthread_mutex_lock(&all->lock);
    if (all->news.fd < 0 && wake_init(&all->news))
        all->news.fd = -1;
    else if (all->news.fd >= 0 && all_settled(all))
        wake_ring(&all->news);
    int fd = wake_fd(&all->news);
    pthread_mutex_unlock(&all->lock);
    return fd;
}

/* --------------------------------------------------------------- report --- */

static void report_server(struct build *b, const struct server *s)
{
    static const char *const states[] = { "off", "starting", "ready",
                                          "failed" };
    build_object(b);
    build_text_at(b, "name", slice_of(s->conf.name));
    build_text_at(b, "state", slice_of(states[s->state]));
    build_text_or_null_at(b, "revision", s->revision);
    build_text_at(b, "transport",
                  s->conf.command ? SLICE("stdio") : SLICE("http"));
    build_bool_at(b, "sandboxed",
                  s->conf.sandbox && s->owner->opts.mode != ORDERS_OFF);
    build_uint_at(b, "tools", s->tool_count);
    build_uint_at(b, "left_out", s->left_out);
    build_key(b, SLICE("error"));
    if (s->error)
        build_text_copy(b, slice_of(s->error->message));
    else
        build_null(b);
    if (s->pid)
        build_uint_at(b, "pid", (uint64_t)s->pid);
    build_uint_at(b, "ignored",
                  s->counts.bad + s->counts.stray + s->counts.ignored);
    build_end(b);
}

void servers_report(struct servers *all, struct build *b)
{
    build_array_at(b, "servers");
    if (all)
        pthread_mutex_lock(&all->lock);
    for (const struct server *s = all ? all->first : NULL; s; s = s->next)
        report_server(b, s);
    if (all)
        pthread_mutex_unlock(&all->lock);
    build_end(b);
}
