/* exchange.h - one request and its answer, as a transfer of libcurl */
#ifndef NET_EXCHANGE_H
#define NET_EXCHANGE_H

#include "allm.h"
#include "base/arena.h"
#include "net/blocks.h"
#include "net/trust.h"

#include <curl/curl.h>
#include <stdint.h>

enum {
    EXCHANGE_BUFFER = 64 * 1024,    /* bytes of a body that wait to be read */
    EXCHANGE_RESUME = 16 * 1024,    /* below this a paused one goes on */
    EXCHANGE_HOARD = 32 << 20,      /* in place of both on HTTP/2 */
    EXCHANGE_HEAD = 64 * 1024,      /* bytes of an answer's headers */
    EXCHANGE_IDLE = 8               /* handles kept for the next exchanges */
};

/* What all exchanges of a client share. */
struct exchange_env {
    struct mem mem;
    CURLM *multi;
    CURLSH *share;              /* TLS sessions; NULL: none are resumed */
    CURL *idle[EXCHANGE_IDLE];  /* set up, but for a request */
    size_t idle_count;
    curl_sockopt_callback on_open;          /* called with on_ud for each */
    curl_closesocket_callback on_close;     /* socket of a connection */
    void *on_ud;
    struct blocks blocks;
    struct allm_exchange *all;  /* not yet closed */
    size_t running;             /* libcurl still works on them */
    size_t pieces;              /* that libcurl has handed over, ever */
    bool saw_http1;             /* an answer over it has begun */
    struct trust trust;
    const char *proxy;          /* NULL: the environment's */
    const char *user_agent;
    long idle_s;                /* < 0: connections are not used again */
    bool http2;
};

/* The functions of a transport; the error of a refused one is made in `why`. */
allm_exchange *exchange_open(struct exchange_env *env,
                             const allm_http_view *view, allm_waker *waker,
                             struct arena *why, const allm_error **error);
allm_status exchange_read(allm_exchange *x, allm_chunk *chunk);
bool exchange_ready(const allm_exchange *x);
bool exchange_failed(const allm_exchange *x);
const allm_http_head *exchange_head(const allm_exchange *x);
void exchange_close(allm_exchange *x);

/*
 * Before it is closed: nothing more of its body is wanted.  The end of an
 * answer may have come behind the last byte that the reader needed; if libcurl
 * looks at this socket now and sees it, the connection can be used again.
 * CURL_SOCKET_BAD: there is nothing to look at.
 */
curl_socket_t exchange_leave(allm_exchange *x);

/* Free the handles that are kept.  No exchange is open. */
void exchange_env_release(struct exchange_env *env);

/* libcurl uses this socket for a transfer. */
void exchange_goes_over(CURL *easy, curl_socket_t socket);

/* libcurl is done with this transfer. */
void exchange_done(CURL *easy, CURLcode code);

/* The client cannot watch a socket: none of them can go on. */
void exchange_fail_all(struct exchange_env *env);

#endif
