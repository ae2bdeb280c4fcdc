/*
 * allm_ext.h - change what happens in a turn
 *
 *    1  Contexts              a response on its way through a turn
 *    2  Stages                the stages of a turn
 *    3  Policies              decide what happens next
 *    4  Journal               written before a step takes effect
 */
#ifndef ALLM_EXT_H
#define ALLM_EXT_H

#include "allm_adapter.h"
#include "allm_chat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
struct allm_executor;

/* ---------------------------------------------------------- 1  Contexts --- */

/*
 * A context carries one response through the stages of a turn: parse,
 * validate, budget, dispatch, inject, decide.  It is passed to on_iteration,
 * stages and policies; whatever they read from it is valid until the turn
 * ends.
 */
typedef struct allm_context allm_context;

/* What the loop does after a turn. */
typedef enum allm_decision {
    ALLM_DECISION_NONE,
    ALLM_DECISION_CONTINUE,           /* request the model again            */
    ALLM_DECISION_DONE,
    ALLM_DECISION_ERROR,
    ALLM_DECISION_HALT,               /* stop, without an error             */
    ALLM_DECISION_RETRY               /* a blank answer: try once more      */
} allm_decision;

/* The result of a tool call. */
typedef struct allm_call_result {
    size_t                size;
    const allm_tool_call *call;
    size_t                content_len;
    const char           *content;    /* as the model will see it           */
    uint32_t              is_error;
    uint32_t              rejected;   /* 1: it did not run                  */
} allm_call_result;

/* The response of this turn. */
ALLM_API const allm_response *allm_context_response(const allm_context *);
/* The conversation before this response. */
ALLM_API const allm_message *const *
allm_context_messages(const allm_context *, size_t *count);
/* The tools that the model may call. */
ALLM_API const allm_tool *const *allm_context_tools(const allm_context *,
                                                    size_t *count);
/* The number of this turn, from 0, and the limit. */
ALLM_API uint32_t allm_context_iteration(const allm_context *);
ALLM_API uint32_t allm_context_max_iterations(const allm_context *);
/* The calls; after the stage validate, those that may run. */
ALLM_API const allm_tool_call *const *
allm_context_tool_calls(const allm_context *, size_t *count);
/* The results of the calls. */
ALLM_API const allm_call_result *const *
allm_context_tool_results(const allm_context *, size_t *count);
/* The messages that will be appended: the assistant's and the tools'. */
ALLM_API const allm_message *const *
allm_context_result_messages(const allm_context *, size_t *count);
/*
 * What the stage validate found: [["unknown_tool", name],
 * ["invalid_arguments", name, [messages]]].
 */
ALLM_API const allm_json *allm_context_validation_errors(const allm_context *);
/* The decision, ALLM_DECISION_NONE before there is one. */
ALLM_API allm_decision allm_context_decision(const allm_context *);
/* The reason of HALT or ERROR; else NULL. */
ALLM_API const char *allm_context_reason(const allm_context *);
/* ALLM_OK, or the status of the error's kind; and the error, or NULL. */
ALLM_API allm_status allm_context_status(const allm_context *);
ALLM_API const allm_error *allm_context_error(const allm_context *);
/*
 * The stages that ran: ["parse_tool_calls", "validate_calls", ["dispatch", 1],
 * ...].
 */
ALLM_API const allm_json *allm_context_trace(const allm_context *);
/* The call of the terminal tool, or NULL. */
ALLM_API const allm_tool_call *
allm_context_terminal_call(const allm_context *);
/* The executor of the calls; NULL: the functions of the tools. */
ALLM_API const struct allm_executor *
allm_context_executor(const allm_context *);

/* ------------------------------------------------------------ 2  Stages --- */

/*
 * The stages of a turn in order, by default parse, validate, budget, dispatch,
 * inject and decide.  A pipeline is immutable and reference-counted.
 */
typedef struct allm_pipeline allm_pipeline;

/*
 * A stage of a turn. run() works on the context and returns
 *
 *   ALLM_OK      done: continue with the next stage
 *   ALLM_EVENT   it emitted events; called again when they have been read
 *   ALLM_AGAIN   nothing yet; called again at the time of
 *                allm_context_wait_until(), or when the waker rings
 *   < 0          it failed: no later stage runs, and the turn ends with the
 *                error of allm_context_fail(), or with "pipeline_error"
 *
 * Once a context has an error or a decision, the following stages are skipped,
 * unless their flags say otherwise.
 */
typedef struct allm_stage {
    size_t       size;
    const char  *name;                /* unique in the pipeline             */
    allm_status (*run)(allm_context *, void *ud);
    void        *ud;
    uint32_t     flags;               /* ALLM_STAGE_*                       */
    uint32_t     reserved;
} allm_stage;

/* The flags of a stage. */
typedef enum allm_stage_flags {
    ALLM_STAGE_ON_ERROR   = 1 << 0,   /* run even after an error            */
    ALLM_STAGE_ON_DECIDED = 1 << 1    /* run even after a decision          */
} allm_stage_flags;

/*
 * Creates the default pipeline. allm_pipeline_keep() adds a reference,
 * allm_pipeline_free() drops one. allm_pipeline_error() returns what is wrong
 * with it, or NULL; a call rejects a pipeline with an error.
 */
ALLM_API allm_pipeline *allm_pipeline_new(void);
ALLM_API allm_pipeline *allm_pipeline_keep(const allm_pipeline *);
ALLM_API void allm_pipeline_free(allm_pipeline *);
ALLM_API const allm_error *allm_pipeline_error(const allm_pipeline *);
/*
 * These three return a new pipeline. insert puts the stage before the one of
 * that name; NULL: at the end.  A name that does not exist, or exists already,
 * makes a pipeline with an error.
 */
ALLM_API allm_pipeline *allm_pipeline_insert(const allm_pipeline *,
                                             const char *before,
                                             const allm_stage *);
ALLM_API allm_pipeline *allm_pipeline_replace(const allm_pipeline *,
                                              const char *name,
                                              const allm_stage *);
ALLM_API allm_pipeline *allm_pipeline_remove(const allm_pipeline *,
                                             const char *name);
/* The number of stages, and the name of the stage at an index. */
ALLM_API size_t allm_pipeline_count(const allm_pipeline *);
ALLM_API const char *allm_pipeline_name(const allm_pipeline *, size_t index);

/* Allocates zeroed memory that is valid until the turn ends. */
ALLM_API void *allm_context_alloc(allm_context *, size_t size);
/*
 * The memory of this stage in this turn, zeroed at first; the same memory on
 * every call.
 */
ALLM_API void *allm_context_state(allm_context *, size_t size);
/* Adds an entry [tag, text] to the trace. */
ALLM_API allm_status allm_context_note(allm_context *, const char *tag,
                                       const char *text);
/*
 * Decides the turn.  HALT needs a reason. payload: more metadata for the
 * result, or NULL.
 */
ALLM_API allm_status allm_context_decide(allm_context *, allm_decision,
                                         const char *reason,
                                         const allm_json *payload);
/*
 * Sets the error.  Returns the status of its kind, so a stage can return it
 * directly.
 */
ALLM_API allm_status allm_context_fail(allm_context *, const allm_error *);
/* Sets the calls that may run.  They are borrowed. */
ALLM_API allm_status
allm_context_set_tool_calls(allm_context *, size_t count,
                            const allm_tool_call *const *);
/* Adds the result of a call, or a message to append. */
ALLM_API allm_status allm_context_add_result(allm_context *,
                                             const allm_tool_call *,
                                             const char *content, size_t len,
                                             bool is_error);
ALLM_API allm_status allm_context_add_message(allm_context *,
                                              const allm_message *);
/*
 * Emits an event: of tools only, or raw_chunk.  Returns ALLM_EVENT, which the
 * stage returns.
 */
ALLM_API allm_status allm_context_emit(allm_context *, const allm_event *);
/*
 * For a stage that waits: the time to call it again, the waker that another
 * thread rings (borrowed until the turn ends), and the time of the engine's
 * clock in nanoseconds.
 */
ALLM_API void allm_context_wait_until(allm_context *, int64_t until_ns);
ALLM_API allm_waker *allm_context_waker(const allm_context *);
ALLM_API int64_t allm_context_now(const allm_context *);

/* ---------------------------------------------------------- 3  Policies --- */

/* What a loop has done so far.  Borrowed by its policies. */
typedef struct allm_loop_view {
    size_t               size;
    uint32_t             turn;        /* from 0                             */
    uint32_t             max_turns;
    uint64_t             tool_calls;  /* in the turns before                */
    const allm_usage    *usage;       /* of all responses                   */
    const allm_thread   *thread;
    const allm_step_result *step;     /* the one that ended; or NULL        */
    int64_t              began_ns, now_ns;
} allm_loop_view;

/* What happens next; a policy may change it. */
typedef struct allm_verdict {
    size_t            size;
    allm_decision     decision;       /* CONTINUE, DONE, HALT, ERROR, RETRY */
    uint32_t          reserved;
    const char       *reason;         /* for HALT: the halted_reason        */
    const allm_json  *metadata;       /* more members for the result        */
    const allm_error *error;          /* for ERROR                          */
    const char       *say;            /* CONTINUE, RETRY: a user message to
                                         append before the next call        */
} allm_verdict;

/*
 * A policy looks at a loop before each request to the model and after each
 * turn.  What it puts into the verdict must stay valid until it is called
 * again.  `state` has state_size bytes, initially zero, for this loop.
 * Policies are called in order; each sees the verdict of the one before.  A
 * RETRY counts as a turn, and is not allowed before one.  A status < 0, or an
 * impossible verdict, ends the loop with the error "policy_failed".
 */
typedef struct allm_policy {
    size_t       size;
    const char  *name;
    size_t       state_size;
    void        *ud;
    allm_status (*before_turn)(void *state, const allm_loop_view *,
                               allm_verdict *, void *ud);
    allm_status (*after_turn)(void *state, const allm_loop_view *,
                              const allm_context *, allm_verdict *, void *ud);
    void        (*close)(void *state, void *ud);
} allm_policy;

/* ----------------------------------------------------------- 4  Journal --- */

/* The kinds of entries. */
typedef enum allm_journal_kind {
    ALLM_JOURNAL_MODEL_CALL,          /* a request to the model begins      */
    ALLM_JOURNAL_RESPONSE,            /* its response is complete           */
    ALLM_JOURNAL_TOOL_INTENT,         /* a tool is about to run             */
    ALLM_JOURNAL_TOOL_RESULT,         /* it has ended                       */
    ALLM_JOURNAL_TURN_END,            /* the turn is complete               */
    ALLM_JOURNAL_END                  /* the whole call has its result      */
} allm_journal_kind;

/*
 * An entry of a journal, written before it takes effect.  The function returns
 *
 *   ALLM_OK      written: it takes effect
 *   ALLM_AGAIN   not yet: called again with the same entry when the waker is
 *                rung, or earlier; running tools continue
 *   < 0          the loop ends with the error "journal_failed"
 *
 * Entries up to the next one without `more` are one commit, which may be
 * written when that one comes.  total_ms ends the wait for a MODEL_CALL at
 * once, for the others after 10 s.  A cancelled or failed call has no END.
 */
typedef struct allm_journal_entry {
    size_t                  size;
    allm_journal_kind       kind;
    uint32_t                turn;
    const char             *request_id;
    const allm_response    *response;   /* RESPONSE                         */
    const allm_tool_call   *call;       /* TOOL_*                           */
    allm_effect             effect;     /* TOOL_*                           */
    uint32_t                is_error;   /* TOOL_RESULT                      */
    const char             *key;        /* TOOL_*: allm_tool_run_key()      */
    size_t                  content_len;
    const char             *content;    /* TOOL_RESULT: all of it           */
    const char             *reason;     /* TOOL_RESULT: of a halt           */
    const allm_json        *value;      /* its value, ask_user's opts, or the
                                           error of tool_error; else images */
    const allm_step_result *step;       /* TURN_END; END of allm_step()     */
    allm_waker             *waker;      /* to ring after AGAIN; valid while
                                           the stream lives                 */
    uint32_t                more;       /* 1: more of this commit follows   */
    uint32_t                index;      /* TOOL_*: in the response          */
    uint32_t                pass;       /* 1; 2: of structured_finalize     */
    uint32_t                reserved;
    const allm_thread      *thread;     /* MODEL_CALL: as it is sent        */
    size_t                  tool_count;
    const allm_tool *const *tools;      /* MODEL_CALL: as they are sent     */
    const allm_json        *counts;     /* MODEL_CALL: tool_calls, usage and
                                           others that a replay needs       */
    const allm_chat_result *chat_result;    /* END of a chat or an agent    */
} allm_journal_entry;

/* A tool of a turn that was interrupted. */
typedef struct allm_journal_tool {
    size_t      size;
    const char *tool_call_id;
    uint32_t    done;                 /* 0: started, no result              */
    uint32_t    is_error;
    size_t      content_len;
    const char *content;
    const char *reason;               /* as in the journal                  */
    const allm_json *value;           /* if allowed: the reach, or NULL     */
    allm_effect effect;               /* as in its TOOL_INTENT              */
    uint32_t    decided;              /* not started: 1 allowed, 2 denied for
                                         the reason in content; 0: neither  */
} allm_journal_tool;

/*
 * A turn that was interrupted, from its journal: the response, and the results
 * of its tools.  The loop uses these instead of requesting and running again.
 * The call needs the thread and the request id of the turn's MODEL_CALL.
 *
 * A tool that was started and has no result is run again, unless it was a
 * write then, or is one now, or is not declared: such a call is left to the
 * caller.  halted_reason is manual_tool_calls, and the call is in
 * metadata.unknown_tool_calls.
 * With steps, pass and counts, the result is that of a loop that was not
 * interrupted.  The state of the caller's policies starts afresh.
 */
typedef struct allm_journal_replay {
    size_t                         size;
    uint32_t                       turn;      /* the interrupted one        */
    uint32_t                       pass;      /* of its MODEL_CALL; 0: 1    */
    const allm_response           *response;  /* NULL: not yet complete     */
    size_t                         tool_count;
    const allm_journal_tool *const *tools;
    size_t                         step_count;
    const allm_step_result *const *steps;     /* of the TURN_ENDs before    */
    const allm_json               *counts;    /* of its MODEL_CALL, or NULL */
    size_t                         earlier_count;
    const allm_journal_tool *const *earlier;  /* results of those turns, for
                                                 max_tool_output            */
} allm_journal_replay;

#ifdef __cplusplus
}
#endif
#endif
