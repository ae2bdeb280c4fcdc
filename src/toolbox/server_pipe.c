/*
 * server_pipe.c - an MCP server that is a process, started by the warden
 *
 *      messages --> stdin      stdout --> client      stderr: the last 4 KiB
 *
 * Its end: its input is closed; 2 s later it gets SIGTERM, and after another
 * 2 s everything that it started is killed.
 */
#include "toolbox/server.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/utf8.h"
#include "proc/warden.h"

#include <string.h>

enum { GRACE_MS = 2000, ERR_KEPT = 4096, LINE_MOST = 4096 };
enum { STAGE_NONE, STAGE_INPUT, STAGE_TERM, STAGE_KILL };

static struct server *server_of(struct process *p)
{
    return p->ud;
}

static void hear_process(struct process *p, struct slice bytes)
{
    struct server *s = server_of(p);
    if (s->phase == PHASE_ENDING)
        return;
    if (bytes.len) {
        mcp_client_feed(s->client, bytes, server_now());
        server_pump(s);
    } else {
        server_end(s, false);   /* its end is near, and says why */
    }
}

/* What it writes to stderr, by lines; a line that is too long in pieces. */
static void note_process(struct process *p, struct slice bytes)
{
    struct server *s = server_of(p);
    struct buf *line = &s->pipe.line;
    for (size_t i = 0; i < bytes.len; i++) {
        bool full = line->len == LINE_MOST;
        if (bytes.ptr[i] == '\n' || full) {
            server_trace_line(s, buf_slice(line));
            buf_clear(line);
        }
        if (bytes.ptr[i] != '\n')
            buf_byte(line, bytes.ptr[i]);
    }
}

static void flush_process(struct process *p)
{
    server_pump(server_of(p));
}

/* ---------------------------------------------------------------- start --- */

static const allm_error *start_server(struct server *s, struct arena *a)
{
    struct server_pipe *l = &s->pipe;
    struct process_opts o = { .mem = s->owner->mem, .err_max = ERR_KEPT };
    const allm_error *why = NULL;
    const char *const *argv;
    o.warden = warden_path(a, &why);
    if (!o.warden)
        return why ? status_retell(a, why) : status_nomem();
    why = server_conf_jail(&s->conf, s->owner->opts.mode, &l->arena, &l->jail,
                           &argv);
    if (why)
        return status_retell(a, why);
    o.argv = argv;
    o.orders = buf_slice(&l->jail.orders);
    l->process.poll = crew_poll(s->owner->opts.crew);
    int error = process_start(&l->process, &o);
    return error ? jail_not_started(a, argv[0], error) : NULL;
}

static void release_pipe(struct server_pipe *l)
{
    jail_close(&l->jail);
    arena_release(&l->arena);
    l->running = false;
}

static void process_done(struct process *p);

const allm_error *pipe_start(struct server *s, struct arena *a)
{
    struct server_pipe *l = &s->pipe;
    memset(l, 0, sizeof *l);
    arena_init(&l->arena, s->owner->mem);
    l->process.heard = hear_process;
    l->process.takes = flush_process;
    if (s->owner->opts.trace)
        l->process.notes = note_process;
    buf_init(&l->line, &l->arena, LINE_MOST);
    l->process.done = process_done;
    l->process.ud = s;
    const allm_error *why = start_server(s, a);
    l->running = !why;
    if (why)
        release_pipe(l);
    pthread_mutex_lock(&s->owner->lock);
    s->pid = why ? 0 : (int)l->process.child.warden;
    pthread_mutex_unlock(&s->owner->lock);
    return why;
}

/* ----------------------------------------------------------------- send --- */

/* One message as one line; true: all of it was written. */
static bool write_message(struct server_pipe *l, const struct mcp_message *m)
{
    char end[] = "\n";
    struct iovec parts[2] = { { .iov_base = (void *)(uintptr_t)m->json.ptr,
                                .iov_len = m->json.len },
                              { .iov_base = end, .iov_len = 1 } };
    size_t done = l->written;
    if (done < m->json.len) {
        parts[0].iov_base = (char *)parts[0].iov_base + done;
        parts[0].iov_len -= done;
    } else {
        parts[0].iov_len = 0;
    }
    ssize_t n = process_write(&l->process, parts, 2);
    l->written += n > 0 ? (size_t)n : 0;
    return l->written > m->json.len;
}

/* A server that reads no more is about to end, which tells why. */
void pipe_flush(struct server *s)
{
    struct server_pipe *l = &s->pipe;
    const struct mcp_message *m;
    while ((m = mcp_client_out(s->client)) && write_message(l, m)) {
        l->written = 0;
        mcp_client_sent(s->client);
    }
}

/* ------------------------------------------------------------------ end --- */

static void next_stage(struct server *s, unsigned stage)
{
    struct server_pipe *l = &s->pipe;
    l->stage = stage;
    process_close_input(&l->process);
    if (stage >= STAGE_TERM)
        process_close_output(&l->process);
    if (stage == STAGE_TERM)
        child_term(&l->process.child);
    if (!crew_set_timer(s->owner->opts.crew, &s->timer,
                        clock_after(server_now(), GRACE_MS)) ||
        stage >= STAGE_KILL)    /* again and again, if that is not enough */
        child_kill(&l->process.child);
}

void pipe_end(struct server *s, bool at_once)
{
    next_stage(s, at_once ? STAGE_TERM : STAGE_INPUT);
}

void pipe_timeout(struct server *s)
{
    if (s->pipe.running)
        next_stage(s, s->pipe.stage + 1);
}

/* Why the process ended, with the last that it wrote to stderr. */
static void describe_end(struct server *s, struct buf *why)
{
    struct server_pipe *l = &s->pipe;
    const struct report *r = &l->process.report;
    const allm_error *fault = jail_fault(&l->jail, &l->arena, r);
    struct slice err = slice_trim(output_text(&l->process.err));
    const char *wall = jail_wall(&l->jail, r);
    if (fault)
        buf_text(why, fault->message);
    else if (r->signal)
        buf_format(why, "server %s was killed by signal %d (%s)%s%s",
                   s->conf.name, r->signal, strsignal(r->signal),
                   wall ? ": the sandbox's limit on " : "", wall ? wall : "");
    else
        buf_format(why, "server %s ended with exit status %d", s->conf.name,
                   r->status);
    if (err.ptr && err.len) {
        buf_text(why, "; it wrote:\n");
        buf_add(why, utf8_copy(&l->arena, err));
    }
}

static void process_done(struct process *p)
{
    struct server *s = server_of(p);
    struct server_pipe *l = &s->pipe;
    struct arena a = arena_in(s->owner->mem);
    struct buf why = buf_in(&a, SIZE_MAX / 2);
    crew_stop_timer(s->owner->opts.crew, &s->timer);
    note_process(p, SLICE("\n"));
    describe_end(s, &why);
    process_release(p);
    release_pipe(l);
    server_closed(s, why.broken ? "the server ended" : buf_slice(&why).ptr);
    arena_release(&a);
}
