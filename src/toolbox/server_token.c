/*
 * server_token.c - the bearer token of an MCP server behind HTTP
 *
 *      env:NAME, file:PATH     read for each request
 *      cmd:COMMAND             printed by a command of the user: once for a
 *                              connection, and once more if it was refused
 *
 * The token is the first line, without white space around it.  Requests that
 * need one that is not printed yet wait in http_flush().
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "proc/warden.h"
#include "toolbox/server_http.h"

#include <errno.h>
#include <stdlib.h>

enum { TOKEN_MOST = 64 * 1024, ERR_KEPT = 1024, GRACE_MS = 2000 };

static bool is_command(const struct server *s)
{
    return s->conf.auth && !strncmp(s->conf.auth, "cmd:", 4);
}

/* "Bearer TOKEN"; NULL: there is no token, or no memory. */
static const char *make_bearer(struct arena *a, struct slice text)
{
    text = slice_trim(slice_take(&text, '\n'));
    struct buf b = buf_in(a, SIZE_MAX / 2);
    buf_text(&b, "Bearer ");
    buf_add(&b, text);
    return text.len ? buf_slice(&b).ptr : NULL;
}

static const allm_error *no_token(const struct server *s, struct arena *a,
                                  const char *what, const char *why)
{
    return a->broken ? status_nomem()
                     : status_error(a, ALLM_ERR_TOOL, "handler_failed",
                                    "the token of server %s cannot be read: "
                                    "%s %s",
                                    s->conf.name, what, why);
}

/* -------------------------------------------------- variables and files --- */

static const char *read_variable(const struct server *s, struct arena *a,
                                 const allm_error **why)
{
    const char *name = s->conf.auth + strlen("env:");
    const char *value = getenv(name);
    const char *token = value ? make_bearer(a, slice_of(value)) : NULL;
    if (!token)
        *why = no_token(s, a, name, value ? "is empty" : "is not set");
    return token;
}

static const char *read_path(const struct server *s, struct arena *a,
                             const allm_error **why)
{
    struct slice text = { NULL, 0 };
    const char *name = s->conf.auth + strlen("file:");
    bool at_home = !strncmp(name, "~/", 2) && getenv("HOME");
    struct buf path = buf_in(a, SIZE_MAX / 2);
    buf_text(&path, at_home ? getenv("HOME") : "");
    buf_text(&path, name + at_home);
    int error = path.broken ? ENOMEM
                            : file_read(a, path.ptr, TOKEN_MOST, &text);
    const char *token = error ? NULL : make_bearer(a, text);
    if (!token)
        *why = no_token(s, a, name, error ? strerror(error) : "is empty");
    return token;
}

/* ------------------------------------------------------------- commands --- */

static void release_token(struct server_token *t)
{
    if (t->running) {
        process_release(&t->process);
        jail_close(&t->jail);
    }
    t->running = false;
}

/* The command has ended. */
static void take_token(struct server *s, struct server_token *t)
{
    struct slice text = output_text(&t->process.out);
    const struct report *r = &t->process.report;
    bool good = r->kind == REPORT_ENDED && !r->signal && !r->status;
    if (good)
        t->bearer = make_bearer(&t->arena, text);
    if (!t->bearer)
        t->fault = no_token(s, &t->arena, "its command",
                            t->late ? "took more than 10 seconds"
                            : good  ? "printed nothing"
                                    : "failed");
}

static void token_done(struct process *p)
{
    struct server *s = p->ud;
    struct server_token *t = &s->http->token;
    take_token(s, t);
    release_token(t);
    http_wake(s);
}

static void start_command(struct server *s, struct server_token *t)
{
    const char *const argv[] = { "/bin/sh", "-c", s->conf.auth + strlen("cmd:"),
                                 NULL };
    struct process_opts o = { .argv = argv, .stdio = CHILD_NO_INPUT,
                              .mem = s->owner->mem, .head_max = TOKEN_MOST,
                              .err_max = ERR_KEPT };
    token_release(t);
    *t = (struct server_token){ .number = t->number + 1 };
    arena_init(&t->arena, s->owner->mem);
    t->jail = (struct jail){ .program = argv[0], .dir = s->owner->opts.root,
                             .mode = ORDERS_OFF, .real_home = true,
                             .agents = true };
    t->process.poll = crew_poll(s->owner->opts.crew);
    t->process.done = token_done;
    t->process.ud = s;
    o.warden = warden_path(&t->arena, &t->fault);
    if (o.warden)
        t->fault = jail_open(&t->jail, &t->arena);
    o.orders = buf_slice(&t->jail.orders);
    int error = t->fault || !o.warden ? 0 : process_start(&t->process, &o);
    if (error)
        t->fault = jail_not_started(&t->arena, argv[0], error);
    else if (!o.warden && !t->fault)
        t->fault = status_nomem();
    t->running = !t->fault;
    t->due_ns = clock_after(server_now(), TOKEN_MS);
    if (t->fault)
        jail_close(&t->jail);
}

void token_release(struct server_token *t)
{
    if (!t->process.done)
        return;                 /* no command has been started */
    release_token(t);
    arena_release(&t->arena);
}

bool token_waits(struct server *s)
{
    struct server_token *t = &s->http->token;
    if (!is_command(s) || t->bearer || t->fault)
        return false;
    if (!t->running)
        start_command(s, t);
    return t->running;
}

bool token_renew(struct server *s, unsigned number)
{
    struct server_token *t = &s->http->token;
    if (!is_command(s))
        return false;
    if (number == t->number)
        t->bearer = NULL;
    return true;
}

int64_t token_deadline(const struct server_token *t)
{
    return t->running ? t->due_ns : INT64_MAX;
}

void token_tick(struct server_token *t)
{
    if (!t->running || server_now() < t->due_ns)
        return;
    if (t->late)
        child_kill(&t->process.child);
    else
        child_term(&t->process.child);
    t->late = true;
    t->due_ns = clock_after(server_now(), GRACE_MS);
}

const char *token_read(const struct server *s, struct arena *a,
                       const allm_error **why)
{
    const struct server_token *t = &s->http->token;
    const char *from = s->conf.auth;
    *why = NULL;
    if (!from)
        return NULL;
    if (!strncmp(from, "env:", 4))
        return read_variable(s, a, why);
    if (!is_command(s))
        return read_path(s, a, why);
    if (!t->bearer)
        *why = t->fault ? t->fault : no_token(s, a, "its command", "has ended");
    return t->bearer;
}
