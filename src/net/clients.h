/* clients.h - the HTTP clients of one set of descriptors */
#pragma once

#include "base/arena.h"
#include "net/client.h"

/*
 * One client for each set of options.  Users with other options do not share
 * connections: one may refuse the address, the certificate or the proxy that
 * another accepts.
 */
struct clients {
    struct poll *poll;
    struct arena arena;
    struct one_client *first;   /* NULL until one is needed */
};

/* The set must outlive it. */
void clients_init(struct clients *c, struct mem mem, struct poll *poll);
/* All exchanges must have been closed. */
void clients_release(struct clients *c);

/* That of the client with these options, whose `system` is ignored.  NULL: no
 * memory, or libcurl cannot be used. */
const allm_transport *clients_transport(struct clients *c,
                                        const struct client_opts *opts);

/* As the functions of one client: the earliest time, all of them, the sum. */
int64_t clients_due(const struct clients *c);
void clients_timeout(const struct clients *c);
size_t clients_open(const struct clients *c);
