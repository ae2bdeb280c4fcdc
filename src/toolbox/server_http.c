/*
 * server_http.c - an MCP server behind Streamable HTTP
 *
 *      message --POST--> one JSON value, or a stream of events
 *      legacy: GET is a stream of what the server says unasked; a stream that
 *              breaks off is resumed with the id of its last event.  Requests
 *              follow when the server has taken "initialized" and then the
 *              GET, or after a second
 *
 * Exchanges are read only by http_turn(), after each wait of the thread.  What
 * they bring is handed to the client; its events are handled afterwards, so no
 * exchange goes away while it is being read.
 */
#include "toolbox/server_http.h"

#include "base/clock.h"
#include "base/status.h"
#include "mcp/rpc.h"
#include "net/failure.h"

enum { TRIES = 5, RETRY_MS = 1000, WAIT_MOST_MS = 60 * 1000, LEAVE_MS = 1000,
       BEGIN_MS = 1000, REFUSAL_MOST = 64 * 1024, DOUBLINGS = 5,
       REST_LEAST_MS = 100, REST_MOST_MS = 30 * 1000 };

/* ---------------------------------------------------------------- talks --- */

static struct talk *new_talk(struct server *s, enum talk_kind kind)
{
    struct mem mem = s->owner->mem;
    struct talk *t = mem_alloc(mem, sizeof *t);
    struct talk **at = &s->http->talks;
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->server = s;
    t->kind = kind;
    t->again_ns = INT64_MAX;
    t->retry_ms = RETRY_MS;
    waker_init(&t->waker);
    arena_init(&t->arena, mem);
    arena_init(&t->id_arena, mem);
    buf_init(&t->body, &t->arena, SIZE_MAX / 2);
    buf_init(&t->last_id, &t->id_arena, 4096);
    while (*at)
        at = &(*at)->next;
    *at = t;
    return t;
}

static uint64_t id_of(const struct talk *t)
{
    return t->message ? t->message->id : 0;
}

static bool is_awaited(const struct talk *t)
{
    return t->kind == TALK_REQUEST &&
           mcp_client_awaits(t->server->client, id_of(t));
}

static void break_talk(struct talk *t, const char *why)
{
    if (t->kind == TALK_REQUEST)
        mcp_client_broke(t->server->client, id_of(t), why, server_now());
    t->over = true;
}

static void open_talk(struct talk *t)
{
    const allm_error *why = NULL;
    struct server *s = t->server;
    if (t->kind != TALK_LEAVE && token_waits(s)) {
        t->again_ns = INT64_MAX;
        mcp_client_waits(s->client, id_of(t),
                         clock_after(server_now(), TOKEN_MS));
        return;
    }
    if (!talk_open(t, &why))
        break_talk(t, why ? failure_plain(&t->arena, why)
                          : "the request cannot be sent");
}

/* Once more, after this time. */
static void retry_talk(struct talk *t, int64_t ms)
{
    talk_close(t);
    t->tries++;
    t->again_ns = clock_after(server_now(), ms);
    t->over = false;
}

static bool is_legacy(const struct server *s)
{
    return s->phase == PHASE_OPEN && !mcp_client_revision(s->client)->modern;
}

static void post_message(struct server *s, const struct mcp_message *m)
{
    struct talk *t = new_talk(s, m->method ? TALK_REQUEST : TALK_NOTE);
    if (!t) {
        if (m->method)
            mcp_client_broke(s->client, m->id, "out of memory", server_now());
        return;
    }
    t->message = m;
    t->home = home_keep(m->home);
    if (!m->method && is_legacy(s) && !s->http->begin_by) {
        s->http->begin_by = clock_after(server_now(), BEGIN_MS);
        t->first = true;
    }
    open_talk(t);
}

/* Is the server still to take what must come first? */
static bool is_beginning(const struct server *s)
{
    const struct talk *t = s->http->talks;
    while (t && (!t->first || t->over))
        t = t->next;
    return t && server_now() < s->http->begin_by;
}

/* A legacy server may say something unasked. */
static void begin_listening(struct server *s)
{
    if (!s->http->begin_by || s->http->listens)
        return;
    s->http->listens = true;
    struct talk *t = new_talk(s, TALK_LISTEN);
    if (!t)
        return;
    t->first = true;
    open_talk(t);
}

/* ------------------------------------------------------------- refusals --- */

static struct server_job *job_of(const struct talk *t)
{
    struct server_job *job = t->server->jobs;
    while (job && job->number != t->message->number)
        job = job->next;
    return job;
}

/* May it be sent again although the server may have begun with it? */
static bool is_harmless(const struct talk *t)
{
    const struct server_job *job = job_of(t);
    return t->message->method != MCP_TOOLS_CALL || (job && job->harmless);
}

/* The server has forgotten the session: it has not run the request, which is
 * sent again in a new one.  That begins when the other requests are answered,
 * too, so that each is known to have run or not. */
static void lose_session(struct talk *t)
{
    struct server *s = t->server;
    struct server_job *job = job_of(t);
    if (job && !job->resent) {
        mcp_client_cancel(s->client, job->number, server_now());
        job->number = 0;
        job->resent = true;
    }
    s->http->why = "the server has forgotten the session";
    s->forgot = true;
}

/* The token may have expired; a request that was refused has not run. */
static bool can_renew(struct talk *t)
{
    bool renews = t->status == 401 && !t->renewed &&
                  token_renew(t->server, t->token);
    t->renewed = t->renewed || renews;
    return renews;
}

/* The server did not say how long: a start does not last longer for it. */
static bool may_start_late(const struct talk *t)
{
    return t->wait_ms >= 0 || t->server->phase != PHASE_OPENING;
}

static int64_t wait_of(const struct talk *t)
{
    return t->wait_ms >= 0 ? t->wait_ms : (int64_t)RETRY_MS << t->tries;
}

static bool can_wait(const struct talk *t)
{
    bool busy = t->status == 429 || (t->status == 503 && is_harmless(t));
    return busy && t->tries < TRIES && t->wait_ms <= WAIT_MOST_MS &&
           (may_start_late(t) || clock_after(server_now(), wait_of(t)) <
                                     mcp_client_deadline(t->server->client));
}

static void wait_as_asked(struct talk *t)
{
    retry_talk(t, wait_of(t));
    if (may_start_late(t))
        mcp_client_waits(t->server->client, id_of(t), t->again_ns);
}

static void take_refusal(struct talk *t)
{
    struct server *s = t->server;
    bool opens = t->message->method == MCP_DISCOVER ||
                 t->message->method == MCP_INITIALIZE;
    if (can_wait(t))
        wait_as_asked(t);
    else if (can_renew(t))
        retry_talk(t, 0);
    else if (t->status == 404 && s->http->session && !opens)
        lose_session(t);
    else
        mcp_client_refused(s->client, id_of(t), t->status, t->target,
                           buf_slice(&t->body), server_now());
}

/* -------------------------------------------------------------- answers --- */

static void take_frame(struct talk *t, const struct sse_frame *frame)
{
    if (frame->id.len && !memchr(frame->id.ptr, 0, frame->id.len)) {
        buf_clear(&t->last_id);
        buf_add(&t->last_id, frame->id);
        if (t->last_id.broken)
            buf_clear(&t->last_id);
    }
    if (frame->kind != SSE_EVENT || frame->unended)
        return;
    t->tries = 0;
    if (frame->data.len)
        mcp_client_hear(t->server->client, frame->data, server_now());
}

static void take_stream(struct talk *t, struct slice bytes)
{
    struct sse_frame frame;
    enum wire_result result;
    while ((result = sse_next(&t->sse, &bytes, &frame)) == WIRE_FRAME)
        take_frame(t, &frame);
    if (t->sse.retry_ms >= 0)
        t->retry_ms = t->sse.retry_ms;
    if (result != WIRE_MORE)
        break_talk(t, "the server sent an event of more than 16 MiB");
    else if (t->kind == TALK_REQUEST && !is_awaited(t))
        t->over = true;
}

static void take_body(struct talk *t, struct slice bytes)
{
    size_t most = t->status < 300 ? RPC_LIMIT : REFUSAL_MOST;
    size_t room = most > t->body.len ? most - t->body.len : 0;
    if (bytes.len > room && t->status < 300)
        break_talk(t, "the server sent an answer of more than 16 MiB");
    else
        buf_add(&t->body, (struct slice){ bytes.ptr, bytes.len < room
                                                         ? bytes.len
                                                         : room });
}

int64_t http_rest_ms(int64_t retry_ms, unsigned tries)
{
    int64_t ms = retry_ms < WAIT_MOST_MS ? retry_ms : WAIT_MOST_MS;
    if (ms < REST_LEAST_MS)
        ms = REST_LEAST_MS;
    int64_t most = ms < REST_MOST_MS ? REST_MOST_MS : ms;
    ms <<= tries < DOUBLINGS ? tries : DOUBLINGS;
    return ms < most ? ms : most;
}

/* The end of a stream without the answer: a legacy server can resume it, until
 * the time of the request is over. */
static void resume_stream(struct talk *t, const char *why)
{
    bool modern = mcp_client_revision(t->server->client)->modern;
    if (!modern && t->last_id.len)
        retry_talk(t, http_rest_ms(t->retry_ms, t->tries));
    else
        break_talk(t, why);
}

static void take_answer(struct talk *t)
{
    struct server *s = t->server;
    if (talk_is_type(t, "application/json") && t->body.len)
        mcp_client_hear(s->client, buf_slice(&t->body), server_now());
    if (!is_awaited(t))
        return;
    if (t->message->method == MCP_DISCOVER) {
        mcp_client_refused(s->client, id_of(t), t->status, NULL,
                           (struct slice){ "", 0 }, server_now());
        return;
    }
    struct buf why = buf_in(&t->arena, SIZE_MAX / 2);
    buf_format(&why,
               "the server answered with HTTP status %d and %.100s, which is "
               "not an answer of MCP; check the URL",
               t->status, t->type ? t->type : "no content");
    break_talk(t, why.broken ? "out of memory" : why.ptr);
}

static void end_request(struct talk *t, const char *why)
{
    bool resuming = t->last_id.len > 0;
    if (!is_awaited(t))
        return;
    if (t->has_head && t->status >= 300 && !resuming)
        take_refusal(t);
    else if (t->streams || (resuming && !t->has_head))
        resume_stream(t, why ? why
                             : "the server ended its answer before the result");
    else if (t->has_head && !why)
        take_answer(t);
    else
        break_talk(t, why ? why : "the connection broke");
}

/* 405 and the like: it says nothing unasked. */
static void end_listening(struct talk *t)
{
    bool busy = t->status == 429 || (t->status >= 500 && t->status != 501);
    bool refused = t->has_head && !t->streams && !busy;
    int64_t ms = http_rest_ms(t->retry_ms, t->tries);
    if (t->server->phase != PHASE_OPEN || (refused && !can_renew(t)))
        return;
    retry_talk(t, t->has_head && t->wait_ms > ms ? t->wait_ms : ms);
}

/* The exchange has ended; why: it broke off. */
static void end_talk(struct talk *t, const char *why)
{
    t->over = true;
    if (t->kind == TALK_REQUEST)
        end_request(t, why);
    else if (t->kind == TALK_LISTEN)
        end_listening(t);
    else if (t->kind == TALK_NOTE && t->has_head && can_wait(t))
        wait_as_asked(t);
}

/* -------------------------------------------------------------- reading --- */

static void read_talk(struct talk *t)
{
    const allm_transport *http = client_transport(t->server->owner->http);
    while (t->exchange && !t->over) {
        allm_chunk chunk = { .size = sizeof chunk };
        struct slice bytes;
        allm_status status = http->read(http->self, t->exchange, &chunk);
        if (status == ALLM_AGAIN) {     /* a head without a body is enough */
            t->first &= http->head(http->self, t->exchange)->status < 200;
            return;
        }
        if (status < 0) {
            end_talk(t, chunk.error ? failure_plain(&t->arena, chunk.error)
                                    : "the connection broke");
            return;
        }
        if (!t->has_head)
            talk_head(t);
        t->first = false;
        bytes = (struct slice){ chunk.bytes, chunk.len };
        if (status != ALLM_EVENT)
            end_talk(t, NULL);
        else if (t->streams)
            take_stream(t, bytes);
        else
            take_body(t, bytes);
    }
}

static void drop_talks(struct server *s, bool all)
{
    struct talk **at = &s->http->talks;
    while (*at) {
        struct talk *t = *at;
        bool dead = t->over || (t->kind == TALK_REQUEST && !is_awaited(t));
        if (!all && !dead) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        talk_free(t);
    }
}

void http_turn(struct server *s)
{
    bool any = false;
    if (!s->http)
        return;
    for (struct talk *t = s->http->talks; t; t = t->next) {
        if (!t->exchange || (t->read_once && !waker_clear(&t->waker)))
            continue;
        t->read_once = any = true;
        read_talk(t);
    }
    if (any)
        server_pump(s);
}

/* ----------------------------------------------------------------- link --- */

static struct client *make_client(struct servers *all)
{
    const allm_net_opts *net = all->opts.net;
    struct client_opts how = {
        .ca_file = net ? net->ca_file : NULL,
        .proxy = net ? net->proxy : NULL,
        .user_agent = net ? net->user_agent : NULL,
        .max_idle_ms = net ? net->max_idle_ms : 0,
        .max_connections = net ? net->max_connections : 0,
        .http2 = net && net->http2,
        .public_only = net && net->public_only,
    };
    return client_new(all->mem, crew_poll(all->opts.crew), &how);
}

const allm_error *http_start(struct server *s)
{
    struct servers *all = s->owner;
    if (!all->http)
        all->http = make_client(all);
    s->http = all->http ? mem_alloc(all->mem, sizeof *s->http) : NULL;
    if (!s->http)
        return status_nomem();
    *s->http = (struct server_http){ .why = "the connection was closed" };
    arena_init(&s->http->arena, all->mem);
    return NULL;
}

/* The next message that may be sent now. */
static const struct mcp_message *next_message(struct server *s)
{
    if (!is_beginning(s))
        begin_listening(s);
    return is_beginning(s) ? NULL : mcp_client_out(s->client);
}

static bool has_requests(const struct server *s)
{
    const struct talk *t = s->http->talks;
    while (t && (t->over || t->kind != TALK_REQUEST))
        t = t->next;
    return t;
}

void http_flush(struct server *s)
{
    const struct mcp_message *m;
    drop_talks(s, false);
    while ((m = next_message(s))) {
        post_message(s, m);
        mcp_client_sent(s->client);
    }
    token_tick(&s->http->token);
    for (struct talk *t = s->http->talks; t; t = t->next)
        if (!t->exchange && !t->over && t->again_ns <= server_now())
            open_talk(t);
    s->http->token.fault = NULL;        /* the next request tries again */
    if (s->forgot && !has_requests(s))
        server_end(s, true);
}

void http_wake(struct server *s)
{
    for (struct talk *t = s->http->talks; t; t = t->next)
        if (!t->exchange && t->again_ns == INT64_MAX) {
            t->again_ns = server_now();
            mcp_client_waits(s->client, id_of(t), t->again_ns);
        }
    server_pump(s);
}

int64_t http_deadline(const struct server *s)
{
    int64_t at = token_deadline(&s->http->token);
    if (is_beginning(s) && s->http->begin_by < at)
        at = s->http->begin_by;
    for (const struct talk *t = s->http->talks; t; t = t->next)
        if (t->again_ns < at)
            at = t->again_ns;
    return at;
}

/* The session is ended, if there is one; nothing else is awaited. */
void http_end(struct server *s, bool at_once)
{
    bool leaves = s->http->session && !at_once;
    for (struct talk *t = s->http->talks; t; t = t->next)
        t->over = true;
    struct talk *t = leaves ? new_talk(s, TALK_LEAVE) : NULL;
    if (t)
        open_talk(t);
    if (!crew_set_timer(s->owner->opts.crew, &s->timer,
                        clock_after(server_now(), leaves ? LEAVE_MS : 0)))
        http_timeout(s);
}

/* While it ends: is the session left? */
bool http_has_left(const struct server *s)
{
    for (const struct talk *t = s->http->talks; t; t = t->next)
        if (t->kind == TALK_LEAVE && !t->over)
            return false;
    return true;
}

void http_timeout(struct server *s)
{
    struct server_http *h = s->http;
    const char *why = h->why;
    drop_talks(s, true);
    token_release(&h->token);
    arena_release(&h->arena);
    mem_free(s->owner->mem, h, sizeof *h);
    s->http = NULL;
    server_closed(s, why);
}
