/*
 * http_get.c - the tool http_get: read a page of the public Internet
 *
 *      GET --> redirect? --> same host: GET again, at most 5 times
 *                            another host: the model is told, and may ask for
 *                            it, so that the rules see that host, too
 *
 * The client refuses to open a socket to an address that is not public, so
 * neither a name nor a redirect leads into this machine or its network.  A
 * worker thread waits; the client is its own.
 */
#include "base/clock.h"
#include "base/nocase.h"
#include "base/utf8.h"
#include "loop/poll.h"
#include "loop/waker.h"
#include "net/client.h"
#include "net/failure.h"
#include "net/url.h"
#include "toolbox/builtin.h"
#include "toolbox/html.h"
#include "toolbox/lines.h"
#include "json/json.h"

#include <errno.h>
#include <stdlib.h>

enum { REDIRECTS = 5, TIME_MS = 20000, STEP_MS = 100, BYTES = 256 * 1024,
       NAME_MOST = 256 };

struct page_get {
    struct builtin_call *call;
    struct poll poll;
    struct client *client;
    struct allm_waker waker;
    int64_t end_ns;
    const char *url;
    struct url parts;
    struct buf body;
    size_t most;
    bool cut;                   /* the body has more than `most` bytes */
    int32_t status;
    const char *type, *location;    /* or NULL */
    int redirects;
};

/* ----------------------------------------------------------- exchanging --- */

static void wait_for_bytes(struct page_get *g)
{
    struct poll_ready r;
    int64_t due = client_due(g->client), now = clock_now_ns(clock_real());
    int64_t step = clock_after(now, STEP_MS);
    poll_set_deadline(&g->poll, due < step ? due : step);
    poll_wait(&g->poll, -1);
    while (poll_next(&g->poll, &r))
        ((struct poll_handler *)r.tag)->ready(r.tag, r.what);
    client_timeout(g->client);
}

static void add_chunk(struct page_get *g, const allm_chunk *chunk)
{
    size_t room = g->most - g->body.len;
    g->cut = chunk->len > room;
    buf_add(&g->body,
            (struct slice){ chunk->bytes, g->cut ? room : chunk->len });
}

/* Until the end of the body, or enough of it; false: the call was answered. */
static bool read_body(struct page_get *g, const allm_transport *http,
                      allm_exchange *x)
{
    while (!g->cut) {
        allm_chunk chunk = { .size = sizeof chunk };
        allm_status status = http->read(http->self, x, &chunk);
        if (status == ALLM_OK)
            return true;
        if (status == ALLM_EVENT) {
            add_chunk(g, &chunk);
            continue;
        }
        if (status != ALLM_AGAIN) {
            builtin_fail(g->call, "%s: %s", g->url,
                         chunk.error
                             ? failure_plain(&g->call->arena, chunk.error)
                             : "it failed");
            return false;
        }
        if (clock_now_ns(clock_real()) >= g->end_ns) {
            builtin_fail_as(g->call, "timeout", "%s did not answer within %d s",
                            g->url, TIME_MS / 1000);
            return false;
        }
        if (builtin_stopped(g->call)) {
            builtin_fail(g->call, "the call was cancelled");
            return false;
        }
        wait_for_bytes(g);
    }
    return true;
}

static const char *header_of(struct page_get *g, const allm_http_head *head,
                             const char *name)
{
    return arena_text(&g->call->arena,
                      nocase_header(head->header, head->header_count, name));
}

/* One request; false: the call was answered. */
static bool get_once(struct page_get *g)
{
    static const char *const header[] = {
        "Accept", "text/html,text/plain,application/json;q=0.9,*/"
                  "*;q=0.5"
    };
    const allm_transport *http = client_transport(g->client);
    const allm_error *error = NULL;
    allm_http_view view = { .size = sizeof view, .method = "GET",
                            .url = g->url, .header_count = 1,
                            .header = header };
    buf_clear(&g->body);
    g->cut = false;
    allm_exchange *x = http->open(http->self, &view, &g->waker, &error);
    if (!x) {
        builtin_fail(g->call, "%s: %s", g->url,
                     error ? failure_plain(&g->call->arena, error)
                           : "it cannot be requested");
        return false;
    }
    bool ok = read_body(g, http, x);
    if (ok) {
        const allm_http_head *head = http->head(http->self, x);
        g->status = head->status;
        g->type = header_of(g, head, "Content-Type");
        g->location = header_of(g, head, "Location");
    }
    http->close(http->self, x);
    return ok;
}

/* ------------------------------------------------------------ addresses --- */

/* "localhost,.example.org": is it one of these hosts, or below one? */
static bool lists_host(const char *list, struct slice host)
{
    while (list && *list) {
        size_t n = strcspn(list, ", ");
        struct slice one = { list, n };
        one = slice_skip(one, n && *list == '.');
        size_t more = host.len > one.len ? host.len - one.len : 0;
        if (one.len && nocase_eq(slice_skip(host, more), one) &&
            (!more || host.ptr[more - 1] == '.'))
            return true;
        list += n + (list[n] != 0);
    }
    return false;
}

/* Does the environment name a proxy for this host? */
static bool has_proxy(const struct url *u)
{
    bool tls = !strcmp(u->scheme, "https");
    const char *names[] = { tls ? "https_proxy" : "http_proxy",
                            tls ? "HTTPS_PROXY" : "all_proxy",
                            tls ? "all_proxy" : "ALL_PROXY", "ALL_PROXY" };
    const char *none = getenv("no_proxy") ? getenv("no_proxy")
                                          : getenv("NO_PROXY");
    if (none && (!strcmp(none, "*") || lists_host(none, slice_of(u->host))))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *proxy = getenv(names[i]);
        if (proxy && *proxy)
            return true;
    }
    return false;
}

/* False: the call was answered. */
static bool check_url(struct page_get *g)
{
    struct builtin_call *c = g->call;
    if (!url_read(&c->arena, g->url, &g->parts)) {
        builtin_fail_as(c, "invalid_arguments", "%s is not a URL", g->url);
        return false;
    }
    if (strcmp(g->parts.scheme, "http") != 0 &&
        strcmp(g->parts.scheme, "https") != 0) {
        builtin_fail_as(c, "invalid_arguments",
                        "the URL must begin with http:// or https://, not with "
                        "%s://",
                        g->parts.scheme);
        return false;
    }
    if (!*g->parts.host) {
        builtin_fail_as(c, "invalid_arguments", "%s has no host", g->url);
        return false;
    }
    if (g->parts.has_user) {
        builtin_fail_as(c, "invalid_arguments",
                        "the URL may not have a name or a password");
        return false;
    }
    if (!builtins_env(c->owner)->net.proxy && has_proxy(&g->parts)) {
        builtin_fail(c, "http_get cannot check addresses behind the proxy that "
                        "the environment names; the user may allow a proxy in "
                        "the options of the toolbox");
        return false;
    }
    return true;
}

static bool is_redirect(const struct page_get *g)
{
    return g->location &&
           (g->status == 301 || g->status == 302 || g->status == 303 ||
            g->status == 307 || g->status == 308);
}

/* Follow the redirect; false: the call was answered. */
static bool follow(struct page_get *g)
{
    struct builtin_call *c = g->call;
    const char *next = url_resolve(&c->arena, g->url, g->location);
    struct url from = g->parts;
    if (++g->redirects > REDIRECTS || !next) {
        builtin_fail(c, "%s: %s", g->url,
                     next ? "more than 5 redirects"
                          : "it redirects to something that is not a URL");
        return false;
    }
    g->url = next;
    if (!check_url(g))
        return false;
    if (!strcmp(from.host, g->parts.host))
        return true;
    buf_format(&c->out,
               "status: %d\nThis page redirects to another host: %s\n"
               "Call http_get with that URL to read it.\n",
               (int)g->status, next);
    builtin_answer(c);
    return false;
}

/* --------------------------------------------------------------- answer --- */

static bool type_has(const struct page_get *g, const char *word)
{
    struct slice s = slice_of(g->type);
    while (s.len && !nocase_starts(s, word))
        s = slice_skip(s, 1);
    return s.len;
}

static bool is_text(const struct page_get *g)
{
    if (lines_binary(buf_slice(&g->body)))
        return false;
    return !g->type || type_has(g, "text/") || type_has(g, "json") ||
           type_has(g, "xml") || type_has(g, "javascript") ||
           type_has(g, "yaml") || type_has(g, "x-www-form-urlencoded");
}

/* Latin-1, if the page says so. */
static struct slice as_utf8(struct page_get *g)
{
    struct slice body = buf_slice(&g->body);
    if (!type_has(g, "8859-1") && !type_has(g, "1252"))
        return body;
    struct buf b = buf_in(&g->call->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < body.len; i++) {
        char bytes[4];
        size_t n = utf8_put(bytes, (unsigned char)body.ptr[i]);
        buf_add(&b, (struct slice){ bytes, n });
    }
    return buf_slice(&b);
}

static void answer_page(struct page_get *g)
{
    struct builtin_call *c = g->call;
    buf_format(&c->out, "status: %d\ntype: %s\n", (int)g->status,
               g->type ? g->type : "unknown");
    if (g->redirects)
        buf_format(&c->out, "url: %s\n", g->url);
    buf_byte(&c->out, '\n');
    struct slice text = as_utf8(g);
    if (!is_text(g))
        buf_format(&c->out, "[not text: %s%zu bytes]\n",
                   g->cut ? "more than " : "", g->body.len);
    else if (type_has(g, "html"))
        html_text(&c->out, text);
    else
        buf_add(&c->out, text);
    if (is_text(g) && g->cut)
        buf_format(&c->out,
                   "\n[cut after %zu bytes; raise max_bytes for "
                   "more]\n",
                   g->most);
    builtin_answer(c);
}

static void get_page(struct page_get *g)
{
    if (!check_url(g))
        return;
    while (get_once(g)) {
        if (!is_redirect(g)) {
            answer_page(g);
            return;
        }
        if (!follow(g))
            return;
    }
}

void http_get_run(struct builtin_call *c)
{
    struct client_opts opts = builtins_env(c->owner)->net;
    struct page_get g = { .call = c, .url = builtin_text(c, "url", "") };
    int error = poll_init(&g.poll);
    opts.proxy = opts.proxy ? opts.proxy : "";
    opts.max_idle_ms = -1;
    if (*opts.proxy)
        opts.public_only = false;       /* the user allowed it */
    if (!error)
        g.client = client_new(c->arena.mem, &g.poll, &opts);
    waker_init(&g.waker);
    buf_init(&g.body, &c->arena, SIZE_MAX / 2);
    g.most = builtin_number(c, "max_bytes", BYTES);
    g.end_ns = clock_after(clock_now_ns(clock_real()), TIME_MS);
    if (g.client)
        get_page(&g);
    else
        builtin_path_fault(c, "", ENOMEM);
    client_free(g.client);
    waker_release(&g.waker);
    if (!error)
        poll_release(&g.poll);
}

const allm_json *http_get_reach(allm_toolbox *t, const struct entry *e,
                                const allm_json *args, struct arena *a)
{
    struct url u;
    const char *url = json_text_at(args, "url").ptr;
    (void)t, (void)e;
    if (!url || !url_read(a, url, &u))
        return builtin_reach(a, "net", "unknown");
    return builtin_reach(a, "net", u.host);
}
