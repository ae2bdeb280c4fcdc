/* server_talk.c - one HTTP exchange with an MCP server */
#include "base/clock.h"
#include "base/nocase.h"
#include "base/status.h"
#include "mcp/headers.h"
#include "mcp/rpc.h"
#include "net/url.h"
#include "provider/retry_after.h"
#include "toolbox/server_http.h"
#include "json/json.h"

enum { OWN_HEADERS = 8 };

/* -------------------------------------------------------------- headers --- */

/* Names and values in turn. */
struct head_list {
    const char **at;
    size_t count;
};

static void put_header(struct head_list *h, const char *name, const char *value)
{
    h->at[2 * h->count] = name;
    h->at[2 * h->count + 1] = value;
    h->count++;
}

/* Does the protocol, or HTTP, set it? */
static bool is_ours(struct slice name)
{
    static const char *const names[] = {
        "Accept", "Accept-Encoding", "Content-Length", "Content-Type",
        "Last-Event-ID", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version",
        "Mcp-Session-Id", "Transfer-Encoding",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (nocase_is(name, names[i]))
            return true;
    return false;
}

/* Headers of the entry; one with a key is not logged, and null is none.  Other
 * programs' files have some that are ours to set. */
static void put_own_headers(const struct server_conf *c, struct arena *a,
                            struct head_list *h, allm_http_view *view)
{
    const allm_json *key = NULL;
    while (c->headers && (key = allm_json_next(c->headers, key))) {
        struct slice name = json_slice(key);
        const char *value = server_conf_value(a, allm_json_value(key));
        if (!value || is_ours(name))
            continue;
        if (!nocase_is(name, "Authorization")) {
            put_header(h, name.ptr, value);
        } else if (!view->secret_name) {
            view->secret_name = name.ptr;
            view->secret_value = value;
        }
    }
}

static bool put_message_headers(struct talk *t, struct head_list *h,
                                struct mcp_headers *made)
{
    const struct mcp_message *m = t->message;
    const struct server_job *job = t->server->jobs;
    while (job && (!m || job->number != m->number))
        job = job->next;
    if (!mcp_headers_make(&t->arena, m, job ? job->schema : NULL, made))
        return false;
    h->at = arena_alloc(&t->arena,
                        2 * sizeof *h->at *
                            (made->count + OWN_HEADERS +
                             allm_json_count(t->server->conf.headers)));
    if (!h->at)
        return false;
    for (size_t i = 0; i < made->count; i++)
        put_header(h, made->list[i].name, made->list[i].value);
    return true;
}

static bool put_headers(struct talk *t, struct head_list *h,
                        allm_http_view *view)
{
    static const struct mcp_message none = { .method = MCP_NOTHING };
    struct mcp_headers made;
    struct server *s = t->server;
    struct mcp_message plain = none;
    plain.revision = mcp_client_revision(s->client);
    if (!t->message)
        t->message = &plain;
    bool good = put_message_headers(t, h, &made);
    if (t->message == &plain)
        t->message = NULL;
    if (!good)
        return false;
    bool get = !strcmp(view->method, "GET");
    if (t->message)
        put_header(h, "Content-Type", "application/json");
    put_header(h, "Accept",
               get ? "text/event-stream"
                   : "application/json, text/event-stream");
    if (s->http->session)
        put_header(h, "Mcp-Session-Id", s->http->session);
    if (get && t->last_id.len)
        put_header(h, "Last-Event-ID", buf_slice(&t->last_id).ptr);
    put_own_headers(&s->conf, &t->arena, h, view);
    return !t->arena.broken;
}

/* ----------------------------------------------------------------- open --- */

static const char *method_of(const struct talk *t)
{
    bool resumes = t->kind == TALK_REQUEST && t->last_id.len;
    return t->kind == TALK_LEAVE               ? "DELETE"
           : t->kind == TALK_LISTEN || resumes ? "GET"
                                               : "POST";
}

bool talk_open(struct talk *t, const allm_error **why)
{
    struct server *s = t->server;
    const allm_transport *http = client_transport(s->owner->http);
    allm_http_view view = { .size = sizeof view, .method = method_of(t),
                            .url = s->conf.url };
    struct head_list headers = { NULL, 0 };
    view.secret_value = token_read(s, &t->arena, why);
    if (*why)
        return false;
    t->token = s->http->token.number;
    if (view.secret_value)
        view.secret_name = "Authorization";
    *why = status_nomem();
    if (!put_headers(t, &headers, &view))
        return false;
    view.header = headers.at;
    view.header_count = headers.count;
    if (!strcmp(view.method, "POST")) {
        view.body = t->message->json.ptr;
        view.body_len = t->message->json.len;
    }
    *why = NULL;
    t->again_ns = INT64_MAX;
    t->read_once = false;
    t->exchange = http->open(http->self, &view, &t->waker, why);
    return t->exchange != NULL;
}

void talk_close(struct talk *t)
{
    const allm_transport *http = client_transport(t->server->owner->http);
    if (t->exchange)
        http->close(http->self, t->exchange);
    if (t->streams)
        sse_release(&t->sse);
    t->exchange = NULL;
    t->has_head = t->streams = false;
    arena_release(&t->arena);
    arena_init(&t->arena, t->server->owner->mem);
    buf_init(&t->body, &t->arena, SIZE_MAX / 2);
}

void talk_free(struct talk *t)
{
    struct mem mem = t->server->owner->mem;
    talk_close(t);
    waker_release(&t->waker);
    arena_release(&t->arena);
    arena_release(&t->id_arena);
    home_drop(t->home);
    mem_free(mem, t, sizeof *t);
}

/* ----------------------------------------------------------------- head --- */

static const char *field_of(const allm_http_head *head, const char *name)
{
    return nocase_header(head->header, head->header_count, name);
}

bool talk_is_type(const struct talk *t, const char *type)
{
    size_t n = strlen(type);
    return t->type && !strncmp(t->type, type, n) &&
           (!t->type[n] || strchr("; ", t->type[n]));
}

/* A session id may have visible characters only. */
static void take_session(struct server_http *h, const char *id)
{
    for (const char *s = id; *s; s++)
        if (*s < 0x21 || *s > 0x7e)
            return;
    if (*id)
        h->session = arena_text(&h->arena, id);
}

void talk_head(struct talk *t)
{
    struct server *s = t->server;
    const allm_transport *http = client_transport(s->owner->http);
    const allm_http_head *head = http->head(http->self, t->exchange);
    const char *session = field_of(head, "Mcp-Session-Id");
    t->has_head = true;
    t->status = head->status;
    t->renewed = t->renewed && t->status >= 300;
    t->type = arena_text(&t->arena, field_of(head, "Content-Type"));
    const char *location = field_of(head, "Location");
    t->target = t->status / 100 == 3 && location
                    ? url_show(&t->arena, s->conf.url, location)
                    : NULL;
    if (!retry_after_find(head->header, head->header_count,
                          clock_unix_ms(clock_real()), &t->wait_ms))
        t->wait_ms = -1;
    if (session && t->message && t->message->method == MCP_INITIALIZE)
        take_session(s->http, session);
    t->streams = t->status < 300 && talk_is_type(t, "text/event-stream");
    if (t->streams)
        sse_init(&t->sse, s->owner->mem, RPC_LIMIT, RPC_LIMIT);
}
