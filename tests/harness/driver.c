/* driver.c - drive an HTTP client as a hub does: wait, and call it */
#include "harness/driver.h"

#include "base/clock.h"
#include "harness/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { TURN_NS = 10 * 1000 * 1000, TURNS = 5000 };

static void hear_news(struct poll_handler *self, unsigned what)
{
    struct driver *d =
        (struct driver *)(void *)((char *)self - offsetof(struct driver, bell));
    (void)what;
    wake_clear(server_news(d->server));
}

/* The tests ignore the proxies of the machine. */
static void forget_proxies(void)
{
    static const char *const names[] = { "http_proxy", "https_proxy",
                                         "HTTPS_PROXY", "all_proxy",
                                         "ALL_PROXY", "no_proxy", "NO_PROXY" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

bool driver_init(struct driver *d, const struct client_opts *opts)
{
    *d = (struct driver){ .bell = { hear_news } };
    forget_proxies();
    d->server = server_new();
    if (!d->server || poll_init(&d->poll)) {
        check_skip("sockets are not available");
        server_free(d->server);
        return false;
    }
    poll_add(&d->poll, wake_fd(server_news(d->server)), POLL_READ, &d->bell);
    d->client = client_new(mem_default(), &d->poll, opts);
    CHECK(d->client != NULL);
    snprintf(d->url, sizeof d->url, "http://127.0.0.1:%d",
             server_port(d->server));
    return true;
}

void driver_release(struct driver *d)
{
    CHECK_ALWAYS(client_open(d->client) == 0);
    client_free(d->client);
    poll_release(&d->poll);
    server_free(d->server);
}

void driver_turn(struct driver *d)
{
    struct poll_ready ready;
    int64_t wait = TURN_NS;
    if (client_due(d->client) != INT64_MAX) {
        int64_t left = client_due(d->client) - clock_now_ns(clock_real());
        wait = left < 0 ? 0 : left < wait ? left : wait;
    }
    poll_wait(&d->poll, wait);
    while (poll_next(&d->poll, &ready)) {
        struct poll_handler *h = ready.tag;
        h->ready(h, ready.what);
    }
    client_timeout(d->client);
}

static void note(struct answer *a, const allm_error *error)
{
    if (!error)
        return;
    a->status = error->kind;
    a->final = allm_json_true(allm_json_get(error->metadata, "final"));
    snprintf(a->reason, sizeof a->reason, "%s", error->reason);
    snprintf(a->message, sizeof a->message, "%s", error->message);
}

struct answer *driver_open(struct driver *d, const allm_http_view *view)
{
    const allm_error *error = NULL;
    struct answer *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    waker_init(&a->waker);
    a->status = ALLM_AGAIN;
    const allm_transport *t = d->client ? client_transport(d->client) : NULL;
    if (t)
        a->exchange = t->open(t->self, view, &a->waker, &error);
    else
        a->status = ALLM_ERR_NOMEM;
    CHECK_ALWAYS(a->exchange || error || !t);
    note(a, error);
    return a;
}

struct answer *driver_post(struct driver *d, const char *path, const char *body)
{
    char url[256];
    snprintf(url, sizeof url, "%s%s", *path == '/' ? d->url : "", path);
    static const char *const header[] = { "Content-Type", "application/json",
                                          "X-Empty", "" };
    allm_http_view view = { .size = sizeof view,
                            .method = "POST",
                            .url = url,
                            .header_count = 2,
                            .header = header,
                            .body = body,
                            .body_len = strlen(body) };
    return driver_open(d, &view);
}

static void keep(struct answer *a, const allm_chunk *chunk)
{
    for (size_t i = 0; i < chunk->len; i++, a->len++)
        if (a->len < sizeof a->body - 1)
            a->body[a->len] = chunk->bytes[i];
}

bool driver_read(struct driver *d, struct answer *a)
{
    const allm_transport *t = d->client ? client_transport(d->client) : NULL;
    if (!a->exchange)
        return true;
    for (;;) {
        allm_chunk chunk = { .size = sizeof chunk };
        allm_status status = t->read(t->self, a->exchange, &chunk);
        if (status == ALLM_AGAIN) {
            CHECK_ALWAYS(chunk.again_ns == INT64_MAX);
            return false;
        }
        a->status = status;
        if (status >= 0) {
            const allm_http_head *head = t->head(t->self, a->exchange);
            a->http = head->status;
            a->reused = head->reused;
        }
        if (status != ALLM_EVENT) {
            note(a, chunk.error);
            return true;
        }
        keep(a, &chunk);
        a->status = ALLM_AGAIN;
    }
}

/* It must end even when out of memory; nothing may hang. */
void driver_finish(struct driver *d, struct answer *a)
{
    int turns = 0;
    while (!driver_read(d, a) && turns++ < TURNS)
        driver_turn(d);
    CHECK_ALWAYS(turns < TURNS);
}

const char *driver_header(struct driver *d, struct answer *a, const char *name)
{
    const allm_transport *t = client_transport(d->client);
    const allm_http_head *head = t->head(t->self, a->exchange);
    for (size_t i = 0; i < head->header_count; i++)
        if (!strcmp(head->header[2 * i], name))
            return head->header[2 * i + 1];
    return NULL;
}

void driver_close(struct driver *d, struct answer *a)
{
    if (!a)
        return;
    const allm_transport *t = d->client ? client_transport(d->client) : NULL;
    if (a->exchange)
        t->close(t->self, a->exchange);
    waker_release(&a->waker);
    free(a);
}
