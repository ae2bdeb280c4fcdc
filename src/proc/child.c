/*
 * child.c - start a process through a warden, with pipes
 *
 *      ours            the warden's
 *      in  ----------> 0
 *      out <---------- 1
 *      err <---------- 2
 *      control ------> 3       a socket, so that a write cannot raise SIGPIPE
 *      report <------- 4
 *
 * posix_spawn() shares our memory with the new process until it calls exec, so
 * that its cost does not depend on how much we have.
 */
#define _GNU_SOURCE             /* pipe2 */
#include "proc/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS = 5 };

/* The ends that the warden gets, by their number there. */
struct ends {
    int fd[ENDS];
};

void child_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Move a descriptor out of the way of those that the warden gets. */
static int move_up(int *fd)
{
    if (*fd >= ENDS)
        return 0;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, ENDS);
    if (high < 0)
        return errno;
    close(*fd);
    *fd = high;
    return 0;
}

static int move_both(int *ours, int *theirs)
{
    int error = move_up(ours);
    if (!error)
        error = move_up(theirs);
    if (!error && fcntl(*ours, F_SETFL, O_NONBLOCK))
        error = errno;
    return error;
}

/* The warden's end is the reading one, or the writing one. */
static int make_pipe(int *ours, int *theirs, bool theirs_reads)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    *ours = ends[theirs_reads];
    *theirs = ends[!theirs_reads];
    return move_both(ours, theirs);
}

static int make_control(int *ours, int *theirs)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errno;
    *ours = ends[0];
    *theirs = ends[1];
    int error = move_up(ours);
    return error ? error : move_up(theirs);
}

static int open_input(struct child *c, struct ends *e, enum child_stdio stdio)
{
    if (stdio != CHILD_NO_INPUT)
        return make_pipe(&c->in, &e->fd[0], true);
    e->fd[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return e->fd[0] < 0 ? errno : move_up(&e->fd[0]);
}

static int open_ends(struct child *c, struct ends *e, enum child_stdio stdio)
{
    int error = make_control(&c->control, &e->fd[3]);
    if (!error)
        error = make_pipe(&c->report, &e->fd[4], false);
    if (stdio == CHILD_OURS || error)
        return error;
    error = open_input(c, e, stdio);
    if (!error)
        error = make_pipe(&c->out, &e->fd[1], false);
    if (!error && stdio != CHILD_MERGED)
        error = make_pipe(&c->err, &e->fd[2], false);
    return error;
}

static int add_actions(posix_spawn_file_actions_t *actions,
                       const struct ends *e, enum child_stdio stdio)
{
    int error = 0;
    for (int i = 0; !error && i < ENDS; i++) {
        int from = stdio == CHILD_MERGED && i == 2 ? e->fd[1] : e->fd[i];
        if (from >= 0)
            error = posix_spawn_file_actions_adddup2(actions, from, i);
    }
    return error;
}

/* No signal is ignored or blocked, whatever our program does. */
static int set_signals(posix_spawnattr_t *attr)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(attr, &all);
    posix_spawnattr_setsigmask(attr, &none);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
}

static int spawn_warden(struct child *c, const char *warden,
                        const char *const *argv, const struct ends *e,
                        enum child_stdio stdio)
{
    static char *const nothing[] = { NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attr);
    if (!error) {
        error = add_actions(&actions, e, stdio);
        if (!error)
            error = set_signals(&attr);
        if (!error)
            error = posix_spawn(&c->warden, warden, &actions, &attr,
                                (char *const *)(uintptr_t)argv, nothing);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int send_all(int fd, struct slice s)
{
    while (s.len) {
        ssize_t n = send(fd, s.ptr, s.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        s = slice_skip(s, (size_t)n);
    }
    return 0;
}

/* The warden's first argument is the program. */
static int spawn_named(struct child *c, const char *warden,
                       const char *const *argv, const struct ends *e,
                       enum child_stdio stdio)
{
    enum { MOST = 1024 };
    const char *all[MOST + 2] = { "allm-warden" };
    size_t n = 0;
    while (argv[n] && n < MOST) {
        all[n + 1] = argv[n];
        n++;
    }
    all[n + 1] = NULL;
    return argv[n] ? E2BIG : spawn_warden(c, warden, all, e, stdio);
}

int child_start(struct child *c, const char *warden, const char *const *argv,
                struct slice orders, enum child_stdio stdio)
{
    struct ends e = { { -1, -1, -1, -1, -1 } };
    *c = (struct child){ .in = -1, .out = -1, .err = -1, .control = -1,
                         .report = -1 };
    int error = open_ends(c, &e, stdio);
    if (!error)
        error = spawn_named(c, warden, argv, &e, stdio);
    for (int i = 0; i < ENDS; i++)
        child_close(&e.fd[i]);
    if (!error)
        error = send_all(c->control, orders);
    if (!error)
        error = send_all(c->control, SLICE("--\n"));
    if (error)
        child_release(c);
    return error;
}

void child_term(const struct child *c)
{
    send_all(c->control, SLICE("term\n"));
}

/* Without walls a process can stop its warden.  Then the kernel kills the
 * process, and process.c its group. */
void child_kill(const struct child *c)
{
    siginfo_t news = { .si_pid = 0 };
    send_all(c->control, SLICE("kill\n"));
    if (!waitid(P_PID, (id_t)c->warden, &news, WSTOPPED | WNOHANG | WNOWAIT) &&
        news.si_pid)
        kill(c->warden, SIGKILL);
}

/* It ends by itself when its control is closed, unless it is stopped. */
static void reap_warden(pid_t warden)
{
    int status = 0;
    for (;;) {
        pid_t pid = waitpid(warden, &status, WUNTRACED);
        if (pid == warden && WIFSTOPPED(status))
            kill(warden, SIGKILL);
        else if (pid >= 0 || errno != EINTR)
            return;
    }
}

void child_release(struct child *c)
{
    child_close(&c->in);
    child_close(&c->out);
    child_close(&c->err);
    child_close(&c->control);
    child_close(&c->report);
    if (c->warden > 0)
        reap_warden(c->warden);
    c->warden = 0;
}
