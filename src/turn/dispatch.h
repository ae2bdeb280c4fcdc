/* dispatch.h - the fourth stage: run the tools and collect their results */
#pragma once

#include "tool/batch.h"
#include "turn/context.h"

/* Filled in by the step that runs the turn. */
struct turn_tools {
    struct tool_env env;
    struct batch_opts opts;
    const allm_journal_replay *replay;      /* or NULL */
    struct allm_home *home;         /* owns what the replay decodes */

    struct batch *batch;            /* NULL: nothing has run */
    bool begun;
    const allm_tool_call **handled; /* what the context's calls point to */
    size_t unknown_count;           /* writes begun before a crash */
    const allm_tool_call **unknown;
    size_t left_count;              /* calls that a gate left undecided */
    const struct allm_approval **left;
};

/* Does a replay have this call?  Then it began, even if its tool has changed or
 * is gone. */
bool dispatch_began(const struct turn_tools *t, const char *call_id);

/* Stop the running tools.  The results stay valid until dispatch_release();
 * release the context before that. */
void dispatch_stop(struct turn_tools *t);
void dispatch_release(struct turn_tools *t);
