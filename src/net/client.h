/* client.h - the HTTP client: many exchanges at once, with libcurl */
#pragma once

#include "allm.h"
#include "base/mem.h"
#include "loop/poll.h"

/*
 * A client belongs to one set of descriptors and is used by one thread at a
 * time.  It never waits: its descriptors are in the set, with a struct
 * poll_handler as the tag, and it works when their ready() or client_timeout()
 * is called.
 */
struct client;
struct trust_system;

struct client_opts {                /* copied; zero is the default         */
    const char *ca_file;            /* NULL: SSL_CERT_FILE, else the system's */
    const char *proxy;              /* NULL: the environment's; "": none   */
    int64_t max_idle_ms;            /* 0: CLIENT_IDLE_MS; < 0: no reuse    */
    uint32_t max_connections;       /* kept; 0: CLIENT_CONNECTIONS         */
    const char *user_agent;         /* NULL: "liballm/VERSION"             */
    bool http2;                     /* where the server offers it          */
    bool public_only;               /* sockets only to public addresses;
                                       a proxy counts, not what is behind  */
    const struct trust_system *system;  /* NULL: trust_system(); for tests */
};

enum { CLIENT_IDLE_MS = 50000 };    /* rounded up to seconds               */
enum { CLIENT_CONNECTIONS = 512 };  /* libcurl's own: 4 times those in use */

/* NULL: no memory, or libcurl cannot be used.  The set must outlive it. */
struct client *client_new(struct mem mem, struct poll *poll,
                          const struct client_opts *opts);

/* All its exchanges must have been closed. */
void client_free(struct client *c);

/* Borrowed from the client.  When read() returns ALLM_AGAIN, the waker is rung
 * later. */
const allm_transport *client_transport(const struct client *c);

/* The next three functions accept NULL. */

/*
 * When to call client_timeout(): a time of clock_real(), or INT64_MAX for
 * never.  Each call of the transport or of ready() may change it.
 */
int64_t client_due(const struct client *c);

/* Does nothing before client_due(). */
void client_timeout(struct client *c);

/* The number of exchanges that libcurl still runs. */
size_t client_open(const struct client *c);
