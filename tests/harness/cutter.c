/* cutter.c - a proxy in front of a PostgreSQL server that cuts connections */
#include "harness/cutter.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_PAIRS = 8, CHUNK = 65536 };

#define SOCKET "/.s.PGSQL.5432"

struct pair {
    int fd[2];                      /* the client and the server; -1: free */
};

struct cutter {
    char folder[64], uri[200], server[108], mine[108];
    int listener, stop[2];
    pthread_t thread;
    struct pair pairs[MOST_PAIRS];
    char bytes[CHUNK];
    pthread_mutex_t lock;
    /* Under the lock. */
    enum cutter_side side;
    long left, count[2];
    bool has_cut;
};

/* ------------------------------------------------------------ sockets --- */

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    return at;
}

static int open_listener(const char *path)
{
    struct sockaddr_un at = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&at, sizeof at) ||
                    listen(fd, MOST_PAIRS))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void close_pair(struct pair *p)
{
    close(p->fd[0]);
    close(p->fd[1]);
    p->fd[0] = p->fd[1] = -1;
}

static void accept_pair(struct cutter *c)
{
    struct sockaddr_un at = address_of(c->server);
    struct pair p = { { accept(c->listener, NULL, NULL),
                        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) } };
    bool ok = p.fd[0] >= 0 && p.fd[1] >= 0 &&
              !connect(p.fd[1], (struct sockaddr *)&at, sizeof at);
    for (size_t i = 0; ok && i < MOST_PAIRS; i++)
        if (c->pairs[i].fd[0] < 0) {
            c->pairs[i] = p;
            return;
        }
    close_pair(&p);
}

/* ------------------------------------------------------------ passing --- */

/* How many of these bytes pass; *cut: the connection ends behind them. */
static size_t count_bytes(struct cutter *c, int side, size_t n, bool *cut)
{
    pthread_mutex_lock(&c->lock);
    if (c->left >= 0 && side == (int)c->side) {
        *cut = (long)n >= c->left;
        if (*cut)
            n = (size_t)c->left;
        c->left = *cut ? -1 : c->left - (long)n;
        c->has_cut = c->has_cut || *cut;
    }
    c->count[side] += (long)n;
    pthread_mutex_unlock(&c->lock);
    return n;
}

static void pass_bytes(struct cutter *c, struct pair *p, int side)
{
    bool cut = false;
    ssize_t n = recv(p->fd[side], c->bytes, sizeof c->bytes, 0);
    if (n <= 0) {
        close_pair(p);
        return;
    }
    size_t pass = count_bytes(c, side, (size_t)n, &cut);
    for (size_t done = 0; done < pass;) {
        ssize_t sent = send(p->fd[1 - side], c->bytes + done, pass - done,
                            MSG_NOSIGNAL);
        if (sent <= 0) {
            cut = true;
            break;
        }
        done += (size_t)sent;
    }
    if (cut)
        close_pair(p);
}

static void *run_cutter(void *arg)
{
    struct cutter *c = arg;
    struct pollfd fds[2 + 2 * MOST_PAIRS];
    for (;;) {
        fds[0] = (struct pollfd){ c->stop[0], POLLIN, 0 };
        fds[1] = (struct pollfd){ c->listener, POLLIN, 0 };
        for (size_t i = 0; i < 2 * MOST_PAIRS; i++)
            fds[2 + i] = (struct pollfd){ c->pairs[i / 2].fd[i % 2], POLLIN,
                                          0 };
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0 || fds[0].revents)
            return NULL;
        for (size_t i = 0; i < 2 * MOST_PAIRS; i++)
            if (fds[2 + i].revents && c->pairs[i / 2].fd[0] >= 0)
                pass_bytes(c, &c->pairs[i / 2], (int)(i % 2));
        if (fds[1].revents)
            accept_pair(c);
    }
}

/* --------------------------------------------------------------- life --- */

static bool start_cutter(struct cutter *c, const char *uri)
{
    const char *host = strstr(uri, "host=");
    snprintf(c->folder, sizeof c->folder, "/tmp/allm-cut-XXXXXX");
    if (!host || !mkdtemp(c->folder))
        return false;
    host += strlen("host=");
    snprintf(c->server, sizeof c->server, "%s" SOCKET, host);
    snprintf(c->mine, sizeof c->mine, "%s" SOCKET, c->folder);
    snprintf(c->uri, sizeof c->uri, "%.*s%s", (int)(host - uri), uri,
             c->folder);
    c->listener = open_listener(c->mine);
    return c->listener >= 0 && !pipe(c->stop) &&
           !pthread_create(&c->thread, NULL, run_cutter, c);
}

struct cutter *cutter_new(const char *uri)
{
    struct cutter *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->left = -1;
    for (size_t i = 0; i < MOST_PAIRS; i++)
        c->pairs[i] = (struct pair){ { -1, -1 } };
    pthread_mutex_init(&c->lock, NULL);
    if (start_cutter(c, uri))
        return c;
    free(c);
    return NULL;
}

void cutter_free(struct cutter *c)
{
    if (!c)
        return;
    close(c->stop[1]);
    pthread_join(c->thread, NULL);
    for (size_t i = 0; i < MOST_PAIRS; i++)
        if (c->pairs[i].fd[0] >= 0)
            close_pair(&c->pairs[i]);
    close(c->stop[0]);
    close(c->listener);
    unlink(c->mine);
    rmdir(c->folder);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

const char *cutter_uri(const struct cutter *c)
{
    return c->uri;
}

void cutter_arm(struct cutter *c, enum cutter_side side, long bytes)
{
    pthread_mutex_lock(&c->lock);
    c->side = side;
    c->left = bytes;
    c->count[0] = c->count[1] = 0;
    c->has_cut = false;
    pthread_mutex_unlock(&c->lock);
}

bool cutter_has_cut(struct cutter *c)
{
    pthread_mutex_lock(&c->lock);
    bool has = c->has_cut;
    pthread_mutex_unlock(&c->lock);
    return has;
}

long cutter_count(struct cutter *c, enum cutter_side side)
{
    pthread_mutex_lock(&c->lock);
    long n = c->count[side];
    pthread_mutex_unlock(&c->lock);
    return n;
}
