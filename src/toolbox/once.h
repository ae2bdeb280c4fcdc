/* once.h - run one process in the calling thread, and wait for its end */
#pragma once

#include "proc/process.h"
#include "toolbox/jail.h"

struct once {
    struct arena *arena;        /* of the caller */
    struct jail jail;           /* open, or with orders only */
    struct process process;
    struct poll poll;
    bool ended, timed_out;
    const allm_error *error;
};

/*
 * Run it to its end, or to the timeout (0: none): then SIGTERM, and SIGKILL two
 * seconds later.  True: once_release() must be called; the report and the
 * output are valid until then.  False: o->error.
 */
bool once_run(struct once *o, const char *const *argv, enum child_stdio stdio,
              uint32_t timeout_ms);
void once_release(struct once *o);

/* Why nothing ran, in the arena; NULL: it ran. */
const allm_error *once_fault(struct once *o);
