/* batch_parts.h - private types shared by batch.c and settle.c */
#ifndef TOOL_BATCH_PARTS_H
#define TOOL_BATCH_PARTS_H

#include "base/status.h"
#include "tool/batch_opts.h"
#include "tool/run.h"

enum state { WAITING, ANNOUNCED, RUNNING, READY, DONE };

struct slot {
    struct tool_result result;
    enum state state;
    bool is_help;
    uint64_t stamp;                 /* its place in the order of answers */
    struct allm_tool_run *run;      /* NULL: not begun, or no function needed */
    struct recipe *recipe;          /* NULL: the tool has none */
};

struct batch {
    struct batch_shared *shared;
    struct arena *arena;            /* of shared->home; owns everything here */
    struct batch_opts opts;
    size_t tool_count;
    const allm_tool **tools;
    size_t count;
    struct slot *slots;
    size_t next;                    /* index of the first call not begun */
    size_t running, done;
    size_t limit;                   /* on concurrency; 0: not computed yet */
    int64_t timeout_ns;
    const allm_error *error;
    bool error_emitted, stopped;
    bool timed_out;                 /* the deadline ended a call */
    struct slot *ending;            /* its events are being emitted */
    int next_event;                 /* which of the three: 0, 1, 2 */
    const struct tool_result *ended;    /* by the last event, or NULL */
    allm_event event;
};

/* Record that memory ran out; returns false. */
static inline bool batch_no_memory(struct batch *b)
{
    b->error = status_nomem();
    return false;
}

/* settle.c: complete the result of a slot whose outcome is known. */
void settle_slot(struct batch *b, struct slot *s);

#endif
