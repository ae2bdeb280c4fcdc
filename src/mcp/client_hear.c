/*
 * client_hear.c - what a server says: answers, requests, notifications
 *
 * A server may be wrong in any way: what has no meaning is counted and
 * ignored; an answer that is not valid ends its request.  Only a line that is
 * too long, many bad lines in a row, or replies that it never reads end the
 * connection.
 */
#include "mcp/client_parts.h"

#include "base/clock.h"
#include "json/build.h"

/* ---------------------------------------------------------------- lists --- */

/* Has the list named this cursor before?  Then it would never end. */
static bool repeats_cursor(const struct pending *p, struct slice cursor)
{
    for (const struct page *page = p->pages; page; page = page->next)
        if (slice_eq(page->cursor, cursor))
            return true;
    return false;
}

/* All items in one array, in the home of the last page, which holds the
 * others. */
static const allm_json *join_pages(struct pending *p, const allm_json *last,
                                   struct allm_home *h)
{
    struct build b = build_array_in(home_arena(h));
    for (const struct page *page = p->pages; page; page = page->next) {
        const allm_json *v = NULL;
        if (!home_hold(h, page->home))
            return NULL;
        while ((v = allm_json_next(page->items, v)))
            build_value(&b, v);
    }
    for (const allm_json *v = NULL; (v = allm_json_next(last, v));)
        build_value(&b, v);
    return build_finish(&b);
}

static bool keep_page(struct mcp_client *c, struct pending *p,
                      const allm_json *items, struct slice cursor,
                      struct allm_home *h)
{
    struct page *page = arena_zero(home_arena(h), sizeof *page);
    if (!page) {
        c->no_memory = true;
        return false;
    }
    *page =
        (struct page){ .items = items, .cursor = cursor,
                           .home = home_keep(h) };
    *p->last_page = page;
    p->last_page = &page->next;
    p->page_count++;
    return true;
}

/* The last page: tell of all of them. */
static void end_list(struct mcp_client *c, struct pending *p,
                     const allm_json *items, struct allm_home *h, bool cut)
{
    const allm_json *all = join_pages(p, items, h);
    struct mcp_event *ev = all ? client_tell(c, MCP_ANSWER, p, all, h) : NULL;
    if (ev)
        ev->cut = cut;
    c->no_memory = c->no_memory || !all;
    client_forget(c, p);
}

static void take_page(struct mcp_client *c, struct pending *p,
                      const struct rpc *m, struct allm_home *h, size_t bytes,
                      int64_t now)
{
    const char *member = client_methods[p->method].list;
    const allm_json *items = json_at(m->result, member);
    struct slice cursor = json_text_at(m->result, "nextCursor");
    p->page_bytes += bytes;
    bool cut = cursor.ptr &&
               (p->page_count + 1 >= CLIENT_PAGES ||
                p->page_bytes > RPC_LIMIT || repeats_cursor(p, cursor));
    if (!json_is_type(items, ALLM_JSON_ARRAY))
        client_fail(c, p, "handler_failed",
                    "the answer of the server has no list \"%s\"", member);
    else if (!cursor.ptr || cut)
        end_list(c, p, items, h, cut);
    else if (keep_page(c, p, items, cursor, h))
        client_send(c, p, now);
}

/* -------------------------------------------------------------- answers --- */

static struct pending *find_pending(struct mcp_client *c, const allm_json *id)
{
    uint64_t n = 0;
    return allm_json_uint64(id, &n) ? client_find(c, n) : NULL;
}

static void take_error(struct mcp_client *c, struct pending *p,
                       const struct rpc *m)
{
    struct slice text = m->message;
    bool lacks = m->code == RPC_NO_METHOD;
    client_fail(c, p, "handler_failed", "%s%s%.*s (error %d of the server)",
                lacks ? mcp_method_name(p->method) : "",
                lacks ? " is not supported: " : "",
                text.len < 4096 ? (int)text.len : 4096,
                text.ptr ? text.ptr : "", m->code);
}

static void take_result(struct mcp_client *c, struct pending *p,
                        const struct rpc *m, struct allm_home *h, int64_t now)
{
    const allm_json *type = json_at(m->result, "resultType");
    struct slice name = json_slice(type);
    if (client_methods[p->method].asks && json_is(type, "input_required")) {
        client_input(c, p, m->result, h, now);
    } else if (type && !json_is(type, "complete")) {
        client_fail(c, p, "handler_failed",
                    "the answer of the server is of a type that is not "
                    "supported: %.*s",
                    (int)(name.len < 60 ? name.len : 60),
                    name.ptr ? name.ptr : "");
    } else {
        client_tell(c, MCP_ANSWER, p, m->result, h);
        client_forget(c, p);
    }
}

/* An answer to this request, or NULL; it may be BAD. */
static void take_answer(struct mcp_client *c, struct pending *p,
                        const struct rpc *m, struct allm_home *h, size_t bytes,
                        int64_t now)
{
    if (!p)
        c->counts.stray++;
    else if (p->method == MCP_DISCOVER || p->method == MCP_INITIALIZE)
        client_opened(c, p, m, h, now);
    else if (p->method == MCP_LISTEN && m->kind != RPC_RESULT)
        client_forget(c, p);            /* it does not tell of changes */
    else if (p->method == MCP_LISTEN)
        client_listen_later(c, p, now);
    else if (m->kind == RPC_BAD)
        client_fail(c, p, "handler_failed", CLIENT_NOT_VALID, m->fault);
    else if (m->kind == RPC_ERROR)
        take_error(c, p, m);
    else if (client_methods[p->method].list)
        take_page(c, p, m, h, bytes, now);
    else
        take_result(c, p, m, h, now);
}

/* ------------------------------------------------------------- requests --- */

void client_reply(struct mcp_client *c, const allm_json *id,
                  const allm_json *members)
{
    struct buf text;
    struct emit e;
    struct mcp_message *m = client_draft(c, &text);
    if (!m)
        return;
    rpc_begin_result(&e, &text, id);
    rpc_emit_members(&e, members);
    rpc_end(&e);
    client_queue(c, m, &text);
}

static void send_error(struct mcp_client *c, const allm_json *id, int code,
                       const char *message)
{
    struct buf text;
    struct mcp_message *m = client_draft(c, &text);
    if (!m)
        return;
    rpc_write_error(&text, id, code, message, NULL);
    client_queue(c, m, &text);
}

static void take_request(struct mcp_client *c, const struct rpc *m,
                         struct allm_home *h)
{
    if (c->unsent >= CLIENT_UNSENT) {
        client_lose(c, "handler_exit",
                    "the server sends requests and does not read the answers");
    } else if (slice_is(m->method, "ping")) {
        client_reply(c, m->id, NULL);
    } else if (slice_is(m->method, "roots/list")) {
        const allm_json *roots = client_roots(c, home_arena(h));
        if (roots)
            client_reply(c, m->id, roots);
        else
            c->no_memory = true;
    } else if (slice_is(m->method, "elicitation/create")) {
        if (!client_question(c, h, m->id, m->params))
            send_error(c, m->id, RPC_PARAMS,
                       "this client does not support this kind of elicitation, "
                       "or too many are open");
    } else {
        send_error(c, m->id, RPC_NO_METHOD, "this client does not support it");
    }
}

/* -------------------------------------------------------- notifications --- */

static void take_progress(struct mcp_client *c, const struct rpc *m,
                          struct allm_home *h, int64_t now)
{
    struct pending *p = find_pending(c, json_at(m->params, "progressToken"));
    if (!p || !client_methods[p->method].asks) {
        c->counts.ignored++;
        return;
    }
    p->silent_at = clock_after(now, c->opts.silence_ms);
    client_tell(c, MCP_PROGRESS, p, m->params, h);
}

void client_note_change(struct mcp_client *c, unsigned lists, int64_t now)
{
    if (!c->changed)
        c->changed_at = clock_after(now, CLIENT_BURST_MS);
    c->changed |= lists;
}

static void take_notification(struct mcp_client *c, const struct rpc *m,
                              struct allm_home *h, int64_t now)
{
    if (slice_is(m->method, "notifications/progress")) {
        take_progress(c, m, h, now);
    } else if (slice_is(m->method, "notifications/tools/list_changed")) {
        client_note_change(c, MCP_CHANGED_TOOLS, now);
    } else if (slice_is(m->method, "notifications/resources/list_changed")) {
        client_note_change(c, MCP_CHANGED_RESOURCES, now);
    } else if (slice_is(m->method, "notifications/prompts/list_changed")) {
        client_note_change(c, MCP_CHANGED_PROMPTS, now);
    } else if (slice_is(m->method, "notifications/cancelled")) {
        client_withdraw(c, json_at(m->params, "requestId"));
    } else if (slice_is(m->method, "notifications/message")) {
        struct mcp_event *ev = c->opts.logs
                                   ? client_event(c, MCP_LOG, home_keep(h))
                                   : NULL;
        if (ev)
            ev->value = m->params;
    } else {
        c->counts.ignored++;
    }
}

/* ------------------------------------------------------------- messages --- */

static void take_bad(struct mcp_client *c)
{
    c->counts.bad++;
    if (++c->bad_in_a_row >= CLIENT_BAD_LINES)
        client_lose(c, "handler_exit",
                    "the server wrote %d lines in a row that are not MCP "
                    "messages; its standard output must carry nothing else",
                    CLIENT_BAD_LINES);
}

static void take_message(struct mcp_client *c, const struct rpc *m,
                         struct allm_home *h, size_t bytes, int64_t now)
{
    struct pending *p = m->has_no_method ? find_pending(c, m->id) : NULL;
    if (m->kind == RPC_BAD) {
        if (p)
            take_answer(c, p, m, h, bytes, now);
        take_bad(c);
        return;
    }
    c->bad_in_a_row = 0;
    if (m->kind == RPC_REQUEST)
        take_request(c, m, h);
    else if (m->kind == RPC_NOTIFICATION)
        take_notification(c, m, h, now);
    else
        take_answer(c, p, m, h, bytes, now);
}

void mcp_client_hear(struct mcp_client *c, struct slice message, int64_t now)
{
    struct rpc m;
    if (c->state == CLIENT_LOST || c->no_memory)
        return;
    struct allm_home *h = home_new(c->mem, 1024 + 2 * message.len);
    if (h && rpc_read(home_arena(h), message, &m))
        take_message(c, &m, h, message.len, now);
    else
        c->no_memory = true;
    home_drop(h);
    client_note_asking(c, now);
}

void mcp_client_feed(struct mcp_client *c, struct slice bytes, int64_t now)
{
    struct slice line;
    enum wire_result result = WIRE_MORE;
    while (c->state != CLIENT_LOST && !c->no_memory &&
           (result = ndjson_next(&c->lines, &bytes, &line)) == WIRE_FRAME)
        mcp_client_hear(c, line, now);
    if (result == WIRE_TOO_LONG)
        client_lose(c, "handler_exit",
                    "the server wrote a line of more than 16 MiB");
    else if (result == WIRE_NOMEM)
        c->no_memory = true;
}
