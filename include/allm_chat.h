/*
 * allm_chat.h - a turn with its tools, whole chats, and agents
 *
 *    1  Results               of a step and of a chat
 *    2  Steps and chats
 *    3  Budgets               limits that several loops share
 *    4  Agents                a loop that is driven by tool calls
 */
#ifndef ALLM_CHAT_H
#define ALLM_CHAT_H

#include "allm_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_context allm_context;

/* ----------------------------------------------------------- 1  Results --- */

/*
 * The result of a step: one response, and the results of its tools.  The last
 * members are lists of the metadata with types; the library sets them, and
 * ignores them in a struct that the caller fills.
 */
typedef struct allm_step_result {
    size_t                     size;
    struct allm_home          *home;
    const allm_thread         *thread;
    const allm_response       *response;
    size_t                     tool_result_count;
    const allm_message *const *tool_results;
    uint32_t                   done;          /* "done?"                    */
    uint32_t                   reserved;
    const allm_error          *error;         /* why it failed, or NULL;
                                                 "metadata.error"           */
    const allm_json           *metadata;
    const allm_json           *kept;
    size_t                       manual_tool_call_count;
    const allm_tool_call *const *manual_tool_calls;     /* the caller answers
                                                 these                      */
    size_t                       unresolved_tool_call_count;
    const allm_tool_call *const *unresolved_tool_calls; /* likewise, but a
                                                 tool has halted the chat   */
} allm_step_result;

/*
 * Creates a step result.  The caller frees it.  allm_step_result_error()
 * returns the member `error`; if the step result was rejected, that is why.
 * allm_step_result_json() returns its JSON form.
 */
ALLM_API allm_step_result *allm_step_result_new(const allm_step_result *);
ALLM_API void allm_step_result_free(allm_step_result *);
ALLM_API const allm_error *allm_step_result_error(const allm_step_result *);
ALLM_API allm_text *allm_step_result_json(const allm_step_result *,
                                          allm_form form);

/*
 * The result of a chat: its steps, and why it ended.  The last members are
 * values of the metadata with types, as in a step result.
 */
typedef struct allm_chat_result {
    size_t                         size;
    struct allm_home              *home;
    const allm_thread             *thread;
    const allm_response           *final_response;
    size_t                         step_count;
    const allm_step_result *const *steps;
    const char                    *halted_reason; /* completed, max_turns.. */
    const char                    *pending_question;
    const char                    *pending_tool_call_id;
    const allm_error              *error;         /* why it failed, or NULL;
                                                     "metadata.error"       */
    const allm_json               *metadata;
    const allm_json               *kept;
    size_t                         manual_tool_call_count;
    const allm_tool_call *const   *manual_tool_calls; /* the caller answers
                                                     these                  */
    size_t                         unresolved_tool_call_count;
    const allm_tool_call *const   *unresolved_tool_calls; /* likewise, but a
                                                     tool has halted the
                                                     chat                   */
    size_t                         unknown_tool_call_count;
    const allm_tool_call *const   *unknown_tool_calls; /* a journal says that
                                                     they started, not how
                                                     they ended             */
    const allm_error              *pass_2_error;  /* of structured_finalize */
} allm_chat_result;

/*
 * Creates a chat result.  The caller frees it.  allm_chat_result_error()
 * returns the member `error`; if the chat result was rejected, that is why.
 * allm_chat_result_json() returns its JSON form.
 */
ALLM_API allm_chat_result *allm_chat_result_new(const allm_chat_result *);
ALLM_API void allm_chat_result_free(allm_chat_result *);
ALLM_API const allm_error *allm_chat_result_error(const allm_chat_result *);
ALLM_API allm_text *allm_chat_result_json(const allm_chat_result *,
                                          allm_form form);
/* True unless halted_reason is "completed".  True for NULL. */
ALLM_API bool allm_chat_result_halted(const allm_chat_result *);

/* --------------------------------------------------- 2  Steps and chats --- */

/*
 * Runs a step: one response and the tools that it calls.  The stream emits the
 * events of the response, three events for each tool when it ends, and
 * step_completed.  The thread is not changed; the thread of the result has the
 * new messages.
 *
 * In manual mode, and for tools marked manual, nothing is run: the calls are
 * in the result.  An unknown tool is an error event before step_completed.  If
 * allm_stream_wait() is the first call on the stream, it returns that error,
 * and there is no result.
 */
ALLM_API allm_stream *allm_step(const allm_engine *, const allm_thread *,
                                const allm_call_opts *);

/*
 * Runs a chat: steps until the model is done, a tool or a limit stops it, or a
 * question must be answered.  The last event is chat_completed, and
 * halted_reason says why it ended.  A cancelled chat does not emit this event,
 * but its result has the steps so far.
 */
ALLM_API allm_stream *allm_chat(const allm_engine *, const allm_thread *,
                                const allm_call_opts *);

/*
 * The complete result of a tool that max_tool_output has truncated, valid
 * while the stream lives; NULL if it was not truncated.
 */
ALLM_API const char *allm_stream_tool_output(const allm_stream *,
                                             const char *tool_call_id,
                                             size_t *len);

/*
 * The results, borrowed from the stream.  NULL until allm_stream_next() or
 * allm_stream_wait() has returned ALLM_OK.
 */
ALLM_API const allm_step_result *allm_stream_step_result(const allm_stream *);
ALLM_API const allm_chat_result *allm_stream_chat_result(const allm_stream *);

/* ----------------------------------------------------------- 3  Budgets --- */

/*
 * A limit on what several loops may use together: pass the same budget to a
 * loop and to the loops that its tools start.  Any number of threads may share
 * it.  A call reserves what it may need before it is made, and returns what it
 * did not use.  A loop that finds the budget empty halts with the reason
 * "budget".
 */
typedef struct allm_budget allm_budget;

/* The limits of a budget. */
typedef struct allm_budget_opts {
    size_t                size;
    uint64_t              max_tokens;         /* 0: no limit; so below      */
    uint64_t              max_tool_calls;
    uint64_t              max_ms;             /* from the first use         */
    double                max_cost;           /* US dollars; needs prices   */
    uint64_t              reserve_tokens;     /* for each call; 0: 1        */
    const allm_allocator *allocator;
} allm_budget_opts;

/*
 * Creates a budget. allm_budget_keep() adds a reference, allm_budget_free()
 * drops one. allm_budget_error() returns why it was rejected, or NULL.
 */
ALLM_API allm_budget *allm_budget_new(const allm_budget_opts *);
ALLM_API allm_budget *allm_budget_keep(allm_budget *);
ALLM_API void allm_budget_free(allm_budget *);
ALLM_API const allm_error *allm_budget_error(const allm_budget *);
/* What has been used so far. */
ALLM_API uint64_t allm_budget_tokens(const allm_budget *);
ALLM_API uint64_t allm_budget_tool_calls(const allm_budget *);
ALLM_API double allm_budget_cost(const allm_budget *);

/* ------------------------------------------------------------ 4  Agents --- */

/* The options of an agent. */
typedef struct allm_agent_opts {
    size_t                size;
    const allm_call_opts *call;
    uint32_t              max_iterations;     /* 0: 10                      */
    uint32_t              max_blank_stops;    /* 0: 3                       */
    uint32_t              max_repeats;        /* equal errors in a row; 0: 3 */
    uint32_t              flags;              /* ALLM_AGENT_*               */
    const char           *terminal_tool;      /* a call of it ends the loop */
    const char           *blank_stop_nudge;   /* sent after a blank answer  */
    void                (*on_iteration)(const allm_context *, void *ud);
    void                 *on_iteration_ud;
} allm_agent_opts;

/* The flags of an agent. */
typedef enum allm_agent_flags {
    ALLM_AGENT_NO_BREAKER = 1 << 0,   /* errors may repeat without limit    */
    ALLM_AGENT_PARALLEL   = 1 << 1,   /* tools run concurrently             */
    ALLM_AGENT_ANY_ARGUMENTS = 1 << 2 /* arguments are not checked          */
} allm_agent_flags;

/* The result of an agent. */
typedef struct allm_agent_result {
    size_t               size;
    struct allm_home    *home;
    const allm_response *response;    /* the last one; NULL: none           */
    const allm_thread   *messages;    /* all turns, without the last answer */
    const allm_usage    *usage;       /* of all calls together              */
    uint64_t             iterations;  /* requests to the model              */
    uint64_t             tool_calls;
    const char          *reason;      /* completed, budget_exceeded, ...    */
    const allm_error    *error;       /* NULL: it completed or was halted   */
    const allm_json     *trace;       /* of the last turn                   */
    const allm_json     *metadata;
} allm_agent_result;

/*
 * Runs an agent's loop.  Unlike a chat, it looks at the calls of a response
 * and not at its finish reason, reports unknown tools and invalid arguments to
 * the model, runs tools one after the other, checks its limit before the tools
 * of the last response, and does not append the last response to the messages.
 */
ALLM_API allm_stream *allm_agent(const allm_engine *, const allm_thread *,
                                 const allm_agent_opts *);
/*
 * The result, borrowed from the stream.  NULL until the stream has ended with
 * ALLM_OK.
 */
ALLM_API const allm_agent_result *
allm_stream_agent_result(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
