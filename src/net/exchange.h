/* exchange.h - one request and its response, as a transfer of libcurl */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "net/blocks.h"
#include "net/trust.h"
#include "net/url.h"

#include <curl/curl.h>
#include <stdint.h>

enum {
    EXCHANGE_BUFFER = 64 * 1024,    /* received bytes that wait to be read */
    EXCHANGE_RESUME = 16 * 1024,    /* a paused transfer resumes below it */
    EXCHANGE_HOARD = 32 << 20,      /* on HTTP/2, instead of both */
    EXCHANGE_IDLE = 8               /* handles kept for the next exchanges */
};

/* Shared by all exchanges of a client. */
struct exchange_env {
    struct mem mem;
    CURLM *multi;
    CURLSH *share;              /* TLS sessions; NULL: none are resumed */
    CURL *idle[EXCHANGE_IDLE];  /* set up, but for a request */
    size_t idle_count;
    struct parsed_url address;  /* of the exchanges, if they have the same */
    curl_sockopt_callback on_open;          /* called with on_ud for each */
    curl_closesocket_callback on_close;     /* socket of a connection */
    void *on_ud;
    struct blocks blocks;
    struct allm_exchange *all;  /* not yet closed */
    size_t running;             /* exchanges that libcurl still runs */
    size_t pieces;              /* how often libcurl delivered something */
    bool saw_http1;             /* a response over HTTP/1 has begun */
    struct trust trust;
    const char *proxy;          /* NULL: as the environment says */
    const char *user_agent;
    long idle_s;                /* < 0: connections are not reused */
    bool http2;
    bool public_only;           /* no socket to another address */
};

/* The functions of a transport.  If it cannot be opened, the error is made in
 * `why`. */
allm_exchange *exchange_open(struct exchange_env *env,
                             const allm_http_view *view, allm_waker *waker,
                             struct arena *why, const allm_error **error);
allm_status exchange_read(allm_exchange *x, allm_chunk *chunk);
bool exchange_ready(const allm_exchange *x);
bool exchange_failed(const allm_exchange *x);
const allm_http_head *exchange_head(const allm_exchange *x);
void exchange_close(allm_exchange *x);

/*
 * Call this before exchange_close() when the rest of the body is not needed.
 * The end of the response may have arrived after the last byte that the reader
 * needed.  If the caller lets libcurl read the returned socket now, and it
 * finds the end, the connection can be reused.  CURL_SOCKET_BAD: nothing to
 * read.
 */
curl_socket_t exchange_leave(allm_exchange *x);

/* Free what is kept for the next exchanges.  No exchange is open. */
void exchange_env_release(struct exchange_env *env);

/* libcurl uses this socket for a transfer. */
void exchange_goes_over(CURL *easy, curl_socket_t socket);

/* libcurl is done with this transfer. */
void exchange_done(CURL *easy, CURLcode code);

/* The client cannot watch a socket: all exchanges fail. */
void exchange_fail_all(struct exchange_env *env);
