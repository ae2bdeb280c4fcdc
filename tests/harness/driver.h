/* driver.h - drive an HTTP client as a hub does: wait, and call it */
#pragma once

#include "harness/server.h"
#include "loop/waker.h"
#include "net/client.h"

enum { DRIVER_BODY = 1 << 20 };

struct driver {
    struct server *server;
    struct poll poll;
    struct poll_handler bell;       /* for the server's news */
    struct client *client;          /* NULL: out of memory */
    char url[64];                   /* of the server, without a slash */
};

/* One answer, read to its end. */
struct answer {
    allm_exchange *exchange;
    struct allm_waker waker;
    allm_status status;             /* AGAIN until it has ended */
    char reason[64], message[1024]; /* of its error; else "" */
    bool final;                     /* a retry does not help */
    size_t len;                     /* bytes of the body; only the first */
    char body[DRIVER_BODY];         /* DRIVER_BODY are kept */
    int http;                       /* status; 0: none yet */
    bool reused;
};

/* A server and a client.  False: not available, and the test is skipped. */
bool driver_init(struct driver *d, const struct client_opts *opts);
void driver_release(struct driver *d);

/* Wait once for events, and dispatch them. */
void driver_turn(struct driver *d);

/* Repeat until the condition holds.  Gives up after ten seconds (a failed
 * check), or when an allocation was made to fail. */
#define DRIVER_UNTIL(d, cond)                                             \
    do {                                                                  \
        int turns_ = 0;                                                   \
        bool so_ = false;                                                 \
        while (!(so_ = (cond)) && turns_++ < 1000 && check_whole())       \
            driver_turn(d);                                               \
        CHECK_WHY(so_, #cond);                                            \
    } while (0)

/* POST a body to a path ("/x"), or to a complete URL. */
struct answer *driver_post(struct driver *d, const char *path,
                           const char *body);
struct answer *driver_open(struct driver *d, const allm_http_view *view);

/* Read what is available; true when the answer has ended. */
bool driver_read(struct driver *d, struct answer *a);

/* Read to the end. */
void driver_finish(struct driver *d, struct answer *a);

/* A header of the answer, while the exchange is open; or NULL. */
const char *driver_header(struct driver *d, struct answer *a, const char *name);

/* Close the exchange and free the answer. */
void driver_close(struct driver *d, struct answer *a);
