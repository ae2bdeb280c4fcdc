/* batch_parts.h - what the files of a batch share */
#ifndef TOOL_BATCH_PARTS_H
#define TOOL_BATCH_PARTS_H

#include "base/status.h"
#include "tool/batch_opts.h"
#include "tool/run.h"

enum state { WAITING, ANNOUNCED, RUNNING, READY, DONE };

struct slot {
    struct batch_result result;
    enum state state;
    bool is_help;
    uint64_t stamp;                 /* the order of answers */
    const allm_json *arguments;
    struct allm_tool_run *run;      /* NULL: not begun, or decided without */
    struct recipe *recipe;          /* it is made of others */
    struct slice content;
};

struct batch {
    struct batch_shared *desk;
    struct arena *arena;            /* of the desk's home, as is all here */
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
    bool told, stopped;
    bool cut;                       /* time was over for a call */
    struct slot *telling;           /* whose events are told now */
    int step;                       /* which of the three comes next */
    allm_event event;
};

/* Remember that there was no memory; always false. */
static inline bool batch_no_memory(struct batch *b)
{
    b->error = status_nomem();
    return false;
}

/* settle.c: the outcome of a slot is known; what follows from it. */
void settle_slot(struct batch *b, struct slot *s);

#endif
