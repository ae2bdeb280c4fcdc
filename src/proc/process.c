/*
 * process.c - a process in a poll set: its input, its output, its end
 *
 * The warden holds the pipes as long as a descendant lives; stdout only if it
 * has namespaces, because it may have to start again.  So the end of the
 * report, after which nothing more is written, is the end of everything; the
 * pipes are then read until they are empty.
 */
#define _GNU_SOURCE             /* syscall */
#include "proc/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that the headers may not know.  What a pipe holds when nobody writes
 * any more is at most PIECES, the default of its largest size. */
enum { PIECE = 32 * 1024, PIECES = 64, CALL_PIDFD_SEND_SIGNAL = 424,
       CALL_PIDFD_OPEN = 434, WHOLE_GROUP = 4 };

static void close_end(struct process *p, struct process_end *e)
{
    if (*e->fd < 0)
        return;
    poll_remove(p->poll, *e->fd, &e->handler);
    child_close(e->fd);
}

/* Read what is there; false: the end, or an error. */
static bool read_some(int fd, char *piece, size_t *len)
{
    ssize_t n = read(fd, piece, PIECE);
    *len = n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* True: there were bytes. */
static bool read_output(struct process_end *e, struct output *o)
{
    char piece[PIECE];
    size_t len;
    struct process *p = e->process;
    bool talks = p->heard && o == &p->out;
    bool more = read_some(*e->fd, piece, &len);
    if (talks && (len || !more))
        p->heard(p, (struct slice){ piece, len });
    else if (!talks)
        output_add(o, (struct slice){ piece, len });
    if (p->notes && o == &p->err)
        p->notes(p, (struct slice){ piece, len });
    if (!more)
        close_end(p, e);
    return len > 0;
}

static void out_ready(struct poll_handler *h, unsigned what)
{
    struct process_end *e = (struct process_end *)(void *)h;
    (void)what;
    read_output(e, &e->process->out);
}

static void err_ready(struct poll_handler *h, unsigned what)
{
    struct process_end *e = (struct process_end *)(void *)h;
    (void)what;
    read_output(e, &e->process->err);
}

/* Watched only while it takes no more. */
static void talk_ready(struct process *p, unsigned what)
{
    if (what & POLL_ERROR)
        close_end(p, &p->in_end);
    else if (!poll_modify(p->poll, p->child.in, 0, &p->in_end.handler))
        p->takes(p);
}

ssize_t process_write(struct process *p, const struct iovec *parts, int count)
{
    size_t all = 0;
    for (int i = 0; i < count; i++)
        all += parts[i].iov_len;
    if (p->child.in < 0)
        return -1;
    ssize_t n = writev(p->child.in, parts, count);
    bool later = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (n < 0 && !later) {
        close_end(p, &p->in_end);
        return -1;
    }
    n = n < 0 ? 0 : n;
    if ((size_t)n < all &&
        poll_modify(p->poll, p->child.in, POLL_WRITE, &p->in_end.handler))
        close_end(p, &p->in_end);
    return n;
}

void process_close_input(struct process *p)
{
    close_end(p, &p->in_end);
}

void process_close_output(struct process *p)
{
    close_end(p, &p->out_end);
}

static void in_ready(struct poll_handler *h, unsigned what)
{
    struct process_end *e = (struct process_end *)(void *)h;
    struct process *p = e->process;
    if (p->heard) {
        talk_ready(p, what);
        return;
    }
    ssize_t n = p->input.len ? write(*e->fd, p->input.ptr, p->input.len) : 0;
    if (n > 0)
        p->input = slice_skip(p->input, (size_t)n);
    if (!p->input.len || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_end(p, e);        /* a tool need not read its input */
}

/* Nothing writes any more; if the warden was killed, something might, for
 * ever. */
static void read_rest(struct process_end *e, struct output *o)
{
    for (int i = 0; i < PIECES && *e->fd >= 0 && read_output(e, o); i++)
        ;
    close_end(e->process, e);
}

/* While it is known that the number is that of the process. */
static void note_leader(struct process *p)
{
    if (p->leader < 0 && p->report.pid > 0 && !p->report.ended)
        p->leader = (int)syscall(CALL_PIDFD_OPEN, p->report.pid, 0);
}

/* The warden was killed.  Its own child is killed by the kernel, the others by
 * us; before Linux 6.9 only their number says which these are. */
static void kill_group(struct process *p)
{
    if (p->leader < 0)
        return;
    if (syscall(CALL_PIDFD_SEND_SIGNAL, p->leader, SIGKILL, NULL,
                WHOLE_GROUP) &&
        errno == EINVAL)
        kill(-p->report.pid, SIGKILL);
}

static void report_ready(struct poll_handler *h, unsigned what)
{
    struct process_end *e = (struct process_end *)(void *)h;
    struct process *p = e->process;
    char piece[PIECE];
    size_t len;
    (void)what;
    bool more = read_some(*e->fd, piece, &len);
    report_add(&p->report, (struct slice){ piece, len });
    note_leader(p);
    if (more)
        return;
    if (!p->report.ended)
        kill_group(p);
    close_end(p, e);
    close_end(p, &p->in_end);
    read_rest(&p->out_end, &p->out);
    read_rest(&p->err_end, &p->err);
    p->done(p);
}

static int watch_end(struct process *p, struct process_end *e, int *fd,
                     unsigned what,
                     void (*ready)(struct poll_handler *, unsigned))
{
    *e = (struct process_end){ { ready }, p, fd };
    if (*fd < 0)
        return 0;
    int error = poll_add(p->poll, *fd, what, &e->handler);
    if (error)
        child_close(fd);        /* it is not in the set */
    return error;
}

static int watch_all(struct process *p)
{
    struct child *c = &p->child;
    int in = watch_end(p, &p->in_end, &c->in, p->heard ? 0 : POLL_WRITE,
                       in_ready);
    int out = watch_end(p, &p->out_end, &c->out, POLL_READ, out_ready);
    int err = watch_end(p, &p->err_end, &c->err, POLL_READ, err_ready);
    int report = watch_end(p, &p->report_end, &c->report, POLL_READ,
                           report_ready);
    return in ? in : out ? out : err ? err : report;
}

int process_start(struct process *p, const struct process_opts *o)
{
    int error = child_start(&p->child, o->warden, o->argv, o->orders, o->stdio);
    if (error)
        return error;
    p->report = (struct report){ .kind = REPORT_NONE };
    p->leader = -1;
    output_init(&p->out, o->mem, o->head_max, o->tail_max);
    output_init(&p->err, o->mem, 0, o->err_max);
    error = watch_all(p);
    if (error)
        process_release(p);
    return error;
}

void process_release(struct process *p)
{
    close_end(p, &p->in_end);
    close_end(p, &p->out_end);
    close_end(p, &p->err_end);
    close_end(p, &p->report_end);
    child_close(&p->leader);
    child_release(&p->child);
    output_release(&p->out);
    output_release(&p->err);
}
