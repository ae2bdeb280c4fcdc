/*
 * result.h - what the turn gets from one tool call
 *
 * A tool_result is made once, when its call ends.  The turn, the step and the
 * chat refer to it; they share its message, which is counted.
 */
#ifndef TOOL_RESULT_H
#define TOOL_RESULT_H

#include "allm_ext.h"
#include "base/home.h"
#include "tool/outcome.h"

struct build;

struct tool_result {
    allm_call_result view;      /* as stages see it: call, content, is_error */
    const allm_tool *tool;      /* NULL: tool_help, or no tool ran */
    const allm_json *arguments; /* as the function gets them */
    struct outcome outcome;     /* of the call itself, or a RESULT with the
                                   replacement of a callback */
    const allm_error *error;    /* of a FAILURE */
    struct slice whole;         /* the content before it was cut */
    const allm_message *message;
    bool halts;                 /* it ends the chat; always so for a QUESTION
                                   or HALT */
    bool done;                  /* only then the members above count */
};

static inline const struct tool_result *result_of_view(
    const allm_call_result *view)
{
    return (const struct tool_result *)(const void *)view;
}

/* Make its message from what the model shall read.  The message may outlive
 * the engine, so it is not in the memory of one.  False: no memory. */
bool result_close(struct tool_result *r, struct slice content);

/* A copy that lives in the home, without the tool.  NULL: no memory. */
const struct tool_result *result_copy(struct allm_home *home,
                                      const struct tool_result *r);

/*
 * The three events of a call.  They refer to the result and the arena.
 * result_ended() makes tool_result_encoded, ask_user_requested or tool_halt.
 * False: no memory.
 */
void result_started(const struct tool_result *r, allm_event *event);
bool result_completed(const struct tool_result *r, struct arena *a,
                      allm_event *event);
bool result_ended(const struct tool_result *r, struct arena *a,
                  allm_event *event);

/* Write the metadata of a halt into an object that is open; NULL: nothing. */
void result_write_halt(struct build *b, const struct tool_result *r);

#endif
