/*
 * client_state.c - the client side of MCP, without I/O
 *
 * The other files have the parts: client_open finds the revision,
 * client_hear reads what the server says, client_form asks the user, and
 * client_send keeps the requests and writes the messages.
 */
#include "mcp/client_parts.h"

#include "base/clock.h"

enum { START_MS = 10 * 1000, SILENCE_MS = 60 * 1000 };

struct mcp_client *mcp_client_new(struct mem mem,
                                  const struct mcp_client_opts *opts)
{
    struct allm_home *h = home_new(mem, 1024);
    struct mcp_client *c = h ? arena_zero(home_arena(h), sizeof *c) : NULL;
    char *root = c ? arena_text(home_arena(h), opts->root) : NULL;
    if (!c || (opts->root && !root)) {
        home_drop(h);
        return NULL;
    }
    *c = (struct mcp_client){ .mem = mem, .home = h, .opts = *opts,
                              .revision = revision_modern(),
                              .greeting = json_empty_object(),
                              .start_at = INT64_MAX,
                              .changed_at = INT64_MAX,
                              .asked_at = INT64_MAX,
                              .listen_at = INT64_MAX };
    c->opts.root = root;
    if (!c->opts.start_ms)
        c->opts.start_ms = START_MS;
    if (!c->opts.silence_ms)
        c->opts.silence_ms = SILENCE_MS;
    c->last_event = &c->events;
    c->last_message = &c->messages;
    ndjson_init(&c->lines, mem, RPC_LIMIT);
    return c;
}

void mcp_client_free(struct mcp_client *c)
{
    struct mcp_event event;
    if (!c)
        return;
    while (c->pending)
        client_forget(c, c->pending);
    while (c->questions) {
        struct question *q = c->questions;
        c->questions = q->next;
        home_drop(q->home);
    }
    while (c->messages)
        mcp_client_sent(c);
    while (mcp_client_next(c, &event))
        ;
    ndjson_release(&c->lines);
    home_drop(c->greeting_home);
    home_drop(c->home);
}

uint64_t mcp_client_request(struct mcp_client *c, const struct mcp_ask *ask,
                            int64_t now)
{
    if (c->state == CLIENT_LOST || c->no_memory)
        return 0;
    struct pending *p = client_pend(c, ask, now);
    if (!p)
        return 0;
    if (c->state == CLIENT_OPEN)
        client_send(c, p, now);
    return c->no_memory ? 0 : p->number;
}

static struct pending *find_number(struct mcp_client *c, uint64_t number)
{
    struct pending *p = c->pending;
    while (p && p->number != number)
        p = p->next;
    return p;
}

void mcp_client_cancel(struct mcp_client *c, uint64_t number, int64_t now)
{
    struct pending *p = find_number(c, number);
    if (!p || p->ours)
        return;
    client_send_cancelled(c, p, "nobody awaits the result any more");
    client_forget(c, p);
    client_note_asking(c, now);
}

bool mcp_client_awaits(struct mcp_client *c, uint64_t id)
{
    return client_find(c, id) != NULL;
}

void mcp_client_waits(struct mcp_client *c, uint64_t id, int64_t until)
{
    struct pending *p = client_find(c, id);
    if (p && p->silent_at != INT64_MAX)
        p->silent_at = clock_after(until, c->opts.silence_ms);
    if (p && c->start_at != INT64_MAX)
        c->start_at = clock_after(until, c->opts.start_ms);
}

void mcp_client_broke(struct mcp_client *c, uint64_t id, const char *why,
                      int64_t now)
{
    struct pending *p = client_find(c, id);
    if (!p)
        return;
    if (p->method == MCP_DISCOVER || p->method == MCP_INITIALIZE)
        client_lose(c, "handler_exit", "%s", why);
    else if (p->method == MCP_LISTEN)
        client_listen_later(c, p, now);
    else
        client_fail(c, p, "handler_exit", "%s", why);
    client_note_asking(c, now);
}

void mcp_client_gone(struct mcp_client *c, const char *why)
{
    client_lose(c, "handler_exit", "%s", why);
}

/* ----------------------------------------------------------------- time --- */

static int64_t due_at(const struct mcp_client *c, const struct pending *p)
{
    if (c->questions)
        return INT64_MAX;
    return p->silent_at < p->total_at ? p->silent_at : p->total_at;
}

int64_t mcp_client_deadline(const struct mcp_client *c)
{
    int64_t at = c->start_at < c->changed_at ? c->start_at : c->changed_at;
    if (c->listen_at < at)
        at = c->listen_at;
    if (c->state == CLIENT_LOST)
        return INT64_MAX;
    for (const struct pending *p = c->pending; p; p = p->next)
        if (due_at(c, p) < at)
            at = due_at(c, p);
    return at;
}

static void expire(struct mcp_client *c, struct pending *p, int64_t now)
{
    client_send_cancelled(c, p, "timeout");
    if (now >= p->total_at)
        client_fail(c, p, "timeout", "the server did not answer in time");
    else
        client_fail(c, p, "timeout",
                    "the server was silent for %u ms, without an answer or a "
                    "report of progress",
                    c->opts.silence_ms);
}

static void tell_changes(struct mcp_client *c)
{
    struct mcp_event *ev = client_event(c, MCP_CHANGED, NULL);
    if (ev)
        ev->lists = c->changed;
    c->changed = 0;
    c->changed_at = INT64_MAX;
}

void mcp_client_tick(struct mcp_client *c, int64_t now)
{
    if (c->state == CLIENT_LOST || c->no_memory)
        return;
    if (now >= c->changed_at)
        tell_changes(c);
    if (now >= c->listen_at)
        client_listen_again(c, now);
    for (struct pending *p = c->pending, *next; p; p = next) {
        next = p->next;
        if (now >= due_at(c, p))
            expire(c, p, now);
    }
    if (now >= c->start_at)
        client_impatient(c, now);
}

/* ----------------------------------------------------------------- read --- */

const allm_json *mcp_client_greeting(const struct mcp_client *c)
{
    return c->greeting;
}

const struct revision *mcp_client_revision(const struct mcp_client *c)
{
    return c->revision;
}

unsigned mcp_client_listens(const struct mcp_client *c)
{
    return c->listens;
}

bool mcp_client_is_probed(const struct mcp_client *c)
{
    return c->state == CLIENT_OPENING && !c->tried_initialize;
}

/* A server that did not say what it has may have anything. */
bool mcp_client_has(const struct mcp_client *c, const char *capability)
{
    const allm_json *can = json_at(c->greeting, "capabilities");
    return !can || json_at(can, capability);
}

struct mcp_counts mcp_client_counts(const struct mcp_client *c)
{
    return c->counts;
}
