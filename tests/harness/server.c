/* server.c - a scripted HTTP/1.1 server on this machine */
#include "harness/server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 128, SCRIPTS = 64, REQUESTS = 256, SEND_BUFFER = 65536 };

struct connection {
    int fd;
    char *in;                   /* bytes of requests not yet answered */
    size_t in_len;
    const struct server_step *step; /* NULL: waits for a request */
    size_t done;                /* bytes of the step that were sent */
    bool counted;               /* in seen.paused */
    size_t number;              /* of the request */
    size_t missing;             /* bytes of its body */
};

struct server {
    int fd, port;
    pthread_t thread;
    pthread_mutex_t lock;       /* protects all that follows */
    struct wake orders, news;
    bool stop;
    struct connection at[CONNECTIONS];
    size_t count;
    const struct server_step *scripts[SCRIPTS];
    size_t script_next, script_count;
    const struct server_step *always;
    struct {
        const char *part;       /* NULL: used */
        const struct server_step *steps;
    } rules[SCRIPTS];
    size_t rule_count;
    size_t permits;
    bool hurry;
    char *requests[REQUESTS];
    struct server_seen seen;
};

/* The length of the first head in the bytes (0: it is not complete), and of its
 * body. */
static size_t head_length(const char *in, size_t len, size_t *body)
{
    *body = 0;
    for (size_t i = 0; i + 3 < len; i++) {
        if (in[i] == '\n' && len - i > 16 &&
            !strncasecmp(in + i + 1, "content-length:", 15))
            *body = strtoul(in + i + 16, NULL, 10);
        if (!memcmp(in + i, "\r\n\r\n", 4))
            return i + 4;
    }
    return 0;
}

/* Move received bytes to the text of the request. */
static void keep(struct server *s, struct connection *c, size_t n)
{
    char **text = &s->requests[c->number % REQUESTS];
    size_t len = *text ? strlen(*text) : 0;
    char *longer = realloc(*text, len + n + 1);
    if (longer) {
        memcpy(longer + len, c->in, n);
        longer[len + n] = '\0';
        *text = longer;
    }
    memmove(c->in, c->in + n, c->in_len - n);
    c->in_len -= n;
}

/* The steps of the first rule for this request; NULL: there is none. */
static const struct server_step *next_rule(struct server *s, const char *text)
{
    for (size_t i = 0; text && i < s->rule_count; i++)
        if (s->rules[i].part && strstr(text, s->rules[i].part)) {
            s->rules[i].part = NULL;
            return s->rules[i].steps;
        }
    return NULL;
}

static const struct server_step *next_script(struct server *s)
{
    static const struct server_step nothing[] = {
        SERVER_SAY("HTTP/1.1 500 no script\r\nContent-Length: 0\r\n\r\n"),
        SERVER_END,
    };
    if (s->script_next < s->script_count)
        return s->scripts[s->script_next++];
    return s->always ? s->always : nothing;
}

static void take_request(struct server *s, struct connection *c)
{
    size_t body, n = c->in_len ? head_length(c->in, c->in_len, &body) : 0;
    if (!n || c->step || (!s->hurry && n + body > c->in_len))
        return;
    c->number = s->seen.requests++;
    c->missing = s->hurry ? body : 0;
    keep(s, c, n + body - c->missing);
    c->step = next_rule(s, s->requests[c->number % REQUESTS]);
    if (!c->step)
        c->step = next_script(s);
    c->done = 0;
}

/* False: the peer has closed. */
static bool receive(struct connection *c)
{
    char bytes[16384];
    ssize_t n;
    while ((n = recv(c->fd, bytes, sizeof bytes, 0)) > 0) {
        char *more = realloc(c->in, c->in_len + (size_t)n);
        if (!more)
            return false;
        c->in = more;
        memcpy(c->in + c->in_len, bytes, (size_t)n);
        c->in_len += (size_t)n;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void count_paused(struct server *s, struct connection *c, bool paused)
{
    if (c->counted != paused)
        s->seen.paused += paused ? 1 : (size_t)-1;
    c->counted = paused;
}

static void hang_up(struct server *s, struct connection *c)
{
    count_paused(s, c, false);
    close(c->fd);
    free(c->in);
    s->seen.open--;
    *c = s->at[--s->count];
}

static void reset(const struct connection *c)
{
    struct linger now = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

/* Send what the system accepts.  1: the step is done; 0: later; -1: closed. */
static int send_step(struct server *s, struct connection *c)
{
    static const char filler[16384];
    while (c->done < c->step->len) {
        size_t left = c->step->len - c->done;
        bool flood = c->step->act == SERVER_ACT_FLOOD;
        if (flood && left > sizeof filler)
            left = sizeof filler;
        ssize_t n = send(c->fd, flood ? filler : c->step->bytes + c->done, left,
                         MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
        if (n < 0) {
            s->seen.stalls++;
            return 0;
        }
        c->done += (size_t)n;
        s->seen.sent += (size_t)n;
    }
    return 1;
}

/* Returns as send_step(). */
static int take_step(struct server *s, struct connection *c)
{
    switch (c->step->act) {
    case SERVER_ACT_SAY:
    case SERVER_ACT_FLOOD:
        return send_step(s, c);
    case SERVER_ACT_PAUSE:
        count_paused(s, c, true);
        if (!s->permits)
            return 0;
        s->permits--;
        count_paused(s, c, false);
        return 1;
    case SERVER_ACT_BODY:
        if (c->in_len < c->missing)
            return 0;
        keep(s, c, c->missing);
        c->missing = 0;
        return 1;
    case SERVER_ACT_BACK:
        c->step -= c->step->len;
        c->done = 0;
        return 1;
    case SERVER_ACT_RESET:
        reset(c);
        return -1;
    case SERVER_ACT_CLOSE:
        return -1;
    case SERVER_ACT_END:
        break;
    }
    c->step = NULL;
    take_request(s, c);
    return c->step ? 1 : 0;
}

/* False: the connection is over. */
static bool advance(struct server *s, struct connection *c)
{
    take_request(s, c);
    while (c->step) {
        const struct server_step *was = c->step;
        int done = take_step(s, c);
        if (done <= 0)
            return done == 0;
        if (c->step == was) {
            c->step++;
            c->done = 0;
        }
    }
    return true;
}

static void welcome(struct server *s)
{
    int fd, size = SEND_BUFFER;
    while (s->count < CONNECTIONS && (fd = accept(s->fd, NULL, NULL)) >= 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        s->at[s->count++] = (struct connection){ .fd = fd };
        s->seen.connections++;
        s->seen.open++;
    }
}

static bool wants_to_send(const struct connection *c)
{
    return c->step &&
           (c->step->act == SERVER_ACT_SAY || c->step->act == SERVER_ACT_FLOOD);
}

static nfds_t list(struct server *s, struct pollfd *fds)
{
    fds[0] = (struct pollfd){ .fd = wake_fd(&s->orders), .events = POLLIN };
    fds[1] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
    for (size_t i = 0; i < s->count; i++)
        fds[2 + i] = (struct pollfd){
            .fd = s->at[i].fd,
            .events = (short)(POLLIN |
                              (wants_to_send(&s->at[i]) ? POLLOUT : 0)),
        };
    return (nfds_t)(2 + s->count);
}

/* From the end, since a closed connection is replaced by the last one. */
static void work(struct server *s)
{
    welcome(s);
    for (size_t i = s->count; i-- > 0;)
        if (!receive(&s->at[i]) || !advance(s, &s->at[i]))
            hang_up(s, &s->at[i]);
}

static void *serve(void *ud)
{
    struct server *s = ud;
    struct pollfd fds[CONNECTIONS + 2];
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        nfds_t n = list(s, fds);
        pthread_mutex_unlock(&s->lock);
        poll(fds, n, -1);
        wake_clear(&s->orders);
        pthread_mutex_lock(&s->lock);
        work(s);
        wake_ring(&s->news);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static bool listen_at(struct server *s)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t len = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, sizeof at) ||
        listen(s->fd, 128) || getsockname(s->fd, (struct sockaddr *)&at, &len))
        return false;
    s->port = ntohs(at.sin_port);
    return true;
}

struct server *server_new(void)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    if (!wake_init(&s->orders) && !wake_init(&s->news) && listen_at(s) &&
        !pthread_create(&s->thread, NULL, serve, s))
        return s;
    fprintf(stderr, "the server of the tests cannot start\n");
    free(s);
    return NULL;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_mutex_unlock(&s->lock);
    wake_ring(&s->orders);
    pthread_join(s->thread, NULL);
    while (s->count)
        hang_up(s, &s->at[0]);
    for (size_t i = 0; i < REQUESTS; i++)
        free(s->requests[i]);
    close(s->fd);
    wake_release(&s->orders);
    wake_release(&s->news);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int server_port(const struct server *s)
{
    return s->port;
}

struct wake *server_news(struct server *s)
{
    return &s->news;
}

void server_play(struct server *s, const struct server_step *steps)
{
    pthread_mutex_lock(&s->lock);
    if (s->script_count < SCRIPTS)
        s->scripts[s->script_count++] = steps;
    pthread_mutex_unlock(&s->lock);
}

void server_play_when(struct server *s, const char *part,
                      const struct server_step *steps)
{
    pthread_mutex_lock(&s->lock);
    if (s->rule_count < SCRIPTS) {
        s->rules[s->rule_count].part = part;
        s->rules[s->rule_count++].steps = steps;
    }
    pthread_mutex_unlock(&s->lock);
}

void server_play_always(struct server *s, const struct server_step *steps)
{
    pthread_mutex_lock(&s->lock);
    s->always = steps;
    pthread_mutex_unlock(&s->lock);
}

void server_hurry(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    s->hurry = true;
    pthread_mutex_unlock(&s->lock);
}

void server_go(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    s->permits++;
    pthread_mutex_unlock(&s->lock);
    wake_ring(&s->orders);
}

struct server_seen server_look(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    struct server_seen seen = s->seen;
    pthread_mutex_unlock(&s->lock);
    return seen;
}

struct server_seen server_look_for(struct server *s, size_t connections)
{
    struct pollfd news = { .fd = wake_fd(&s->news), .events = POLLIN };
    struct server_seen seen = server_look(s);
    while (seen.connections < connections && poll(&news, 1, 10000) > 0) {
        wake_clear(&s->news);
        seen = server_look(s);
    }
    return seen;
}

const char *server_request(struct server *s, size_t n)
{
    pthread_mutex_lock(&s->lock);
    const char *text = n < REQUESTS ? s->requests[n] : NULL;
    pthread_mutex_unlock(&s->lock);
    return text ? text : "";
}
