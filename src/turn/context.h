/*
 * context.h - one answer on its way through the stages of a turn
 *
 * A context lives for one turn, in the turn's arena; what must live longer
 * (messages) is counted.  Stages change it, the runner looks at its status and
 * decision, the loop reads it at the end.
 */
#ifndef TURN_CONTEXT_H
#define TURN_CONTEXT_H

#include "allm.h"
#include "base/clock.h"
#include "base/home.h"
#include "tool/result.h"

/* In what chats and agents differ: the whole of it. */
struct turn_terms {
    bool by_calls;              /* calls in the answer are enough; else its
                                   finish reason must say tool_calls */
    bool tell_unknown;          /* unknown tools are told to the model; else
                                   they are an error */
    bool check_arguments;       /* wrong ones are told to the model */
    bool guard;                 /* the last turn may not run tools */
    bool retry_blank;           /* a blank answer is no answer */
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
    const struct tool_result *result;   /* of the call that it ends; or NULL */
    allm_event event;
};

struct turn_state {             /* what a stage keeps in a turn */
    struct turn_state *next;
    const void *stage;
    void *bytes;
};

/* How tools are run: filled by who runs the turn, used by dispatch. */
struct turn_tools;

struct allm_context {
    struct arena *arena;
    struct clock clock;
    allm_waker *waker;
    const struct turn_terms *terms;
    struct turn_tools *runner;      /* or NULL: no tool can run */
    const struct allm_executor *executor;   /* or NULL */
    const allm_response *response;
    const allm_thread *history;
    size_t tool_count;
    const allm_tool *const *tools;
    allm_json_schema **schemas;     /* of the tools, made on demand */
    uint32_t iteration, max_iterations;

    size_t call_count;
    const allm_tool_call *const *calls;
    size_t manual_count;            /* calls that the caller answers */
    const allm_tool_call **manual;
    size_t result_count, result_room;
    const allm_call_result **results;       /* views of tool_results */
    size_t message_count, message_room;
    const allm_message **messages;  /* counted */
    const struct tool_result *halt; /* the first call's that halts; or NULL */
    struct turn_fault *faults, **last_fault;

    allm_decision decision;
    const char *reason;
    const allm_json *payload;
    allm_status status;
    const allm_error *error;
    const allm_tool_call *terminal_call;
    struct turn_trace *trace, **last_trace;

    struct turn_event *events, **last_event;    /* not taken yet */
    int64_t again_ns;
    struct turn_state *states;
    const void *stage;              /* which one runs */
    bool broken;                    /* memory ran out */
};

/* Begin; what is borrowed must outlive it. */
void context_init(allm_context *c, struct arena *arena);
/* Let go of the messages, also those of the results. */
void context_release(allm_context *c);

void context_note(allm_context *c, const char *tag);
void context_note_n(allm_context *c, const char *tag, int64_t n);
void context_note_text(allm_context *c, const char *tag, const char *text);

/* [what, name] or [what, name, [texts]] among the validation errors. */
void context_fault(allm_context *c, const char *what, const char *name,
                   const allm_json *texts);

/* Decide; the reason is copied. */
void context_decide(allm_context *c, allm_decision d, const char *reason);

/* Take over a message; NULL or one that failed breaks the context. */
void context_push_message(allm_context *c, allm_message *m);

/* Take over a result, borrowed until context_release(), among the others in
 * the order of calls; its message is kept.  False: no memory. */
bool context_push_result(allm_context *c, const struct tool_result *r);

/* A result that no batch made, with the text as its value; it is among the
 * others.  NULL: no memory. */
struct tool_result *context_new_result(allm_context *c,
                                       const allm_tool_call *call,
                                       struct slice text, bool is_error);

/* A result has come: remember it if it halts and its call is the first that
 * does. */
void context_halt(allm_context *c, const struct tool_result *r);

/* The place of a call in the answer, by id; the count if it is not there. */
size_t context_index(const allm_context *c, const char *id);

const allm_tool *context_tool(const allm_context *c, const char *name,
                              size_t *index);

/* The first event in the queue, taken out; NULL: none. */
struct turn_event *context_take(allm_context *c);
/* A zeroed one at its end; NULL: no memory. */
struct turn_event *context_queue(allm_context *c);
allm_event *context_put(allm_context *c, allm_event_type type);

/* The answer as a message of the conversation.  A root. */
allm_message *context_assistant(const allm_context *c);

#endif
