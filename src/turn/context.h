/*
 * context.h - the state of a turn, passed through its stages
 *
 * A context lives for one turn, in the turn's arena; messages live longer and
 * are reference-counted.  Stages change the context, the pipeline checks its
 * status and decision, and the chat or agent reads it at the end.
 */
#pragma once

#include "allm.h"
#include "base/clock.h"
#include "base/home.h"
#include "tool/result.h"

/* All the ways in which the turns of chats and agents differ. */
struct turn_terms {
    bool by_calls;              /* tools run if the answer has calls; else
                                   only if its finish reason is tool_calls */
    bool tell_unknown;          /* unknown tools are reported to the model;
                                   else they are an error */
    bool check_arguments;       /* and report invalid ones to the model */
    bool guard;                 /* the last turn may not run tools */
    bool retry_blank;           /* a blank answer is requested again */
    bool manual;                /* the caller runs all tools */
    const char *terminal_tool;  /* or NULL */
    allm_budget *budget;        /* or NULL */
};

struct turn_trace {
    struct turn_trace *next;
    const char *tag, *text;
    int64_t n;
    bool has_n;
};

struct turn_event {
    struct turn_event *next;
    const struct tool_result *result;   /* of the call that it ends, or NULL */
    allm_event event;
};

struct turn_state {             /* memory of a stage during a turn */
    struct turn_state *next;
    const void *stage;
    void *bytes;
};

/* How tools run; see dispatch.h. */
struct turn_tools;

struct allm_context {
    struct arena *arena;
    struct clock clock;
    allm_waker *waker;
    const struct turn_terms *terms;
    struct turn_tools *runner;      /* NULL: no tool can run */
    const struct allm_executor *executor;   /* or NULL */
    const allm_response *response;
    const allm_thread *history;
    size_t tool_count;
    const allm_tool *const *tools;
    allm_json_schema **schemas;     /* of the tools, compiled on demand */
    uint32_t iteration, max_iterations;

    size_t call_count;
    const allm_tool_call *const *calls;
    size_t manual_count;            /* calls for the caller to answer */
    const allm_tool_call **manual;
    size_t result_count, result_room;
    const allm_call_result **results;       /* views of tool_results */
    size_t message_count, message_room;
    const allm_message **messages;  /* reference-counted */
    const struct tool_result *halt; /* of the first call that halts, or NULL */
    struct turn_fault *faults, **last_fault;

    allm_decision decision;
    const char *reason;
    const allm_json *payload;
    allm_status status;
    const allm_error *error;
    const allm_tool_call *terminal_call;
    struct turn_trace *trace, **last_trace;

    struct turn_event *events, **last_event;    /* not emitted yet */
    int64_t again_ns;
    struct turn_state *states;
    const void *stage;              /* the running one */
    bool broken;                    /* memory ran out */
};

/* Set the defaults; everything that the context borrows must outlive it. */
void context_init(allm_context *c, struct arena *arena);
/* Release the messages, including those of the results. */
void context_release(allm_context *c);

/* Add an entry to the trace; the tag is not copied. */
void context_note(allm_context *c, const char *tag);
void context_note_n(allm_context *c, const char *tag, int64_t n);
void context_note_text(allm_context *c, const char *tag, const char *text);

/* Add [what, name] or [what, name, [texts]] to the validation errors. */
void context_fault(allm_context *c, const char *what, const char *name,
                   const allm_json *texts);

/* Set the decision; the reason is copied. */
void context_decide(allm_context *c, allm_decision d, const char *reason);

/* Append a message and take ownership.  NULL or a failed one breaks the
 * context. */
void context_push_message(allm_context *c, allm_message *m);

/* Insert a result in the order of the calls.  The result is borrowed until
 * context_release(); the context holds a reference to its message.  False: out
 * of memory. */
bool context_push_result(allm_context *c, const struct tool_result *r);

/* Create and insert a result without a batch, with the text as its value, and
 * images as in struct outcome or NULL.  NULL: out of memory. */
struct tool_result *context_new_result(allm_context *c,
                                       const allm_tool_call *call,
                                       struct slice text, bool is_error,
                                       const allm_json *images);

/* Set c->halt to this result, if it halts and its call is the first that
 * does. */
void context_halt(allm_context *c, const struct tool_result *r);

/* The index of a call in the answer, by id; the number of calls if it is not
 * there. */
size_t context_index(const allm_context *c, const char *id);

/* The tool of this name, and its index unless that is NULL; NULL: not found. */
const allm_tool *context_tool(const allm_context *c, const char *name,
                              size_t *index);

/* Remove the first event from the queue; NULL: the queue is empty. */
struct turn_event *context_take(allm_context *c);
/* Append an event without a type; NULL: out of memory. */
struct turn_event *context_queue(allm_context *c);
/* Append an event of this type; NULL: out of memory. */
allm_event *context_put(allm_context *c, allm_event_type type);

/* The answer as a message of the thread; a root.  NULL: out of memory. */
allm_message *context_assistant(const allm_context *c);
