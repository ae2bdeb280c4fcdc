/*
 * allm_chat.h - a turn with its tools; turns until it is done
 *
 *    1  Results               of a step, of a chat
 *    2  Steps and chats
 *    3  Budgets               limits that loops share
 *    4  Agents                the same machine as an agent's loop
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

typedef struct allm_step_result {
    size_t                     size;
    struct allm_home          *home;
    const allm_thread         *thread;
    const allm_response       *response;
    size_t                     tool_result_count;
    const allm_message *const *tool_results;
    uint32_t                   done;          /* "done?"                    */
    uint32_t                   reserved;
    const allm_error          *error;         /* metadata.error             */
    const allm_json           *metadata;
    const allm_json           *kept;
} allm_step_result;

ALLM_API allm_step_result *allm_step_result_new(const allm_step_result *);
ALLM_API void allm_step_result_free(allm_step_result *);
ALLM_API const allm_error *allm_step_result_error(const allm_step_result *);
ALLM_API allm_text *allm_step_result_json(const allm_step_result *,
                                          uint32_t form);

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
    const allm_error              *error;         /* metadata.error         */
    const allm_json               *metadata;
    const allm_json               *kept;
} allm_chat_result;

ALLM_API allm_chat_result *allm_chat_result_new(const allm_chat_result *);
ALLM_API void allm_chat_result_free(allm_chat_result *);
ALLM_API const allm_error *allm_chat_result_error(const allm_chat_result *);
ALLM_API allm_text *allm_chat_result_json(const allm_chat_result *,
                                          uint32_t form);
/* True for every reason but "completed"; NULL counts as halted. */
ALLM_API bool allm_chat_result_halted(const allm_chat_result *);

/* --------------------------------------------------- 2  Steps and chats --- */

/*
 * One answer, and the tools it asks for: the events of the answer, three of
 * each tool as it ends, step_completed.  The thread is not changed; the
 * result's has the new messages.
 *
 * In mode manual, and for tools marked manual, nothing is run: the calls are
 * in the result.  A tool that nobody knows is an error event before
 * step_completed; where allm_stream_wait() is the first call it is the error
 * that wait gives, and there is no result.
 */
ALLM_API allm_stream *allm_step(const allm_engine *, const allm_thread *,
                                const allm_call_opts *);

/*
 * Steps until the model is done, a tool or a limit stops it, or somebody must
 * be asked; chat_completed is the last event and tells which.  A cancelled
 * chat has no such event, but its result has the steps so far.
 */
ALLM_API allm_stream *allm_chat(const allm_engine *, const allm_thread *,
                                const allm_call_opts *);

/* The whole of a result that max_tool_output has cut, while the stream lives;
 * NULL: it was not cut. */
ALLM_API const char *allm_stream_tool_output(const allm_stream *,
                                             const char *tool_call_id,
                                             size_t *len);

/* The results, once allm_stream_next() or _wait() gave ALLM_OK. */
ALLM_API const allm_step_result *allm_stream_step_result(const allm_stream *);
ALLM_API const allm_chat_result *allm_stream_chat_result(const allm_stream *);

/* ----------------------------------------------------------- 3  Budgets --- */

typedef struct allm_budget allm_budget;

/*
 * A limit on what loops may use, together: give one budget to a loop and to
 * the loops that its tools start.  Any number of threads may share it.  What a
 * call may need is taken out before it is made, and what it did not need is
 * put back.  A loop that finds it empty halts with the reason "budget".
 */
typedef struct allm_budget_opts {
    size_t                size;
    uint64_t              max_tokens;         /* 0: no limit, as below      */
    uint64_t              max_tool_calls;
    uint64_t              max_ms;             /* from the first use         */
    double                max_cost;           /* US dollars; needs prices   */
    uint64_t              reserve_tokens;     /* before a call: 0: 1        */
    const allm_allocator *allocator;
} allm_budget_opts;

ALLM_API allm_budget *allm_budget_new(const allm_budget_opts *);
ALLM_API allm_budget *allm_budget_keep(allm_budget *);
ALLM_API void allm_budget_free(allm_budget *);
ALLM_API const allm_error *allm_budget_error(const allm_budget *);
ALLM_API uint64_t allm_budget_tokens(const allm_budget *);      /* used */
ALLM_API uint64_t allm_budget_tool_calls(const allm_budget *);
ALLM_API double allm_budget_cost(const allm_budget *);

/* ------------------------------------------------------------ 4  Agents --- */

/*
 * The loop of an agent.  Other than a chat it goes by the calls of an answer
 * and not by its finish reason, tells the model about unknown tools and wrong
 * arguments, runs tools one after the other, has its limit before the tools of
 * the last answer, and does not append the last answer.
 */
typedef struct allm_agent_opts {
    size_t                size;
    const allm_call_opts *call;
    uint32_t              max_iterations;     /* 0: 10                      */
    uint32_t              max_blank_stops;    /* 0: 3                       */
    uint32_t              max_repeats;        /* equal errors in a row; 0: 3 */
    uint32_t              flags;              /* ALLM_AGENT_*               */
    const char           *terminal_tool;      /* a call of it is the end    */
    const char           *blank_stop_nudge;   /* said after a blank answer  */
    void                (*on_iteration)(const allm_context *, void *ud);
    void                 *on_iteration_ud;
} allm_agent_opts;

enum allm_agent_flags {
    ALLM_AGENT_NO_BREAKER = 1 << 0,   /* errors may repeat for ever         */
    ALLM_AGENT_PARALLEL   = 1 << 1,   /* tools run side by side             */
    ALLM_AGENT_ANY_ARGUMENTS = 1 << 2 /* arguments are not checked          */
};

typedef struct allm_agent_result {
    size_t               size;
    struct allm_home    *home;
    const allm_response *response;    /* the last one; NULL: none came      */
    const allm_thread   *messages;    /* all turns, without the last answer */
    const allm_usage    *usage;       /* of all calls together              */
    uint64_t             iterations;  /* in which the model was asked       */
    uint64_t             tool_calls;
    const char          *reason;      /* completed, budget_exceeded, ...    */
    const allm_error    *error;       /* NULL: it is done, or was halted    */
    const allm_json     *trace;       /* of the last turn                   */
    const allm_json     *metadata;
} allm_agent_result;

ALLM_API allm_stream *allm_agent(const allm_engine *, const allm_thread *,
                                 const allm_agent_opts *);
ALLM_API const allm_agent_result *
allm_stream_agent_result(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
