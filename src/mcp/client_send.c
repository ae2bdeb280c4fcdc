/*
 * client_send.c - the requests of a client, its messages and events
 *
 * Invariants
 *   (1) A request is in c->pending until its answer is queued as an event.
 *   (2) An id is never used twice: a request that is sent again, for the next
 *       page or with the answers to questions, gets a new one.
 */
#include "mcp/client_parts.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdarg.h>

const struct method_row client_methods[] = {
    /* name, member with the items of a list, what names it, asks */
    [MCP_NOTHING] = { "", NULL, NULL, false },
    [MCP_TOOLS_LIST] = { "tools/list", "tools", NULL, false },
    [MCP_TOOLS_CALL] = { "tools/call", NULL, "name", true },
    [MCP_RESOURCES_LIST] = { "resources/list", "resources", NULL, false },
    [MCP_RESOURCES_READ] = { "resources/read", NULL, "uri", true },
    [MCP_TEMPLATES_LIST] = { "resources/templates/list", "resourceTemplates",
                             NULL, false },
    [MCP_PROMPTS_LIST] = { "prompts/list", "prompts", NULL, false },
    [MCP_PROMPTS_GET] = { "prompts/get", NULL, "name", true },
    [MCP_DISCOVER] = { "server/discover", NULL, NULL, false },
    [MCP_INITIALIZE] = { "initialize", NULL, NULL, false },
    [MCP_LISTEN] = { "subscriptions/listen", NULL, NULL, false },
};

const char *mcp_method_name(enum mcp_method method)
{
    return client_methods[method].name;
}

/* --------------------------------------------------------------- events --- */

struct mcp_event *client_event(struct mcp_client *c, enum mcp_event_kind kind,
                               struct allm_home *home)
{
    struct allm_home *h = home ? home : home_new(c->mem, 512);
    struct queued_event *q = h ? arena_zero(home_arena(h), sizeof *q) : NULL;
    if (!q) {
        home_drop(h);
        c->no_memory = true;
        return NULL;
    }
    q->event.kind = kind;
    q->event.home = h;
    *c->last_event = q;
    c->last_event = &q->next;
    return &q->event;
}

struct mcp_event *client_tell(struct mcp_client *c, enum mcp_event_kind kind,
                              const struct pending *p, const allm_json *value,
                              struct allm_home *home)
{
    struct mcp_event *ev = client_event(c, kind, home_keep(home));
    if (ev) {
        ev->number = p->number;
        ev->ud = p->ud;
        ev->value = value;
    }
    return ev;
}

static void drop_lent(struct mcp_client *c)
{
    struct allm_home *h = c->lent ? c->lent->event.home : NULL;
    c->lent = NULL;
    home_drop(h);
}

bool mcp_client_next(struct mcp_client *c, struct mcp_event *event)
{
    drop_lent(c);
    if (c->no_memory && !c->told_no_memory && !c->events) {
        c->told_no_memory = true;
        c->state = CLIENT_LOST;
        *event = (struct mcp_event){ .kind = MCP_FAILED,
                                     .error = status_nomem() };
        return true;
    }
    if (!c->events)
        return false;
    c->lent = c->events;
    c->events = c->lent->next;
    if (!c->events)
        c->last_event = &c->events;
    *event = c->lent->event;
    return true;
}

/* ------------------------------------------------------------- messages --- */

struct mcp_message *client_draft(struct mcp_client *c, struct buf *text)
{
    struct allm_home *h = home_new(c->mem, 512);
    struct queued_message *q = h ? arena_zero(home_arena(h), sizeof *q) : NULL;
    if (!q) {
        home_drop(h);
        c->no_memory = true;
        return NULL;
    }
    q->message.home = h;
    q->message.revision = c->revision;
    buf_init(text, home_arena(h), SIZE_MAX - 1);
    return &q->message;
}

void client_queue(struct mcp_client *c, struct mcp_message *m, struct buf *text)
{
    struct queued_message *q =
        (struct queued_message *)(void *)((char *)m -
                                          offsetof(struct queued_message,
                                                   message));
    if (text->broken || c->state == CLIENT_LOST) {
        c->no_memory = c->no_memory || text->broken;
        home_drop(m->home);
        return;
    }
    m->json = buf_slice(text);
    *c->last_message = q;
    c->last_message = &q->next;
    c->unsent++;
}

const struct mcp_message *mcp_client_out(const struct mcp_client *c)
{
    return c->messages ? &c->messages->message : NULL;
}

void mcp_client_sent(struct mcp_client *c)
{
    struct queued_message *q = c->messages;
    if (!q)
        return;
    c->messages = q->next;
    if (!c->messages)
        c->last_message = &c->messages;
    c->unsent--;
    home_drop(q->message.home);
}

/* ------------------------------------------------------------- requests --- */

static void emit_client(struct emit *e)
{
    emit_open(e, '{');
    emit_member_word(e, "name", "allm");
    emit_member_word(e, "version", allm_version());
    emit_close(e, '}');
}

static void emit_capabilities(const struct mcp_client *c, struct emit *e)
{
    emit_open(e, '{');
    if (c->opts.root) {
        emit_member_open(e, "roots", '{');
        emit_close(e, '}');
    }
    if (c->opts.elicits) {
        emit_member_open(e, "elicitation", '{');
        emit_member_open(e, "form", '{');
        emit_close(e, '}');
        emit_close(e, '}');
    }
    emit_close(e, '}');
}

static void emit_initialize(const struct mcp_client *c, struct emit *e)
{
    emit_member_word(e, "protocolVersion", c->revision->name);
    emit_at(e, "capabilities");
    emit_capabilities(c, e);
    emit_at(e, "clientInfo");
    emit_client(e);
}

/* What a modern request says about us, and the token for its progress. */
static void emit_meta(const struct mcp_client *c, const struct pending *p,
                      struct emit *e)
{
    bool modern = c->revision->modern && p->method != MCP_INITIALIZE;
    bool asks = client_methods[p->method].asks;
    if (!modern && !asks)
        return;
    emit_member_open(e, "_meta", '{');
    if (asks)
        emit_member_uint(e, "progressToken", p->id);
    if (modern) {
        emit_member_word(e, RPC_META("protocolVersion"), c->revision->name);
        emit_at(e, RPC_META("clientInfo"));
        emit_client(e);
        emit_at(e, RPC_META("clientCapabilities"));
        emit_capabilities(c, e);
        if (c->opts.logs)
            emit_member_word(e, RPC_META("logLevel"), "debug");
    }
    emit_close(e, '}');
}

/* The answers to the server's questions, and its own state, unchanged. */
static void emit_inputs(const struct inputs *in, struct emit *e)
{
    const allm_json *key = NULL;
    size_t i = 0;
    if (!in->home)
        return;
    if (in->requests) {
        emit_member_open(e, "inputResponses", '{');
        while ((key = allm_json_next(in->requests, key))) {
            emit_key(e, json_slice(key));
            emit_value(e, in->answers[i++]);
        }
        emit_close(e, '}');
    }
    if (in->state)
        emit_member_value(e, "requestState", in->state);
}

static void emit_params(const struct mcp_client *c, const struct pending *p,
                        struct emit *e)
{
    const struct method_row *row = &client_methods[p->method];
    if (p->method == MCP_INITIALIZE)
        emit_initialize(c, e);
    if (row->names)
        emit_member(e, row->names, p->name);
    if (p->arguments) {
        emit_at(e, p->method == MCP_LISTEN ? "notifications" : "arguments");
        emit_value(e, p->arguments);
    }
    if (p->pages) {
        const struct page *last = p->pages;
        while (last->next)
            last = last->next;
        emit_member_text(e, "cursor", last->cursor);
    }
    emit_inputs(&p->inputs, e);
    emit_meta(c, p, e);
}

struct pending *client_find(struct mcp_client *c, uint64_t id)
{
    struct pending *p = id ? c->pending : NULL;
    while (p && p->id != id)
        p = p->next;
    return p;
}

struct pending *client_pend(struct mcp_client *c, const struct mcp_ask *ask,
                            int64_t now)
{
    struct allm_home *h = home_new(c->mem, 512);
    struct pending *p = h ? arena_zero(home_arena(h), sizeof *p) : NULL;
    if (p) {
        struct arena *a = home_arena(h);
        *p = (struct pending){ .home = h, .method = ask->method,
                               .ud = ask->ud, .next = c->pending };
        p->name = arena_text(a, ask->name);
        p->arguments = json_copy(a, ask->arguments);
        p->number = ++c->last_id;
        p->silent_at = INT64_MAX;
        p->last_page = &p->pages;
        p->total_at = ask->total_ms ? clock_after(now, ask->total_ms)
                                    : INT64_MAX;
    }
    if (!p || home_arena(h)->broken) {
        home_drop(h);
        c->no_memory = true;
        return NULL;
    }
    c->pending = p;
    return p;
}

void client_send(struct mcp_client *c, struct pending *p, int64_t now)
{
    struct buf text;
    struct emit e;
    p->id = p->sent ? ++c->last_id : p->number;         /* keeps (2) */
    p->sent = true;
    p->silent_at = p->method == MCP_LISTEN
                       ? INT64_MAX
                       : clock_after(now, c->opts.silence_ms);
    struct mcp_message *m = client_draft(c, &text);
    if (!m)
        return;
    m->method = p->method;
    m->number = p->number;
    m->id = p->id;
    rpc_begin_request(&e, &text, p->id, client_methods[p->method].name);
    emit_params(c, p, &e);
    rpc_end(&e);
    if (c->opts.http && home_hold(m->home, p->home)) {
        m->name = p->name;
        m->arguments = p->arguments;
    }
    client_queue(c, m, &text);
}

void client_send_cancelled(struct mcp_client *c, const struct pending *p,
                           const char *why)
{
    struct buf text;
    struct emit e;
    /* A modern server takes the end of the HTTP stream for it. */
    if (!p->id || p->method == MCP_INITIALIZE ||
        (c->opts.http && c->revision->modern))
        return;
    struct mcp_message *m = client_draft(c, &text);
    if (!m)
        return;
    rpc_begin_notification(&e, &text, "notifications/cancelled");
    emit_member_uint(&e, "requestId", p->id);
    emit_member(&e, "reason", why);
    rpc_end(&e);
    client_queue(c, m, &text);
}

/* -------------------------------------------------------------- endings --- */

static void drop_questions(struct mcp_client *c, const struct pending *p)
{
    struct question **at = &c->questions;
    while (*at) {
        struct question *q = *at;
        if (q->about != p) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        struct mcp_event *ev = client_event(c, MCP_WITHDRAWN, NULL);
        if (ev) {
            ev->question = q->number;
            ev->number = p ? p->number : 0;
            ev->ud = p ? p->ud : NULL;
        }
        home_drop(q->home);
    }
}

void client_forget(struct mcp_client *c, struct pending *p)
{
    struct pending **at = &c->pending;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    drop_questions(c, p);
    for (struct page *page = p->pages; page;) {
        struct allm_home *h = page->home;
        page = page->next;              /* the page is in its home */
        home_drop(h);
    }
    home_drop(p->inputs.home);
    home_drop(p->home);
}

static void fail_pending(struct mcp_client *c, struct pending *p,
                         const char *reason, const char *format, va_list args)
{
    struct mcp_event *ev = p->ours ? NULL : client_event(c, MCP_ANSWER, NULL);
    if (ev) {
        ev->number = p->number;
        ev->ud = p->ud;
        ev->error = status_verror(home_arena(ev->home), ALLM_ERR_TOOL, reason,
                                  format, args);
    }
    client_forget(c, p);                                /* keeps (1) */
}

void client_fail(struct mcp_client *c, struct pending *p, const char *reason,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_pending(c, p, reason, format, args);
    va_end(args);
}

void client_lose(struct mcp_client *c, const char *reason, const char *format,
                 ...)
{
    va_list args, again;
    if (c->state == CLIENT_LOST)
        return;
    c->state = CLIENT_LOST;
    va_start(args, format);
    while (c->pending) {
        va_copy(again, args);
        fail_pending(c, c->pending, reason, format, again);
        va_end(again);
    }
    drop_questions(c, NULL);
    struct mcp_event *ev = client_event(c, MCP_FAILED, NULL);
    if (ev)
        ev->error = status_verror(home_arena(ev->home), ALLM_ERR_TOOL, reason,
                                  format, args);
    va_end(args);
    while (c->messages)
        mcp_client_sent(c);
}
