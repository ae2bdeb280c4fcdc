/*
 * tunnel.h - a proxy that leads one connection to a port of this machine
 *
 * It answers CONNECT with a head of its own, and passes bytes on from then.
 * It runs in a thread, until either side hangs up.
 */
#ifndef HARNESS_TUNNEL_H
#define HARNESS_TUNNEL_H

#include <pthread.h>
#include <stdbool.h>

struct tunnel {
    pthread_t thread;
    int listening;
    int port;                   /* where it leads; set before it is used */
    char url[64];               /* http://127.0.0.1:PORT */
    char asked[1024];           /* what it was told; after tunnel_release() */
};

/* False: no sockets here, and the test is skipped. */
bool tunnel_init(struct tunnel *t);

/* Only after whoever used it has hung up, if anybody did. */
void tunnel_release(struct tunnel *t);

#endif
