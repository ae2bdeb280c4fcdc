/*
 * result.h - the result of one tool call, as the turn uses it
 *
 * A tool_result is created once, when its call ends.  The turn, the step and
 * the chat refer to it and share its message, which is reference-counted.
 */
#pragma once

#include "allm_ext.h"
#include "base/home.h"
#include "tool/outcome.h"

struct build;

struct tool_result {
    allm_call_result view;      /* the public part: call, content, is_error */
    const allm_tool *tool;      /* NULL: tool_help, or no function ran */
    const allm_json *arguments; /* as passed to the function */
    struct outcome outcome;     /* of the call, or a RESULT with the value by
                                   which a callback replaced a failure */
    const allm_error *error;    /* of a FAILURE */
    struct slice whole;         /* the complete content, before it was cut */
    const allm_message *message;
    const char *key;            /* the idempotency key of the call, or NULL */
    size_t index;               /* the position of the call in the answer */
    bool halts;                 /* it halts the chat; always true for a
                                   QUESTION or HALT */
    bool done;                  /* the members above are valid */
};

static inline const struct tool_result *result_of_view(
    const allm_call_result *view)
{
    return (const struct tool_result *)(const void *)view;
}

/* Create its message with this content, then the images of its outcome, and
 * the view of it.  The message may outlive the engine, so it does not use the
 * engine's allocator.  False: out of memory. */
bool result_close(struct tool_result *r, struct slice content);

/* The images of a tool message, as in struct outcome, in the arena; NULL: there
 * are none, or the arena is broken. */
const allm_json *result_images(const allm_message *m, struct arena *a);

/* A copy in the home, without the tool; it shares the message.  NULL: out of
 * memory. */
const struct tool_result *result_copy(struct allm_home *home,
                                      const struct tool_result *r);

/*
 * Fill in the three events of a call.  They refer to the result and the arena.
 * result_ended() makes tool_result_encoded, ask_user_requested or tool_halt.
 * False: out of memory.
 */
void result_started(const struct tool_result *r, allm_event *event);
bool result_completed(const struct tool_result *r, struct arena *a,
                      allm_event *event);
bool result_ended(const struct tool_result *r, struct arena *a,
                  allm_event *event);

/* Write the metadata of a halt into the open object; NULL: write nothing. */
void result_write_halt(struct build *b, const struct tool_result *r);
