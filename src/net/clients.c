/* clients.c - the HTTP clients of one set of descriptors */
#include "net/clients.h"

#include <string.h>

struct one_client {
    struct one_client *next;
    struct client_opts opts;
    struct client *client;
};

void clients_init(struct clients *c, struct mem mem, struct poll *poll)
{
    *c = (struct clients){ .poll = poll };
    arena_init(&c->arena, mem);
}

void clients_release(struct clients *c)
{
    for (const struct one_client *one = c->first; one; one = one->next)
        client_free(one->client);
    arena_release(&c->arena);
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_opts(const struct client_opts *a, const struct client_opts *b)
{
    return a->max_idle_ms == b->max_idle_ms &&
           a->max_connections == b->max_connections && a->http2 == b->http2 &&
           a->public_only == b->public_only &&
           same_name(a->ca_file, b->ca_file) && same_name(a->proxy, b->proxy) &&
           same_name(a->user_agent, b->user_agent);
}

static struct one_client *add_client(struct clients *c,
                                     const struct client_opts *opts)
{
    struct arena *a = &c->arena;
    a->broken = false;          /* an earlier try may have failed */
    struct one_client *one = arena_zero(a, sizeof *one);
    if (!one)
        return NULL;
    one->opts = *opts;
    one->opts.ca_file = arena_text(a, opts->ca_file);
    one->opts.proxy = arena_text(a, opts->proxy);
    one->opts.user_agent = arena_text(a, opts->user_agent);
    one->client = a->broken ? NULL : client_new(a->mem, c->poll, &one->opts);
    if (!one->client)
        return NULL;
    one->next = c->first;
    return c->first = one;
}

const allm_transport *clients_transport(struct clients *c,
                                        const struct client_opts *opts)
{
    struct one_client *one = c->first;
    while (one && !same_opts(&one->opts, opts))
        one = one->next;
    if (!one)
        one = add_client(c, opts);
    return one ? client_transport(one->client) : NULL;
}

int64_t clients_due(const struct clients *c)
{
    int64_t due = INT64_MAX;
    for (const struct one_client *one = c->first; one; one = one->next) {
        int64_t its = client_due(one->client);
        due = its < due ? its : due;
    }
    return due;
}

void clients_timeout(const struct clients *c)
{
    for (const struct one_client *one = c->first; one; one = one->next)
        client_timeout(one->client);
}

size_t clients_open(const struct clients *c)
{
    size_t open = 0;
    for (const struct one_client *one = c->first; one; one = one->next)
        open += client_open(one->client);
    return open;
}
