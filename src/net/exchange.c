/*
 * exchange.c - one request and its response, as a transfer of libcurl
 *
 *      view --open--> transfer --on_header--> head
 *                        |'------on_body----> queue --read--> the reader
 *                     upload <-- body
 *
 * Invariants
 *   (1) Callbacks of libcurl (on_*) do not call libcurl.  They store what came,
 *       and ring the reader's waker.
 *   (2) On HTTP/1.1 the queue holds at most EXCHANGE_BUFFER bytes.  If more
 *       come, the transfer is paused, and libcurl keeps the rest.  The transfer
 *       resumes when the queue holds less than EXCHANGE_RESUME bytes.
 *       On HTTP/2 transfers are not paused: libcurl (7.88) would stop reading
 *       for all streams of the connection while its socket stays ready, and the
 *       loop would spin.  The queue holds at most EXCHANGE_HOARD bytes; if more
 *       come, the exchange fails.
 *   (3) The caller owns the body until the reader has seen the response.  The
 *       part that libcurl has not sent by then is copied.
 *   (4) The request's headers, including the secret one, are in memory that is
 *       wiped, and are dropped with the first bytes of the response.
 */
#include "net/exchange.h"

#include "base/arena.h"
#include "base/nocase.h"
#include "base/secret.h"
#include "base/status.h"
#include "loop/waker.h"
#include "net/address.h"
#include "net/failure.h"
#include "net/head.h"
#include "net/request_headers.h"
#include "net/transport.h"
#include "net/upload.h"

enum {
    READ_SIZE = 16 * 1024,      /* also bounds what one read inflates to */
    MANY = 64,                  /* from so many exchanges on... */
    MANY_READ_SIZE = 1024,      /* ...the next ones read less at once */
    FRAME_SIZE = 16 * 1024,     /* HTTP/2: libcurl (7.88) loses track of a
                                   frame that does not fit, and waits */
    CONNECT_S = 24 * 60 * 60    /* run/feed_http has the real timeout */
};

struct allm_exchange {
    struct exchange_env *env;
    allm_exchange *next, *prev;
    CURL *easy;                 /* NULL: libcurl is done with it */
    allm_waker *waker;
    const char *dir;            /* trust.dir when its handle was set up */
    curl_socket_t socket;       /* CURL_SOCKET_BAD until libcurl says */
    bool connected, paused, done;
    bool leaving;               /* it will be closed, and is not read */
    bool hungry;                /* the reader waits for a ring */
    bool begun;                 /* the reader has seen the response */
    bool nomem;
    CURLcode code;              /* how it ended, once it is done */
    long proxy_status;          /* of the answer to CONNECT; 0: none */

    struct mem wiped;           /* inside `texts` */
    struct arena texts;         /* the request, except its body */
    struct curl_slist *headers;
    struct upload upload;

    struct arena memory;        /* head, error */
    const char *host;
    struct head head;
    bool unread;                /* a limit ended it */
    bool not_public;            /* an address was refused */
    bool shared;                /* HTTP/2: others use the connection */

    struct queue queue;
    char said[CURL_ERROR_SIZE];
};

/* ----------------------------------------- callbacks of libcurl (on_*) --- */

static void ring_reader(allm_exchange *x)
{
    if (!x->hungry)
        return;
    x->hungry = false;
    allm_waker_ring(x->waker);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static size_t on_body(char *bytes, size_t one, size_t n, void *ud)
{
    allm_exchange *x = ud;
    size_t waiting = x->queue.bytes;
    x->env->pieces++;
    (void)one;                  /* always 1 */
    if (x->leaving)
        return 0;               /* not the end: fail the transfer */
    if (!x->shared && waiting && waiting + n > EXCHANGE_BUFFER) {
        x->paused = true;       /* keeps (2) */
        return CURL_WRITEFUNC_PAUSE;
    }
    if (waiting + n > EXCHANGE_HOARD) {
        x->unread = true;
        ring_reader(x);
        return 0;
    }
    x->nomem |= !queue_add(&x->queue, &x->env->blocks,
                           (struct slice){ bytes, n });
    ring_reader(x);
    return x->nomem ? 0 : n;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static size_t on_header(char *bytes, size_t one, size_t n, void *ud)
{
    allm_exchange *x = ud;
    bool was_done = x->head.done;
    (void)one;                  /* always 1 */
    x->env->pieces++;
    if (!head_add(&x->head, &x->memory, (struct slice){ bytes, n })) {
        x->nomem = !x->head.over;
        return 0;
    }
    x->shared = !x->head.http1;
    x->env->saw_http1 |= x->head.http1;
    if (x->head.done && !was_done)
        ring_reader(x);         /* who waits for it may look at it */
    return n;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static int on_connected(void *ud, char *to, char *from, int to_port,
                        int from_port)
{
    allm_exchange *x = ud;
    (void)to, (void)from, (void)to_port, (void)from_port;
    x->connected = true;
    return CURL_PREREQFUNC_OK;
}

/* The address is the one that is connected to, whatever the name resolves to
 * at another time. */
static curl_socket_t on_address(void *ud, curlsocktype purpose,
                                struct curl_sockaddr *to)
{
    allm_exchange *x = ud;
    (void)purpose;
    if (address_is_public(&to->addr))
        return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    x->not_public = true;
    return CURL_SOCKET_BAD;
}

/* ---------------------------------------------------------- setting up --- */

/* One line for each option; `ok` is checked once, at the end. */
#define SET(option, value) \
    (ok = curl_easy_setopt(x->easy, CURLOPT_##option, value) == CURLE_OK && ok)

/* What differs from one exchange to the next. */
static bool set_owner(allm_exchange *x)
{
    bool ok = true;
    SET(PRIVATE, x);
    SET(ERRORBUFFER, x->said);
    SET(WRITEDATA, x);
    SET(HEADERDATA, x);
    SET(PREREQDATA, x);
    if (x->env->public_only) {
        SET(OPENSOCKETFUNCTION, on_address);
        SET(OPENSOCKETDATA, x);
    }
    return upload_set_owner(&x->upload, x->easy) && ok;
}

static bool set_callbacks(allm_exchange *x)
{
    const struct exchange_env *env = x->env;
    bool ok = true;
    SET(WRITEFUNCTION, on_body);
    SET(HEADERFUNCTION, on_header);
    SET(PREREQFUNCTION, on_connected);
    SET(SOCKOPTFUNCTION, env->on_open);
    SET(SOCKOPTDATA, env->on_ud);
    SET(CLOSESOCKETFUNCTION, env->on_close);
    SET(CLOSESOCKETDATA, env->on_ud);
    if (env->share)
        SET(SHARE, env->share);
    return upload_set_callbacks(x->easy) && ok;
}

static bool can_inflate(void)
{
    return curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_LIBZ;
}

static bool set_connection(allm_exchange *x)
{
    const struct exchange_env *env = x->env;
    bool ok = true;
    SET(NOSIGNAL, 1L);
    SET(CONNECTTIMEOUT, (long)CONNECT_S);
    SET(SUPPRESS_CONNECT_HEADERS, 1L);
    SET(TCP_KEEPALIVE, 1L);
    SET(FOLLOWLOCATION, 0L);
    SET(USERAGENT, env->user_agent);
    if (can_inflate())
        SET(ACCEPT_ENCODING, "gzip");
    if (env->proxy)
        SET(PROXY, env->proxy);
    if (env->idle_s >= 0)
        SET(MAXAGE_CONN, env->idle_s);
    else
        SET(FORBID_REUSE, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A name look-up that hangs must not delay a cancellation. */
    curl_easy_setopt(x->easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    /* A libcurl without HTTP/2 rejects the option, and uses HTTP/1.1. */
    curl_easy_setopt(x->easy, CURLOPT_HTTP_VERSION,
                     env->http2 ? (long)CURL_HTTP_VERSION_2TLS
                                : (long)CURL_HTTP_VERSION_1_1);
    if (env->http2)
        SET(PIPEWAIT, 1L);
    return ok;
}

/* The only place that deals with trust.  Verification is not an option; it is
 * set here so that no reader need know libcurl's defaults. */
static bool set_trust(allm_exchange *x)
{
    const struct trust *trust = &x->env->trust;
    bool ok = true;
    SET(SSL_VERIFYPEER, 1L);
    SET(SSL_VERIFYHOST, 2L);
    SET(SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (!trust->file && !trust->dir)
        return ok;
    SET(CAINFO, trust->file);
    /* A libcurl that does not support these uses none of them. */
    curl_easy_setopt(x->easy, CURLOPT_CAPATH, trust->dir);
    curl_easy_setopt(x->easy, CURLOPT_PROXY_CAINFO, trust->file);
    curl_easy_setopt(x->easy, CURLOPT_PROXY_CAPATH, trust->dir);
    return ok;
}

/* libcurl (before 8.7) has a buffer for each transfer.  Many transfers cannot
 * all be fast, so theirs are small. */
static long read_size(const struct exchange_env *env)
{
    if (env->http2)
        return FRAME_SIZE;
    return env->running < MANY ? READ_SIZE : MANY_READ_SIZE;
}

/* libcurl uses the parsed form until the transfer ends, so that is replaced
 * only while none runs; otherwise libcurl parses the text. */
static bool set_address(allm_exchange *x, const char *url)
{
    struct exchange_env *env = x->env;
    bool ok = true;
    if (!env->running)
        parsed_url_set(&env->address, env->mem, url);
    CURLU *parts = parsed_url_parts(&env->address, url);
    SET(CURLU, parts);
    return parts ? ok : SET(URL, url);
}

static bool set_request(allm_exchange *x, const allm_http_view *view)
{
    const char *method = view->method ? view->method : "POST";
    bool ok = true;
    SET(BUFFERSIZE, read_size(x->env));
    ok = set_address(x, view->url) && ok;
    SET(HTTPHEADER, x->headers);
    if (!strcmp(method, "HEAD"))
        return SET(NOBODY, 1L);
    if (!strcmp(method, "POST") || view->body_len)
        ok = upload_set_body(&x->upload, x->easy) && ok;
    if (strcmp(method, "POST") != 0 && strcmp(method, "GET") != 0)
        SET(CUSTOMREQUEST, method);
    else if (!strcmp(method, "GET") && view->body_len)
        SET(CUSTOMREQUEST, method);
    return ok;
}

#undef SET

/* ---------------------------------------------------------------- life --- */

static void add_to_all(allm_exchange *x)
{
    struct exchange_env *env = x->env;
    x->next = env->all;
    if (env->all)
        env->all->prev = x;
    env->all = x;
}

static void remove_from_all(allm_exchange *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        x->env->all = x->next;
    if (x->next)
        x->next->prev = x->prev;
}

static bool was_reused(const allm_exchange *x)
{
    long made = 1;
    curl_easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &made);
    return made == 0;
}

/*
 * Keep the handle of a request that succeeded, so that the next one need not be
 * set up; nothing of this request stays reachable by it.  Only requests in one
 * piece use such handles: they differ in no other option.  One that was set up
 * before the trust changed is not used again.  False: not kept.
 */
static bool park_handle(allm_exchange *x)
{
    struct exchange_env *env = x->env;
    if (!x->upload.posted || !x->done || x->code != CURLE_OK ||
        x->dir != env->trust.dir || env->idle_count == EXCHANGE_IDLE)
        return false;
    curl_easy_setopt(x->easy, CURLOPT_PRIVATE, NULL);
    curl_easy_setopt(x->easy, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, NULL);
    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, NULL);
    env->idle[env->idle_count++] = x->easy;
    return true;
}

static void free_handles(struct exchange_env *env)
{
    while (env->idle_count)
        curl_easy_cleanup(env->idle[--env->idle_count]);
}

void exchange_env_release(struct exchange_env *env)
{
    free_handles(env);
    parsed_url_release(&env->address, env->mem);
}

/*
 * Take the transfer from libcurl.  If the response is not complete, libcurl
 * closes the socket or, on HTTP/2, resets the stream.  It sends the reset when
 * the next bytes arrive.  If the connection has no other stream, none may
 * arrive, and the server would send until its window is full; so that
 * connection is closed.
 */
static void release_handle(allm_exchange *x)
{
    if (!x->easy)
        return;
    x->head.view.reused = was_reused(x);
    if (!x->done)
        curl_easy_setopt(x->easy, CURLOPT_FORBID_REUSE, 1L);
    curl_multi_remove_handle(x->env->multi, x->easy);
    if (!park_handle(x))
        curl_easy_cleanup(x->easy);
    x->easy = NULL;
    if (!x->done)
        x->env->running--;
    x->done = true;
}

static void drop_request(allm_exchange *x)
{
    arena_release(&x->texts);
    arena_init(&x->texts, secret_mem(&x->wiped));
    x->headers = NULL;
}

static void free_exchange(allm_exchange *x)
{
    struct mem mem = x->env->mem;
    release_handle(x);
    drop_request(x);
    queue_clear(&x->queue, &x->env->blocks);
    arena_release(&x->texts);
    arena_release(&x->memory);
    upload_release(&x->upload, mem);
    mem_free(mem, x, sizeof *x);
}

static allm_exchange *make_exchange(struct exchange_env *env,
                                    const allm_http_view *view,
                                    allm_waker *waker)
{
    allm_exchange *x = mem_alloc(env->mem, sizeof *x);
    if (!x)
        return NULL;
    *x = (allm_exchange){
        .env = env,
        .waker = waker,
        .socket = CURL_SOCKET_BAD,
        .done = true,           /* until libcurl runs it */
        .wiped = env->mem,
        .head.view.size = sizeof x->head.view,
    };
    upload_init(&x->upload, transport_body(view));
    arena_init(&x->texts, secret_mem(&x->wiped));
    arena_init(&x->memory, env->mem);
    x->host = failure_host(&x->memory, view->url);
    return x;
}

/* A handle with all options that no request changes.  False: no memory.  A
 * proxy that is reached with TLS before any server is may use the bundle. */
static bool take_handle(allm_exchange *x, const char *url)
{
    struct exchange_env *env = x->env;
    if (!nocase_starts(slice_of(url), "http://") && trust_read_dir(&env->trust))
        free_handles(env);              /* they know the bundle */
    x->dir = env->trust.dir;
    if (x->upload.posted && env->idle_count) {
        x->easy = env->idle[--env->idle_count];
        return true;
    }
    x->easy = curl_easy_init();
    return x->easy && set_callbacks(x) && set_connection(x) && set_trust(x);
}

/* False: no memory. */
static bool start_transfer(allm_exchange *x, const allm_http_view *view)
{
    bool post = !view->method || !strcmp(view->method, "POST");
    if (!request_headers_list(&x->texts, view, &x->headers) ||
        (post && !upload_post(&x->upload, x->env->mem)) ||
        !take_handle(x, view->url) || !set_owner(x) || !set_request(x, view))
        return false;
    if (curl_multi_add_handle(x->env->multi, x->easy) != CURLM_OK)
        return false;
    x->done = false;
    x->env->running++;
    return true;
}

allm_exchange *exchange_open(struct exchange_env *env,
                             const allm_http_view *view, allm_waker *waker,
                             struct arena *why, const allm_error **error)
{
    *error = request_headers_check(view, why);
    if (*error)
        return NULL;
    allm_exchange *x = make_exchange(env, view, waker);
    if (x && start_transfer(x, view)) {
        add_to_all(x);
        return x;
    }
    if (x)
        free_exchange(x);
    *error = status_nomem();
    return NULL;
}

curl_socket_t exchange_leave(allm_exchange *x)
{
    x->leaving = true;
    x->hungry = false;          /* the caller closes it */
    bool near = x->easy && !x->done && x->head.done && !x->shared && !x->paused;
    return near ? x->socket : CURL_SOCKET_BAD;
}

void exchange_close(allm_exchange *x)
{
    if (!x)
        return;
    remove_from_all(x);
    free_exchange(x);
}

bool exchange_failed(const allm_exchange *x)
{
    bool good = x->code == CURLE_OK && x->head.view.status / 100 == 2;
    return x->nomem || (x->done && !good);
}

static void end_exchange(allm_exchange *x, CURLcode code)
{
    x->code = code;
    if (x->easy)
        curl_easy_getinfo(x->easy, CURLINFO_HTTP_CONNECTCODE, &x->proxy_status);
    x->env->running--;
    x->env->pieces++;
    x->done = true;
    release_handle(x);
    x->hungry |= exchange_failed(x) && !x->leaving;     /* report it at once */
    ring_reader(x);
}

/*
 * The system's CA directory does not vouch for the server: connect again, and
 * let the bundle do so.  Nothing was sent.  False: that is not why it failed,
 * or there is no bundle.
 */
static bool try_bundle(allm_exchange *x, CURLcode code)
{
    struct exchange_env *env = x->env;
    /* OpenSSL reports a file in the directory that it cannot parse as a failed
     * handshake. */
    if ((code != CURLE_PEER_FAILED_VERIFICATION &&
         code != CURLE_SSL_CONNECT_ERROR) ||
        !x->dir || x->connected || x->leaving)
        return false;
    if (trust_fall_back(&env->trust))
        free_handles(env);              /* they know the directory */
    if (env->trust.dir)
        return false;                   /* it is not the system's */
    x->dir = NULL;
    x->said[0] = '\0';
    upload_rewind(&x->upload);
    curl_multi_remove_handle(env->multi, x->easy);
    return set_trust(x) &&
           curl_multi_add_handle(env->multi, x->easy) == CURLM_OK;
}

/* The exchange of a handle; or NULL. */
static allm_exchange *exchange_of(CURL *easy)
{
    char *mine = NULL;
    if (easy)
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &mine);
    return (allm_exchange *)(void *)mine;
}

void exchange_done(CURL *easy, CURLcode code)
{
    allm_exchange *x = exchange_of(easy);
    if (x && !try_bundle(x, code))
        end_exchange(x, code);
}

void exchange_goes_over(CURL *easy, curl_socket_t socket)
{
    allm_exchange *x = exchange_of(easy);
    if (x)
        x->socket = socket;
}

void exchange_fail_all(struct exchange_env *env)
{
    for (allm_exchange *x = env->all; x; x = x->next) {
        if (x->done)
            continue;
        x->nomem = true;
        ring_reader(x);
    }
}

/* ------------------------------------------------------------- reading --- */

/* The reader sees the answer now, and the request is dropped; but for a part of
 * the body that is still to be sent.  False: no memory. */
static bool begin_answer(allm_exchange *x)
{
    if (x->begun)
        return true;
    x->begun = true;
    if (x->easy) {
        x->head.view.reused = was_reused(x);
        curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, NULL);
    }
    if (!upload_detach(&x->upload, x->env->mem, x->easy))   /* keeps (3) */
        return false;
    drop_request(x);            /* keeps (4) */
    return true;
}

static void resume_transfer(allm_exchange *x)
{
    if (!x->paused || !x->easy || x->queue.bytes >= EXCHANGE_RESUME)
        return;
    x->paused = false;
    CURLcode code = curl_easy_pause(x->easy, CURLPAUSE_CONT);
    if (code != CURLE_OK)
        end_exchange(x, code);
}

/* libcurl also reports "out of memory" if a header is longer than its limit
 * (100 KB), or if it must keep more than 64 MiB for a paused reader, which only
 * inflated bytes can reach. */
static bool is_limit_of_curl(const allm_exchange *x)
{
    enum { TOO_LARGE = 100 };   /* its own code, since 8.6 */
    if (x->code != CURLE_OUT_OF_MEMORY && x->code != (CURLcode)TOO_LARGE)
        return false;
    return x->paused || (x->connected && !x->head.done);
}

static const allm_error *why_failed(allm_exchange *x)
{
    if (x->nomem)
        return status_nomem();
    if (x->head.over || (is_limit_of_curl(x) && !x->head.done))
        return failure_of(&x->memory, CURLE_WEIRD_SERVER_REPLY, x->host,
                          "its headers are longer than 64 KiB");
    if (is_limit_of_curl(x))
        return failure_of(&x->memory, CURLE_BAD_CONTENT_ENCODING, x->host,
                          "it inflates to more than 64 MiB at once");
    if (x->unread)
        return failure_refuse(&x->memory, "unknown",
                              "the answer was not read while %d MiB of it "
                              "came; read it sooner, or use HTTP/1.1, where "
                              "the server can be made to wait",
                              EXCHANGE_HOARD >> 20);
    if (x->not_public && !x->connected)
        return failure_refuse(&x->memory, "invalid_request",
                              "%s has an address of this machine or of a "
                              "private network, which is not accessed",
                              x->host);
    if (x->proxy_status >= 300 && x->code != CURLE_OUT_OF_MEMORY)
        return failure_proxy(&x->memory, x->proxy_status, x->host);
    return failure_of(&x->memory, x->code, x->host, x->said);
}

static allm_status fail_read(allm_exchange *x, allm_chunk *chunk)
{
    chunk->error = why_failed(x);
    return chunk->error->kind;
}

allm_status exchange_read(allm_exchange *x, allm_chunk *chunk)
{
    queue_return(&x->queue, &x->env->blocks);
    resume_transfer(x);
    if (x->nomem)
        return fail_read(x, chunk);
    struct slice next = queue_lend(&x->queue);
    if (next.len || (x->done && x->code == CURLE_OK)) {
        chunk->bytes = next.ptr;
        chunk->len = next.len;
        if (!begin_answer(x)) {
            x->nomem = true;
            return fail_read(x, chunk);
        }
        return next.len ? ALLM_EVENT : ALLM_OK;
    }
    if (x->done)
        return fail_read(x, chunk);
    x->hungry = true;
    chunk->again_ns = INT64_MAX;
    return ALLM_AGAIN;
}

bool exchange_ready(const allm_exchange *x)
{
    return x->connected || x->done;
}

const allm_http_head *exchange_head(const allm_exchange *x)
{
    return &x->head.view;
}
