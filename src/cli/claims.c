/*
 * claims.c - a thread that claims sessions, and the signals of a worker
 *
 * A pointer is written to the pipe in one piece; NULL means that the thread has
 * ended.
 */
#include "cli/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 250, PAUSE_S = 1 };

static const int watched[] = { SIGTERM, SIGINT, SIGHUP };
static int signal_pipe[2] = { -1, -1 };

static void write_signal(int number)
{
    int before = errno;
    unsigned char byte = (unsigned char)number;
    (void)!write(signal_pipe[1], &byte, 1);
    errno = before;
}

/* Wait until there is room; false: stop.  *running: how many run then. */
static bool wait_for_room(struct claims *c, size_t *running)
{
    pthread_mutex_lock(&c->lock);
    while (!c->room && !c->stop && (c->running || !c->once))
        pthread_cond_wait(&c->changed, &c->lock);
    bool goes_on = c->room && !c->stop;
    *running = c->running;
    pthread_mutex_unlock(&c->lock);
    return goes_on;
}

static void take_room(struct claims *c)
{
    pthread_mutex_lock(&c->lock);
    c->room--;
    c->running++;
    pthread_mutex_unlock(&c->lock);
}

/* Nothing was due while so many ran.  Wait until one of them has ended: more
 * may have been sent to it.  False: none ran. */
static bool wait_for_end(struct claims *c, size_t running)
{
    pthread_mutex_lock(&c->lock);
    while (running && c->running == running && !c->stop)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return running > 0;
}

/* The store has failed: wait before the next attempt, unless we stop. */
static void pause_claims(struct claims *c)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PAUSE_S;
    pthread_mutex_lock(&c->lock);
    while (!c->stop &&
           pthread_cond_timedwait(&c->changed, &c->lock, &until) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&c->lock);
}

static void hand_over(struct claims *c, allm_session *session)
{
    (void)!write(c->pipe[1], &session, sizeof session);
}

static bool is_idle(const allm_session *s)
{
    const allm_error *error = allm_session_error(s);
    return error && error->reason && !strcmp(error->reason, "nothing_due");
}

static void *claim_sessions(void *ud)
{
    struct claims *c = ud;
    bool more = true;
    size_t running = 0;
    while (more && wait_for_room(c, &running)) {
        allm_session *s = allm_session_claim(c->store, c->queue,
                                             c->once ? 0 : WAIT_MS);
        if (is_idle(s)) {
            allm_session_free(s);
            more = !c->once || wait_for_end(c, running);
            continue;
        }
        bool failed = allm_session_error(s) != NULL;
        take_room(c);
        hand_over(c, s);
        more = !failed || !c->once;
        if (failed)
            pause_claims(c);
    }
    hand_over(c, NULL);
    return NULL;
}

static bool make_pipe(int fds[2])
{
    if (pipe(fds))
        return false;
    for (int i = 0; i < 2; i++)
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    return true;
}

/* The thread must not get the signals: they would interrupt it, not poll(). */
static bool start_thread(struct claims *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool ok = !pthread_create(&c->thread, NULL, claim_sessions, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

bool claims_start(struct claims *c, allm_store *store, const char *queue,
                  size_t room, bool once)
{
    struct sigaction act = { .sa_handler = write_signal };
    c->store = store;
    c->queue = queue;
    c->room = room;
    c->once = once;
    if (!make_pipe(c->pipe) || !make_pipe(signal_pipe) ||
        pthread_mutex_init(&c->lock, NULL) ||
        pthread_cond_init(&c->changed, NULL) || !start_thread(c))
        return false;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaction(watched[i], &act, NULL);
    return true;
}

void claims_make_room(struct claims *c)
{
    pthread_mutex_lock(&c->lock);
    c->room++;
    c->running -= c->running > 0;   /* it may have left */
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void claims_leave(struct claims *c)
{
    pthread_mutex_lock(&c->lock);
    c->running--;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void claims_stop(struct claims *c)
{
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void claims_end(struct claims *c)
{
    allm_session *s = NULL;
    claims_stop(c);
    pthread_join(c->thread, NULL);
    close(c->pipe[1]);
    while (read(c->pipe[0], &s, sizeof s) == (ssize_t)sizeof s)
        allm_session_free(s);
    close(c->pipe[0]);
}

int claims_fd(const struct claims *c)
{
    return c->pipe[0];
}

enum claims_news claims_take(struct claims *c, allm_session **session)
{
    *session = NULL;
    ssize_t n = read(c->pipe[0], session, sizeof *session);
    return n == (ssize_t)sizeof *session && *session ? CLAIMS_SESSION
                                                     : CLAIMS_ENDED;
}

int claims_signal_fd(const struct claims *c)
{
    (void)c;
    return signal_pipe[0];
}

int claims_take_signal(struct claims *c)
{
    unsigned char byte = 0;
    (void)c;
    (void)!read(signal_pipe[0], &byte, 1);
    return byte;
}
