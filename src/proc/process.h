/* process.h - a process in a poll set: its input, its output, its end */
#pragma once

#include "loop/poll.h"
#include "proc/child.h"
#include "proc/output.h"
#include "proc/report.h"

#include <sys/uio.h>

struct process;

/* A descriptor in the poll set; its tag is `handler`. */
struct process_end {
    struct poll_handler handler;
    struct process *process;
    int *fd;                    /* in struct child */
};

/*
 * The caller fills in the first members, then calls process_start().  It calls
 * ready() of the tags that poll_next() returns.  done() is called once, when
 * the process and all its descendants have ended and their output is read; it
 * may release the process.
 *
 * Writing to a process that has ended raises SIGPIPE: the thread blocks it.
 */
struct process {
    struct poll *poll;
    struct slice input;         /* for stdin, then its end; must live until
                                   done() */
    void (*done)(struct process *p);
    void *ud;

    /* For a process that is talked to; else NULL.  heard() gets what it writes
     * to stdout, and an empty slice at its end; its input stays open.  takes():
     * process_write() can write again. */
    void (*heard)(struct process *p, struct slice bytes);
    void (*takes)(struct process *p);
    /* Gets what it writes to stderr, which is kept, too; or NULL. */
    void (*notes)(struct process *p, struct slice bytes);

    struct child child;
    struct output out, err;
    struct report report;
    int leader;                 /* descriptor of its first process; or -1 */
    struct process_end in_end, out_end, err_end, report_end;
};

/* As child_start(); the limits are for the memory of the two outputs. */
struct process_opts {
    const char *warden;
    const char *const *argv;
    struct slice orders;
    enum child_stdio stdio;
    struct mem mem;
    size_t head_max, tail_max;  /* of stdout */
    size_t err_max;             /* the last bytes of stderr */
};

/* Returns 0 or an errno; then done() is not called and nothing is left. */
int process_start(struct process *p, const struct process_opts *opts);

/*
 * Write to a process that is talked to.  Returns how many bytes it took; if not
 * all of them, takes() is called later.  Negative: it reads no more.
 */
ssize_t process_write(struct process *p, const struct iovec *parts, int count);
/* End its input; take no more of its output. */
void process_close_input(struct process *p);
void process_close_output(struct process *p);

/* Kill it if it still runs, wait for its end, and free its memory. */
void process_release(struct process *p);
