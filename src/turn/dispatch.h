/* dispatch.h - how the fourth stage runs tools */
#ifndef TURN_DISPATCH_H
#define TURN_DISPATCH_H

#include "tool/batch.h"
#include "turn/context.h"

/*
 * Filled in by who runs the turn.  intent() is told before a tool begins,
 * settled() before its result counts; < 0 ends the turn.
 */
struct turn_tools {
    struct tool_env env;
    struct batch_opts opts;
    const allm_journal_replay *replay;      /* or NULL */
    void *ud;
    allm_status (*intent)(void *ud, const allm_tool_call *call,
                          const allm_tool *tool);
    allm_status (*settled)(void *ud, const struct batch_result *result);

    struct batch *batch;            /* what runs now */
    bool begun;
    size_t unknown_count;           /* writes that were begun before a crash */
    const allm_tool_call **unknown;
};

/* Stop what runs and forget it; once or more often. */
void dispatch_stop(struct turn_tools *t);

#endif
