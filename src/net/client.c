/*
 * client.c - the HTTP client: many exchanges at once, with libcurl
 *
 *      poll --ready()--> libcurl --on_socket--> poll (what to watch)
 *      due  --timeout--> libcurl --on_timer---> due
 *
 * libcurl never waits here.  It says which sockets it wants to watch and when
 * its next timeout is due, and is called when either happens.  After each call
 * the transfers that have ended are collected.
 */
#include "net/client.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/secret.h"
#include "net/exchange.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/*
 * A descriptor of libcurl's.  The struct is kept when the descriptor is closed,
 * for the next one with the same number.
 *
 * libcurl stops watching a connection's socket between two requests and while a
 * transfer is paused, and soon watches it again.  The socket stays in the set
 * meanwhile (`in_set` without `on`), which saves two system calls each time; if
 * it becomes ready before libcurl wants it, it is removed.  libcurl says when
 * it opens and closes a connection's socket; other descriptors are removed at
 * once.
 */
struct watch {
    struct poll_handler handler;
    struct client *client;
    int fd;
    bool on;                    /* libcurl wants to know */
    bool in_set;
    unsigned what;              /* in the set for this */
    bool connection;            /* a connection's socket, and open */
    bool plain;                 /* HTTP/1: one read is enough */
    bool look;                  /* libcurl must read it once more */
};

struct client {
    struct exchange_env env;
    struct poll *poll;
    struct watch **watches;     /* by descriptor */
    size_t watch_count;
    int64_t due_ns;
    bool blind;                 /* a socket could not be watched */
    bool look;                  /* some sockets must be read once more */
    struct mem wiped;           /* inside `texts` */
    struct arena texts;         /* options; a proxy may have a password */
    struct arena why;           /* the error of the last failed open() */
    allm_transport transport;
};

/* ------------------------------------------------------- global set-up --- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;

/* Never undone: the process may use libcurl elsewhere. */
static void set_up(void)
{
    usable = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* ------------------------------------------------------------ watching --- */

static void set_due(struct client *c, long ms)
{
    c->due_ns = ms < 0 ? INT64_MAX
                       : clock_now_ns(clock_real()) + (int64_t)ms * 1000000;
}

/* End the exchanges whose transfers have ended. */
static void collect_done(struct client *c)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(c->env.multi, &left)))
        if (m->msg == CURLMSG_DONE)
            exchange_done(m->easy_handle, m->data.result);
    if (c->blind)
        exchange_fail_all(&c->env);
    c->blind = false;
}

/* True: libcurl delivered something. */
static bool call_curl(struct client *c, curl_socket_t fd, int what)
{
    size_t before = c->env.pieces;
    c->env.saw_http1 = false;
    int running;
    long ms = -1;
    curl_multi_socket_action(c->env.multi, fd, what, &running);
    curl_multi_timeout(c->env.multi, &ms);
    set_due(c, ms);             /* on_timer() is called for changes only */
    collect_done(c);
    return c->env.pieces != before;
}

/*
 * libcurl (7.88) reads an HTTP/2 connection for one stream, stores bytes of the
 * others, and sometimes does not deliver them: the socket is empty by then, and
 * nothing would wake the loop.  So whenever something was delivered, libcurl is
 * called once more, after the readers.
 */
static void look_again(struct client *c, struct watch *w)
{
    w->look = c->env.http2 && w->on && !w->plain;
    c->look = c->look || w->look;
}

static void call_again(struct client *c)
{
    c->look = false;
    for (size_t i = 0; i < c->watch_count; i++) {
        struct watch *w = c->watches[i];
        if (!w || !w->look)
            continue;
        w->look = false;
        if (w->on && call_curl(c, w->fd, CURL_CSELECT_IN))
            look_again(c, w);
    }
}

static void look_everywhere(struct client *c)
{
    for (size_t i = 0; c->env.http2 && i < c->watch_count; i++)
        if (c->watches[i])
            look_again(c, c->watches[i]);
}

static void call_timeout(struct client *c)
{
    c->due_ns = INT64_MAX;
    if (call_curl(c, CURL_SOCKET_TIMEOUT, 0))
        look_everywhere(c);
}

static void remove_watch(struct watch *w)
{
    if (w->in_set)
        poll_remove(w->client->poll, w->fd, w);
    w->in_set = false;
}

static void on_ready(struct poll_handler *handler, unsigned what)
{
    struct watch *w = (struct watch *)(void *)handler;
    int mask = 0;
    if (!w->on) {
        remove_watch(w);
        return;
    }
    if (what & POLL_READ)
        mask |= CURL_CSELECT_IN;
    if (what & POLL_WRITE)
        mask |= CURL_CSELECT_OUT;
    if (what & POLL_ERROR)
        mask |= CURL_CSELECT_ERR;
    if (!call_curl(w->client, w->fd, mask))
        return;
    w->plain |= w->client->env.saw_http1;
    look_again(w->client, w);
}

/* The struct of this descriptor, made if needed; NULL: no memory. */
static struct watch *watch_of(struct client *c, int fd)
{
    size_t at = (size_t)fd;
    struct mem mem = c->env.mem;
    if (at >= c->watch_count) {
        size_t count = at + at / 2 + 16;
        struct watch **more = mem_resize(mem, c->watches,
                                         c->watch_count * sizeof *more,
                                         count * sizeof *more);
        if (!more)
            return NULL;
        memset(more + c->watch_count, 0,
               (count - c->watch_count) * sizeof *more);
        c->watches = more;
        c->watch_count = count;
    }
    if (c->watches[at])
        return c->watches[at];
    struct watch *w = mem_alloc(mem, sizeof *w);
    if (w)
        *w = (struct watch){ .handler = { on_ready }, .client = c, .fd = fd };
    return c->watches[at] = w;
}

static struct watch *find_watch(const struct client *c, int fd)
{
    return (size_t)fd < c->watch_count ? c->watches[fd] : NULL;
}

static void unwatch(struct client *c, int fd)
{
    struct watch *w = find_watch(c, fd);
    if (!w || !w->on)
        return;
    w->on = w->plain = false;
    if (!w->connection)
        remove_watch(w);
}

/* 0 or an errno. */
static int watch(struct client *c, int fd, unsigned what)
{
    struct watch *w = watch_of(c, fd);
    if (!w)
        return ENOMEM;
    w->on = true;
    if (w->in_set && w->connection && w->what == what)
        return 0;
    int error = w->in_set ? poll_modify(c->poll, fd, what, w) : ENOENT;
    if (error == ENOENT)        /* or closed and opened meanwhile */
        error = poll_add(c->poll, fd, what, w);
    w->on = w->in_set = !error;
    w->what = what;
    return error;
}

/* libcurl has opened a socket for a connection. */
static int on_open(void *ud, curl_socket_t fd, curlsocktype purpose)
{
    struct watch *w = watch_of(ud, fd);
    (void)purpose;
    if (w)
        w->connection = true;
    return w ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

/* It closes the socket.  Another process may still have it, so that closing
 * alone does not take it out of the set. */
static int on_close(void *ud, curl_socket_t fd)
{
    struct watch *w = find_watch(ud, fd);
    if (w) {
        remove_watch(w);
        w->on = w->connection = false;
    }
    return close(fd);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ud,
                     void *mine)
{
    struct client *c = ud;
    (void)mine;
    if (what != CURL_POLL_REMOVE)
        exchange_goes_over(easy, fd);
    if (what == CURL_POLL_REMOVE)
        unwatch(c, fd);
    else if (watch(c, fd,
                   (what & CURL_POLL_IN ? POLL_READ : 0u) |
                       (what & CURL_POLL_OUT ? POLL_WRITE : 0u)))
        c->blind = true;        /* collect_done() reports it */
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *ud)
{
    (void)multi;
    set_due(ud, ms);
    return 0;
}

int64_t client_due(const struct client *c)
{
    if (!c)
        return INT64_MAX;
    return c->blind || c->look ? 0 : c->due_ns;
}

void client_timeout(struct client *c)
{
    if (!c)
        return;
    if (c->look)
        call_again(c);
    if (c->blind ||
        (c->due_ns != INT64_MAX && clock_now_ns(clock_real()) >= c->due_ns))
        call_timeout(c);
}

size_t client_open(const struct client *c)
{
    return c ? c->env.running : 0;
}

/* ----------------------------------------------------------- transport --- */

static allm_exchange *open_one(void *self, const allm_http_view *view,
                               allm_waker *waker, const allm_error **error)
{
    struct client *c = self;
    arena_reset(&c->why);
    return exchange_open(&c->env, view, waker, &c->why, error);
}

static allm_status read_one(void *self, allm_exchange *x, allm_chunk *chunk)
{
    (void)self;
    return exchange_read(x, chunk);
}

static bool ready_one(void *self, allm_exchange *x)
{
    (void)self;
    return exchange_ready(x);
}

static const allm_http_head *head_one(void *self, allm_exchange *x)
{
    (void)self;
    return exchange_head(x);
}

static bool failed_one(void *self, allm_exchange *x)
{
    (void)self;
    return exchange_failed(x);
}

static void close_one(void *self, allm_exchange *x)
{
    curl_socket_t fd = x ? exchange_leave(x) : CURL_SOCKET_BAD;
    if (fd != CURL_SOCKET_BAD)
        call_curl(self, fd, CURL_CSELECT_IN);
    exchange_close(x);
    look_everywhere(self);      /* bytes of other streams may be stored */
}

const allm_transport *client_transport(const struct client *c)
{
    return &c->transport;
}

/* ---------------------------------------------------------------- life --- */

static long idle_seconds(int64_t ms)
{
    if (ms < 0)
        return -1;
    int64_t s = ((ms ? ms : CLIENT_IDLE_MS) + 999) / 1000;
    return s < 1000000 ? (long)s : 1000000;
}

static bool take_opts(struct client *c, const struct client_opts *opts)
{
    struct buf agent = buf_in(&c->texts, 256);
    if (opts->user_agent)
        buf_text(&agent, opts->user_agent);
    else
        buf_format(&agent, "liballm/%s", allm_version());
    buf_byte(&agent, '\0');
    c->env.user_agent = agent.ptr;
    c->env.proxy = arena_text(&c->texts, opts->proxy);
    c->env.idle_s = idle_seconds(opts->max_idle_ms);
    c->env.http2 = opts->http2;
    c->env.public_only = opts->public_only;
    struct trust_system system = trust_system();
    return trust_find(&c->env.trust, &c->texts, opts->ca_file,
                      opts->system ? opts->system : &system) &&
           !agent.broken && !c->texts.broken;
}

/* TLS sessions outlive their connections, and are resumed by the next ones. */
static void open_share(struct client *c)
{
    CURLSH *share = c->env.share = curl_share_init();
    if (share &&
        curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION)) {
        curl_share_cleanup(share);
        c->env.share = NULL;
    }
}

static bool open_multi(struct client *c, uint32_t connections)
{
    CURLM *m = c->env.multi = curl_multi_init();
    long most = connections && connections < INT32_MAX ? (long)connections
                                                       : CLIENT_CONNECTIONS;
    return m && !curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, most) &&
           !curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, on_socket) &&
           !curl_multi_setopt(m, CURLMOPT_SOCKETDATA, c) &&
           !curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, on_timer) &&
           !curl_multi_setopt(m, CURLMOPT_TIMERDATA, c);
}

struct client *client_new(struct mem mem, struct poll *poll,
                          const struct client_opts *opts)
{
    static const struct client_opts none = { 0 };
    pthread_once(&once, set_up);
    struct client *c = usable ? mem_alloc(mem, sizeof *c) : NULL;
    if (!c)
        return NULL;
    *c = (struct client){
        .env.mem = mem,
        .env.on_open = on_open,
        .env.on_close = on_close,
        .env.on_ud = c,
        .poll = poll,
        .due_ns = INT64_MAX,
        .wiped = mem,
        .transport = { sizeof c->transport, c, open_one, read_one, ready_one,
                       head_one, close_one, failed_one },
    };
    blocks_init(&c->env.blocks, mem);
    arena_init(&c->texts, secret_mem(&c->wiped));
    arena_init(&c->why, mem);
    if (!opts)
        opts = &none;
    open_share(c);
    if (take_opts(c, opts) && open_multi(c, opts->max_connections))
        return c;
    client_free(c);
    return NULL;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    struct mem mem = c->env.mem;
    exchange_env_release(&c->env);
    curl_multi_cleanup(c->env.multi);   /* may still call on_socket() */
    curl_share_cleanup(c->env.share);
    for (size_t i = 0; i < c->watch_count; i++) {
        if (c->watches[i])
            remove_watch(c->watches[i]);
        mem_free(mem, c->watches[i], sizeof **c->watches);
    }
    mem_free(mem, c->watches, c->watch_count * sizeof *c->watches);
    blocks_release(&c->env.blocks);
    arena_release(&c->why);
    arena_release(&c->texts);
    mem_free(mem, c, sizeof *c);
}
