/* batch_parts.h - what the files of a batch share */
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
    uint64_t stamp;                 /* the order of answers */
    struct allm_tool_run *run;      /* NULL: not begun, or decided without */
    struct recipe *recipe;          /* NULL: the tool runs itself */
};

struct batch {
    struct batch_shared *shared;
    struct arena *arena;            /* of the shared's home, as is all here */
    struct batch_opts opts;
    size_t tool_count;
    const allm_tool **tools;
    size_t count;
    struct slot *slots;
    size_t next;                    /* the first that has not begun */
    size_t running, done;
    size_t limit;                   /* 0: not asked for yet */
    int64_t timeout_ns;
    const allm_error *error;
    bool error_emitted, stopped;
    bool cut;                       /* time was over for a call */
    struct slot *ending;            /* whose events are emitted now */
    int step;                       /* which of the three is next */
    const struct tool_result *ended;    /* by the last event; or NULL */
    allm_event event;
};

/* Remember that there was no memory; always false. */
static inline bool batch_no_memory(struct batch *b)
{
    b->error = status_nomem();
    return false;
}

/* settle.c: the outcome of a slot is known: complete its result. */
void settle_slot(struct batch *b, struct slot *s);

#endif
