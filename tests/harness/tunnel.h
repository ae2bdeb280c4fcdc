/*
 * tunnel.h - a proxy that tunnels one connection to a port of this machine
 *
 * It answers CONNECT with its own head, then forwards bytes.  It runs in a
 * thread until either side closes.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct tunnel {
    pthread_t thread;
    int listening;
    int port;                   /* the target; set it before use */
    char url[64];               /* http://127.0.0.1:PORT */
    char asked[1024];           /* the request; after tunnel_release() */
};

/* False: no sockets, and the test is skipped. */
bool tunnel_init(struct tunnel *t);

/* Call it only after the client has closed its connection. */
void tunnel_release(struct tunnel *t);
