/*
 * allm_ext.h - for those who change what happens in a turn
 *
 *    1  Contexts              one answer on its way through a turn
 *    2  Stages                of a turn
 *    3  Policies              what happens next
 *    4  Journal               what is told before it takes effect
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
 * A context carries one answer through the stages of a turn: parse, validate,
 * budget, dispatch, inject, decide.  Lent to on_iteration, stages and policies;
 * all that is read from it dies with the turn.
 */
typedef struct allm_context allm_context;

typedef enum allm_decision {
    ALLM_DECISION_NONE,
    ALLM_DECISION_CONTINUE,           /* ask the model again                */
    ALLM_DECISION_DONE,
    ALLM_DECISION_ERROR,
    ALLM_DECISION_HALT,               /* stop, for a reason that is no error */
    ALLM_DECISION_RETRY               /* a blank answer: ask once more      */
} allm_decision;

typedef struct allm_call_result {     /* what a call of a tool gave         */
    size_t                size;
    const allm_tool_call *call;
    size_t                content_len;
    const char           *content;    /* as the model will see it           */
    uint32_t              is_error;
    uint32_t              rejected;   /* 1: it did not run                  */
} allm_call_result;

ALLM_API const allm_response *allm_context_response(const allm_context *);
/* The conversation before this answer. */
ALLM_API const allm_message *const *
allm_context_messages(const allm_context *, size_t *count);
ALLM_API const allm_tool *const *allm_context_tools(const allm_context *,
                                                    size_t *count);
ALLM_API uint32_t allm_context_iteration(const allm_context *);  /* from 0 */
ALLM_API uint32_t allm_context_max_iterations(const allm_context *);
/* The calls; from validate on, those that may run. */
ALLM_API const allm_tool_call *const *
allm_context_tool_calls(const allm_context *, size_t *count);
ALLM_API const allm_call_result *const *
allm_context_tool_results(const allm_context *, size_t *count);
/* What will be appended: the assistant's message and the tools'. */
ALLM_API const allm_message *const *
allm_context_result_messages(const allm_context *, size_t *count);
/* [["unknown_tool", name], ["invalid_arguments", name, [texts]]] */
ALLM_API const allm_json *allm_context_validation_errors(const allm_context *);
ALLM_API allm_decision allm_context_decision(const allm_context *);
/* Why: of HALT and ERROR; else NULL. */
ALLM_API const char *allm_context_reason(const allm_context *);
/* ALLM_OK, or the kind of the error. */
ALLM_API allm_status allm_context_status(const allm_context *);
ALLM_API const allm_error *allm_context_error(const allm_context *);
/* ["parse_tool_calls", "validate_calls", ["dispatch", 1], ...] */
ALLM_API const allm_json *allm_context_trace(const allm_context *);
ALLM_API const allm_tool_call *
allm_context_terminal_call(const allm_context *);
/* Who runs the calls; NULL: the functions of the tools. */
ALLM_API const struct allm_executor *
allm_context_executor(const allm_context *);

/* ------------------------------------------------------------ 2  Stages --- */

typedef struct allm_pipeline allm_pipeline;

/*
 * A stage of a turn.  It works on the context and answers
 *
 *   ALLM_OK      done: the next stage
 *   ALLM_EVENT   events were emitted; call it again when they are taken
 *   ALLM_AGAIN   nothing yet: call it again at the time of
 *                allm_context_wait_until(), or when the waker rings
 *   < 0          it failed: no later stage runs, the turn ends with the error
 *                of allm_context_fail(), or with "pipeline_error"
 *
 * Once a context has an error or is decided, the stages that follow are
 * skipped, unless their flags say else.
 */
typedef struct allm_stage {
    size_t       size;
    const char  *name;                /* of its own in the pipeline         */
    allm_status (*run)(allm_context *, void *ud);
    void        *ud;
    uint32_t     flags;               /* ALLM_STAGE_*                       */
    uint32_t     reserved;
} allm_stage;

enum allm_stage_flags {
    ALLM_STAGE_ON_ERROR   = 1 << 0,   /* also when there is an error        */
    ALLM_STAGE_ON_DECIDED = 1 << 1    /* also when it is decided            */
};

/*
 * The stages of a turn in their order, by default parse, validate, budget,
 * dispatch, inject and decide.  Immutable and counted: these functions give a
 * new pipeline.  A name that is not there, or is there already, makes it one
 * with an error, which a call refuses.
 */
ALLM_API allm_pipeline *allm_pipeline_new(void);
ALLM_API allm_pipeline *allm_pipeline_keep(const allm_pipeline *);
ALLM_API void allm_pipeline_free(allm_pipeline *);
ALLM_API const allm_error *allm_pipeline_error(const allm_pipeline *);
/* Before the stage of that name; NULL: at the end. */
ALLM_API allm_pipeline *allm_pipeline_insert(const allm_pipeline *,
                                             const char *before,
                                             const allm_stage *);
ALLM_API allm_pipeline *allm_pipeline_replace(const allm_pipeline *,
                                              const char *name,
                                              const allm_stage *);
ALLM_API allm_pipeline *allm_pipeline_remove(const allm_pipeline *,
                                             const char *name);
ALLM_API size_t allm_pipeline_count(const allm_pipeline *);
ALLM_API const char *allm_pipeline_name(const allm_pipeline *, size_t index);

/* What a stage changes.  Memory of the turn, zeroed; memory of this stage in
 * this turn, zeroed at first. */
ALLM_API void *allm_context_alloc(allm_context *, size_t size);
ALLM_API void *allm_context_state(allm_context *, size_t size);
ALLM_API allm_status allm_context_note(allm_context *, const char *tag,
                                       const char *text);
/* HALT needs a reason; payload: more metadata for the result, or NULL. */
ALLM_API allm_status allm_context_decide(allm_context *, allm_decision,
                                         const char *reason,
                                         const allm_json *payload);
/* Gives the error's kind, so that a stage may end with it. */
ALLM_API allm_status allm_context_fail(allm_context *, const allm_error *);
/* The calls that may run; they are borrowed. */
ALLM_API allm_status
allm_context_set_tool_calls(allm_context *, size_t count,
                            const allm_tool_call *const *);
ALLM_API allm_status allm_context_add_result(allm_context *,
                                             const allm_tool_call *,
                                             const char *content, size_t len,
                                             bool is_error);
ALLM_API allm_status allm_context_add_message(allm_context *,
                                              const allm_message *);
/* Events of tools only (and raw_chunk): ALLM_EVENT, to end with. */
ALLM_API allm_status allm_context_emit(allm_context *, const allm_event *);
ALLM_API void allm_context_wait_until(allm_context *, int64_t ns);
ALLM_API allm_waker *allm_context_waker(const allm_context *);
ALLM_API int64_t allm_context_now(const allm_context *);

/* ---------------------------------------------------------- 3  Policies --- */

/* What a loop has done so far; lent to its policies. */
typedef struct allm_loop_view {
    size_t               size;
    uint32_t             turn;        /* from 0                             */
    uint32_t             max_turns;
    uint64_t             tool_calls;  /* in the turns before                */
    const allm_usage    *usage;       /* of all answers                     */
    const allm_thread   *thread;
    const allm_step_result *step;     /* the one that ended; or NULL        */
    int64_t              began_ns, now_ns;
} allm_loop_view;

/* What will happen next; a policy may change it. */
typedef struct allm_verdict {
    size_t            size;
    allm_decision     decision;       /* CONTINUE, DONE, HALT, ERROR, RETRY */
    uint32_t          reserved;
    const char       *reason;         /* of HALT: becomes halted_reason     */
    const allm_json  *metadata;       /* of the result: more members        */
    const allm_error *error;          /* of ERROR                           */
    const char       *say;            /* CONTINUE, RETRY: a user's message,
                                         appended before the next call      */
} allm_verdict;

/*
 * A policy looks at a loop before each call of the model and after each turn.
 * What it puts into the verdict it must keep until it is called again; `state`
 * has state_size bytes, zeroed, for this loop.  Policies are asked in their
 * order; each sees the verdict of the one before it.  A RETRY counts as a turn,
 * and makes no sense before one.  < 0, or a verdict that makes no sense: the
 * loop ends with the error "policy_failed".
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

typedef enum allm_journal_kind {
    ALLM_JOURNAL_MODEL_CALL,          /* the model will be asked            */
    ALLM_JOURNAL_RESPONSE,            /* it has answered                    */
    ALLM_JOURNAL_TOOL_INTENT,         /* a tool will run                    */
    ALLM_JOURNAL_TOOL_RESULT,         /* it has ended                       */
    ALLM_JOURNAL_TURN_END             /* the turn counts                    */
} allm_journal_kind;

/* Told before it takes effect; < 0: it does not, and the loop ends with the
 * error "journal_failed". */
typedef struct allm_journal_entry {
    size_t                  size;
    allm_journal_kind       kind;
    uint32_t                turn;
    const char             *request_id;
    const allm_response    *response;   /* RESPONSE                         */
    const allm_tool_call   *call;       /* TOOL_*                           */
    allm_effect             effect;     /* TOOL_INTENT                      */
    uint32_t                is_error;   /* TOOL_RESULT                      */
    const char             *key;        /* TOOL_*: the same when it is run
                                           again                            */
    size_t                  content_len;
    const char             *content;    /* TOOL_RESULT                      */
    const char             *reason;     /* TOOL_RESULT: of a halt           */
    const allm_json        *value;      /* ...its value, or ask_user's opts */
    const allm_step_result *step;       /* TURN_END                         */
} allm_journal_entry;

/*
 * A turn that broke off, from its journal: the answer, and what its tools
 * gave.  The loop takes these in place of asking and running.  A tool that was
 * begun and has no result is run again if its effect allows it; a write is
 * left to the caller: halted_reason manual_tool_calls, and its call in
 * metadata.unknown_tool_calls.
 */
typedef struct allm_journal_tool {
    size_t      size;
    const char *tool_call_id;
    uint32_t    done;                 /* 0: begun only                      */
    uint32_t    is_error;
    size_t      content_len;
    const char *content;
    const char *reason;               /* as in the journal                  */
    const allm_json *value;
} allm_journal_tool;

typedef struct allm_journal_replay {
    size_t                         size;
    uint32_t                       turn;      /* of the one that broke off  */
    uint32_t                       reserved;
    const allm_response           *response;  /* NULL: it had not come      */
    size_t                         tool_count;
    const allm_journal_tool *const *tools;
} allm_journal_replay;

#ifdef __cplusplus
}
#endif
#endif
