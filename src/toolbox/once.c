/* once.c - run one process in the calling thread, and wait for its end */
#include "toolbox/once.h"

#include "base/clock.h"
#include "base/status.h"
#include "proc/warden.h"

enum { ERR_KEPT = 4096, GRACE_MS = 2000 };

static void note_end(struct process *p)
{
    ((struct once *)p->ud)->ended = true;
}

/* At the first deadline SIGTERM, at the others SIGKILL. */
static int64_t pass_deadline(struct once *o, int64_t due_ns)
{
    if (o->timed_out)
        child_kill(&o->process.child);
    else
        child_term(&o->process.child);
    o->timed_out = true;
    return clock_after(due_ns, GRACE_MS);
}

static void wait_for_end(struct once *o, uint32_t timeout_ms)
{
    struct clock clock = clock_real();
    int64_t due = timeout_ms ? clock_after(clock_now_ns(clock), timeout_ms)
                             : POLL_NEVER;
    while (!o->ended) {
        struct poll_ready r;
        if (clock_now_ns(clock) >= due)
            due = pass_deadline(o, due);
        poll_set_deadline(&o->poll, due);
        if (poll_wait(&o->poll, -1))
            return;             /* the release kills it */
        while (!o->ended && poll_next(&o->poll, &r))
            ((struct poll_handler *)r.tag)->ready(r.tag, r.what);
    }
}

bool once_run(struct once *o, const char *const *argv, enum child_stdio stdio,
              uint32_t timeout_ms)
{
    struct process_opts opts = { .argv = argv, .stdio = stdio,
                                 .orders = buf_slice(&o->jail.orders),
                                 .mem = o->arena->mem,
                                 .head_max = OUTPUT_HEAD,
                                 .tail_max = OUTPUT_TAIL,
                                 .err_max = ERR_KEPT };
    opts.warden = warden_path(o->arena, &o->error);
    if (!opts.warden)
        return false;
    int error = poll_init(&o->poll);
    o->process.poll = &o->poll;
    o->process.done = note_end;
    o->process.ud = o;
    if (!error)
        error = process_start(&o->process, &opts);
    if (error) {
        poll_release(&o->poll);
        o->error = jail_not_started(o->arena, o->jail.program, error);
        return false;
    }
    wait_for_end(o, timeout_ms);
    return true;
}

void once_release(struct once *o)
{
    process_release(&o->process);
    poll_release(&o->poll);
}

const allm_error *once_fault(struct once *o)
{
    return jail_fault(&o->jail, o->arena, &o->process.report);
}
