/* dispatch.h - the fourth stage: run the tools and collect their results */
#ifndef TURN_DISPATCH_H
#define TURN_DISPATCH_H

#include "tool/batch.h"
#include "turn/context.h"

/*
 * Filled in by the step that runs the turn.  intent() is called before a tool
 * starts, settled() before its result is used; a status < 0 ends the turn.
 */
struct turn_tools {
    struct tool_env env;
    struct batch_opts opts;
    const allm_journal_replay *replay;      /* or NULL */
    void *ud;
    allm_status (*intent)(void *ud, const allm_tool_call *call,
                          const allm_tool *tool);
    allm_status (*settled)(void *ud, const struct tool_result *result);

    struct batch *batch;            /* NULL: nothing has run */
    bool begun;
    size_t unknown_count;           /* writes begun before a crash */
    const allm_tool_call **unknown;
};

/* Stop the running tools.  The results stay valid until dispatch_release();
 * release the context before that. */
void dispatch_stop(struct turn_tools *t);
void dispatch_release(struct turn_tools *t);

#endif
