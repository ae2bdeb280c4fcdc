/*
 * client_open.c - find out which revision a server speaks
 *
 * A server that was known to be legacy is not probed, unless it refuses.
 *
 *      server/discover -- a result, or an error that only modern servers
 *             |           know ----------------------------------> modern
 *             |-- any other error, {}, no answer of MCP over HTTP, or a
 *             |   status that refuses it
 *             |                                     |
 *             '-- no answer in time --> initialize -+--> legacy
 *                                           |
 *                                           '-- -32022 --> discover again
 *
 * A server that ends when it is probed is started again as a legacy one, by
 * whoever started it.
 *
 * Both requests may be under way at once; the first conclusive answer counts.
 * Some servers refuse "initialize" after they have been probed, so its error
 * is not conclusive while the probe is unanswered.
 */
#include "mcp/client_parts.h"

#include "base/clock.h"
#include "json/build.h"

enum { PROBE_MS = 10 * 1000 };

static void send_opening(struct mcp_client *c, enum mcp_method method,
                         int64_t now)
{
    struct mcp_ask ask = { .method = method };
    bool first = method == MCP_DISCOVER && !c->tried_initialize;
    uint32_t ms = first && c->opts.start_ms > PROBE_MS ? PROBE_MS
                                                       : c->opts.start_ms;
    c->start_at = clock_after(now, ms);
    *(method == MCP_INITIALIZE ? &c->tried_initialize
                               : &c->tried_discover) = true;
    struct pending *p = client_pend(c, &ask, now);
    if (!p)
        return;
    p->ours = true;
    client_send(c, p, now);
    p->silent_at = INT64_MAX;           /* start_at counts */
}

/* A server that was known may be another version by now. */
static void send_discover(struct mcp_client *c, int64_t now)
{
    c->revision = revision_modern();
    send_opening(c, MCP_DISCOVER, now);
}

static struct pending *find_opening(struct mcp_client *c,
                                    enum mcp_method method)
{
    struct pending *p = c->pending;
    while (p && p->method != method)
        p = p->next;
    return p;
}

/* Unless it is under way. */
static void send_initialize(struct mcp_client *c, const struct revision *r,
                            int64_t now)
{
    if (find_opening(c, MCP_INITIALIZE))
        return;
    c->revision = r;
    send_opening(c, MCP_INITIALIZE, now);
}

static void forget_opening(struct mcp_client *c)
{
    struct pending *p;
    while ((p = find_opening(c, MCP_DISCOVER)) ||
           (p = find_opening(c, MCP_INITIALIZE)))
        client_forget(c, p);
}

/* ---------------------------------------------------------------- ready --- */

static void build_member(struct build *b, const char *key, const allm_json *v)
{
    if (v)
        build_value_at(b, key, v);
}

/* Keep what the server said, in the home of its message. */
static void keep_greeting(struct mcp_client *c, const allm_json *result,
                          struct allm_home *h)
{
    const allm_json *server = json_at(result, "serverInfo");
    if (!server)
        server = json_at(json_at(result, "_meta"), RPC_META("serverInfo"));
    struct build b = build_object_in(home_arena(h));
    build_text_at(&b, "revision", slice_of(c->revision->name));
    build_member(&b, "serverInfo", server);
    build_member(&b, "capabilities", json_at(result, "capabilities"));
    build_member(&b, "instructions", json_at(result, "instructions"));
    const allm_json *greeting = build_finish(&b);
    if (!greeting) {
        c->no_memory = true;
        return;
    }
    home_drop(c->greeting_home);
    c->greeting_home = home_keep(h);
    c->greeting = greeting;
}

static const struct {
    unsigned bit;
    const char *capability, *wish;
} lists[] = {
    { MCP_CHANGED_TOOLS, "tools", "toolsListChanged" },
    { MCP_CHANGED_PROMPTS, "prompts", "promptsListChanged" },
    { MCP_CHANGED_RESOURCES, "resources", "resourcesListChanged" },
};

enum { LISTS = sizeof lists / sizeof *lists };

/* The lists whose changes the server tells of. */
static unsigned changing_lists(const struct mcp_client *c)
{
    const allm_json *can = json_at(c->greeting, "capabilities");
    unsigned found = can ? 0 : c->opts.listens;
    for (size_t i = 0; i < LISTS; i++)
        if (allm_json_true(
                json_at(json_at(can, lists[i].capability), "listChanged")))
            found |= lists[i].bit;
    return found;
}

static const allm_json *build_wish(struct arena *a, unsigned wanted)
{
    struct build b = build_object_in(a);
    for (size_t i = 0; i < LISTS; i++)
        if (wanted & lists[i].bit)
            build_bool_at(&b, lists[i].wish, true);
    return build_finish(&b);
}

/* Ask a modern server to tell us about changes; a legacy one does it. */
static void send_listen(struct mcp_client *c, int64_t now)
{
    c->listen_at = INT64_MAX;
    if (!c->listens)
        return;
    struct arena a = arena_in(c->mem);
    struct mcp_ask ask = { .method = MCP_LISTEN,
                           .arguments = build_wish(&a, c->listens) };
    struct pending *p = ask.arguments ? client_pend(c, &ask, now) : NULL;
    c->no_memory = c->no_memory || !ask.arguments;
    arena_release(&a);
    if (p) {
        p->ours = true;
        c->heard_since = now;
        client_send(c, p, now);
    }
}

void client_listen_later(struct mcp_client *c, struct pending *p, int64_t now)
{
    client_forget(c, p);
    if (now >= clock_after(c->heard_since, CLIENT_LISTEN_MOST_MS))
        c->breaks = 0;
    int64_t ms = (int64_t)CLIENT_LISTEN_MS << (c->breaks < 8 ? c->breaks : 8);
    c->breaks++;
    c->listen_at = clock_after(now, ms < CLIENT_LISTEN_MOST_MS
                                        ? ms
                                        : CLIENT_LISTEN_MOST_MS);
}

void client_listen_again(struct mcp_client *c, int64_t now)
{
    client_note_change(c, c->listens, now);
    send_listen(c, now);
}

static void send_initialized(struct mcp_client *c)
{
    struct buf text;
    struct emit e;
    struct mcp_message *m = client_draft(c, &text);
    if (!m)
        return;
    rpc_begin_notification(&e, &text, "notifications/initialized");
    rpc_end(&e);
    client_queue(c, m, &text);
}

/* Requests that were made while the client was opening. */
static void send_waiting(struct mcp_client *c, int64_t now)
{
    for (struct pending *p = c->pending; p; p = p->next)
        if (!p->sent)
            client_send(c, p, now);
}

static void become_ready(struct mcp_client *c, const struct revision *r,
                         const allm_json *result, struct allm_home *h,
                         int64_t now)
{
    c->revision = r;
    forget_opening(c);
    c->state = CLIENT_OPEN;
    c->start_at = INT64_MAX;
    keep_greeting(c, result, h);
    struct mcp_event *ev = client_event(c, MCP_READY, home_keep(h));
    if (ev)
        ev->value = c->greeting;
    c->listens = r->modern ? changing_lists(c) : 0;
    if (r->modern)
        send_listen(c, now);
    else
        send_initialized(c);
    send_waiting(c, now);
}

/* -------------------------------------------------------------- answers --- */

static void lose_revision(struct mcp_client *c, const allm_json *offers)
{
    const allm_json *first = allm_json_at(offers, 0);
    struct slice name = json_slice(first ? first : offers);
    client_lose(c, "handler_failed",
                "the server speaks %.*s of MCP, and we speak revisions from "
                "2024-11-05 to %s; use a version of the server that speaks one "
                "of these",
                name.ptr ? (int)(name.len < 40 ? name.len : 40) : 11,
                name.ptr ? name.ptr : "no revision", revision_modern()->name);
}

/* The server names the revisions it speaks, and not the one we used. */
static void choose_again(struct mcp_client *c, const allm_json *offers,
                         int64_t now)
{
    const struct revision *r = offers ? revision_choose(offers)
                                      : revision_modern();
    bool *again = r && r->modern ? &c->probed_again : &c->initialized_again;
    if (!r || *again) {
        lose_revision(c, offers);
        return;
    }
    *again = true;
    forget_opening(c);
    c->revision = r;
    send_opening(c, r->modern ? MCP_DISCOVER : MCP_INITIALIZE, now);
}

static bool is_modern_error(const struct rpc *m)
{
    return m->code >= RPC_RESERVED_FIRST && m->code <= RPC_RESERVED_LAST;
}

/* It has refused the modern revision twice, and says that it speaks it. */
static bool insists(const struct mcp_client *c, const allm_json *offers)
{
    return c->probed_again && revision_choose(offers) == revision_modern();
}

static void discovered(struct mcp_client *c, struct pending *p,
                       const struct rpc *m, struct allm_home *h, int64_t now)
{
    const allm_json *offers = json_at(m->result, "supportedVersions");
    const allm_json *others = json_at(m->data, "supported");
    /* Some servers answer whatever they do not know with {}. */
    if (m->kind == RPC_RESULT && offers) {
        const struct revision *r = revision_choose(offers);
        if (r && r->modern)
            become_ready(c, r, m->result, h, now);
        else
            choose_again(c, offers, now);
    } else if (m->code == RPC_NO_REVISION && !insists(c, others)) {
        choose_again(c, others, now);
    } else if (is_modern_error(m)) {
        become_ready(c, revision_modern(), NULL, h, now);
    } else {
        client_forget(c, p);
        send_initialize(c, revision_legacy(), now);
    }
}

static void initialized(struct mcp_client *c, struct pending *p,
                        const struct rpc *m, struct allm_home *h, int64_t now)
{
    const allm_json *version = json_at(m->result, "protocolVersion");
    const struct revision *r = revision_find(json_slice(version));
    const allm_json *offers = json_at(m->data, "supported");
    if (m->kind == RPC_RESULT && r && !r->modern) {
        become_ready(c, r, m->result, h, now);
    } else if (m->kind == RPC_RESULT) {
        lose_revision(c, version);
    } else if (offers || m->code == RPC_NO_REVISION) {
        choose_again(c, offers, now);
    } else if (find_opening(c, MCP_DISCOVER)) {
        client_forget(c, p);                /* not conclusive */
    } else if (m->kind == RPC_BAD) {
        client_lose(c, "handler_failed", CLIENT_NOT_VALID, m->fault);
    } else if (!c->tried_discover) {
        client_forget(c, p);
        send_discover(c, now);
    } else {
        client_lose(c, "handler_failed",
                    "the server refused to begin (%d): %.*s", m->code,
                    m->message.len < 500 ? (int)m->message.len : 500,
                    m->message.ptr ? m->message.ptr : "");
    }
}

void client_opened(struct mcp_client *c, struct pending *p, const struct rpc *m,
                   struct allm_home *h, int64_t now)
{
    if (p->method == MCP_DISCOVER)
        discovered(c, p, m, h, now);
    else
        initialized(c, p, m, h, now);
}

/* -------------------------------------------------------------- opening --- */

void client_impatient(struct mcp_client *c, int64_t now)
{
    if (!c->tried_initialize)
        send_initialize(c, revision_legacy(), now);
    else
        client_lose(c, "timeout",
                    "the server did not answer within %u ms when asked to "
                    "begin; is it an MCP server? If it needs longer, raise "
                    "start_timeout",
                    c->opts.start_ms);
}

void mcp_client_start(struct mcp_client *c, const struct revision *known,
                      int64_t now)
{
    if (c->state != CLIENT_NEW)
        return;
    c->state = CLIENT_OPENING;
    c->revision = known ? known : revision_modern();
    if (known && known->modern) {
        struct allm_home *h = home_new(c->mem, 512);
        if (h)
            become_ready(c, known, NULL, h, now);
        else
            c->no_memory = true;
        home_drop(h);
    } else {
        send_opening(c, known ? MCP_INITIALIZE : MCP_DISCOVER, now);
    }
}

/* A format, for a status and a target. */
#define REDIRECTED                                                         \
    "the server answers with HTTP status %d and redirects to %.300s, which " \
    "is not followed; if that is the server, use this URL"

/* The status of an answer to the probe that says: not this way.  It should be
 * 400, 404 or 405; servers in Rust answer 422, and others 200 or 202 without an
 * answer. */
static bool refuses_probe(int status)
{
    if (status / 100 == 2)
        return true;
    return status / 100 == 4 && status != 401 && status != 403 &&
           status != 408 && status != 429;
}

/* The same of an answer to the opening of either era. */
static bool refuses_era(int status)
{
    return status == 400 || status == 404 || status == 405;
}

static void refuse_opening(struct mcp_client *c, struct pending *p, int status,
                           const char *target, int64_t now)
{
    if (p->method == MCP_DISCOVER && refuses_probe(status))
        send_initialize(c, revision_legacy(), now);
    else if (refuses_era(status) && !c->tried_discover)
        send_discover(c, now);
    else if (refuses_era(status))
        client_lose(c, "handler_failed",
                    "the server answers with HTTP status %d: there is no "
                    "Streamable HTTP endpoint of MCP at this address (HTTP+SSE "
                    "of 2024-11-05 is not supported); check the URL",
                    status);
    else if (target)
        client_lose(c, "handler_failed", REDIRECTED, status, target);
    else
        client_lose(c, "handler_failed",
                    "the server answers with HTTP status %d; %s", status,
                    status == 401 || status == 403
                        ? "check its authorization headers"
                        : "try again later, or check the URL");
    if (c->state != CLIENT_LOST)
        client_forget(c, p);
}

static void refuse_request(struct mcp_client *c, struct pending *p, int status,
                           const char *target, const struct rpc *m)
{
    if (m->kind == RPC_ERROR && m->message.len)
        client_fail(c, p, "handler_failed", "%.*s",
                    m->message.len < 4096 ? (int)m->message.len : 4096,
                    m->message.ptr);
    else if (target)
        client_fail(c, p, "handler_failed", REDIRECTED, status, target);
    else
        client_fail(c, p, "handler_failed",
                    "the server answered with HTTP status %d%s", status,
                    status == 401 || status == 403
                        ? "; check its authorization: the token may have "
                          "expired"
                        : "");
}

void mcp_client_refused(struct mcp_client *c, uint64_t id, int status,
                        const char *target, struct slice body, int64_t now)
{
    struct pending *p = client_find(c, id);
    struct allm_home *h = p ? home_new(c->mem, 512) : NULL;
    struct rpc m;
    if (!p)
        return;
    if (!h || !rpc_read(home_arena(h), body, &m)) {
        c->no_memory = true;
        m.kind = RPC_BAD;
    }
    bool probe = p->method == MCP_DISCOVER;
    if (p->method == MCP_LISTEN && status >= 500)
        client_listen_later(c, p, now);
    else if (!probe && p->method != MCP_INITIALIZE)
        refuse_request(c, p, status, target, &m);
    else if (m.kind == RPC_ERROR && (!probe || is_modern_error(&m)))
        client_opened(c, p, &m, h, now);
    else
        refuse_opening(c, p, status, target, now);
    home_drop(h);
}
