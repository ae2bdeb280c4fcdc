/*
 * allm_tool.h - tools that a model may call
 *
 *    1  Tools
 *    2  Answers               how a tool's function returns its result
 *    3  Failures              what to do when a call fails
 *    4  Calls outside a chat  running calls by your own code
 */
#ifndef ALLM_TOOL_H
#define ALLM_TOOL_H

#include "allm_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_stream allm_stream;
struct allm_encoder;
struct allm_executor;

/* ------------------------------------------------------------- 1  Tools --- */

/*
 * What running a tool changes, which decides whether a call may be run again
 * after a crash: a write may not.
 */
typedef enum allm_effect {
    ALLM_EFFECT_WRITE, ALLM_EFFECT_IDEMPOTENT, ALLM_EFFECT_PURE
} allm_effect;

/*
 * One call of one tool, and the function of a tool.  The run and the arguments
 * are borrowed until the function returns.
 */
typedef struct allm_tool_run allm_tool_run;
typedef void (*allm_tool_fn)(allm_tool_run *, const allm_json *args, void *ud);

/* A tool: its description for the model, and the function that runs it. */
typedef struct allm_tool {
    size_t            size;
    struct allm_home *home;
    const char       *name;           /* [A-Za-z0-9_-]{1,64}                */
    const char       *description;
    const allm_json  *schema;         /* JSON Schema of the arguments       */
    const char       *schema_text;    /* or as a string, if schema is NULL  */
    allm_tool_fn      call;           /* "handler"; NULL: no function       */
    void             *ud;
    uint32_t          manual;         /* 1: the caller answers its calls    */
    uint32_t          compact;        /* 1: described to the model in one
                                         line                               */
    allm_effect       effect;
    uint32_t          flags;          /* ALLM_TOOL_*                        */
    const char       *summary;
    const allm_json  *metadata;
    const allm_json  *kept;
    uint32_t          timeout_ms;     /* with ALLM_TOOL_OWN_TIME            */
    uint32_t          reserved;
} allm_tool;

/* The flags of a tool. */
typedef enum allm_tool_flags {
    ALLM_TOOL_INLINE = 1 << 0,        /* never blocks: called in the thread
                                         that pulls, not in a worker        */
    ALLM_TOOL_OWN_TIME = 1 << 1       /* timeout_ms (UINT32_MAX: none)
                                         replaces the timeout of the chat   */
} allm_tool_flags;

/*
 * Creates a tool; name, description and a schema are required.  The caller
 * frees it; an engine or call that uses it keeps its own reference.
 * allm_tool_error() returns why it was rejected, or NULL. allm_tool_json()
 * gives its JSON form: the plain form leaves the function out; the tagged form
 * of a tool with a function is an error.
 */
ALLM_API allm_tool *allm_tool_new(const allm_tool *fields);
ALLM_API void allm_tool_free(allm_tool *);
ALLM_API const allm_error *allm_tool_error(const allm_tool *);
ALLM_API allm_text *allm_tool_json(const allm_tool *, allm_form form);

/*
 * Checks a tool.  Returns NULL if it is valid, else an error that the caller
 * frees.
 */
ALLM_API allm_error *allm_validate_tool(const allm_tool *);

/* ----------------------------------------------------------- 2  Answers --- */

/*
 * The function of a tool answers its run exactly once before it returns, with
 * one of the first six functions; or it defers the run and answers later, from
 * any thread.  A function that does neither has failed (invalid_return).
 *
 * All six return ALLM_OK; ALLM_ERR_MISUSE if the run was already answered, in
 * which case the first answer counts; or ALLM_ERR_NOMEM, and the call fails.
 * An answer that is no longer awaited is dropped, which is ALLM_OK.
 *
 * Functions run in worker threads, several at once; those of a tool with
 * ALLM_TOOL_INLINE run in the thread that pulls.  What `ud` points to must
 * live until the function has returned, even after its timeout.
 */

/*
 * The call succeeded with this value.  The model sees a string as it is and
 * anything else as JSON.  NULL is JSON null.
 */
ALLM_API allm_status allm_tool_ok(allm_tool_run *, const allm_json *value);
/* The call succeeded with this string. */
ALLM_API allm_status allm_tool_text(allm_tool_run *, const char *text,
                                    size_t len);
/* The call failed; the model sees the message. */
ALLM_API allm_status allm_tool_fail(allm_tool_run *, const char *text);
/*
 * Only the user knows the answer: the chat stops with this question. opts is
 * an object for the program, or NULL.
 */
ALLM_API allm_status allm_tool_ask(allm_tool_run *, const char *question,
                                   const allm_json *opts);
/*
 * Stops the chat after the tools of this turn, for this reason.  The reason
 * may not be empty, nor one of the library's own (ask_user, max_turns,
 * halt_when, tool_error, cancelled, completed, error, manual_tool_calls,
 * budget); else the call fails.
 */
ALLM_API allm_status allm_tool_halt(allm_tool_run *, const char *reason,
                                    const allm_json *value);
/*
 * The function itself failed unexpectedly, as by an exception in another
 * language.
 */
ALLM_API allm_status allm_tool_raise(allm_tool_run *, const char *text);

/*
 * Defers the answer.  The result is a root: answer it once and free it once,
 * from any thread, even after the stream has been freed.  NULL: the run was
 * already answered or deferred.
 */
ALLM_API allm_tool_run *allm_tool_defer(allm_tool_run *);
/* Frees a deferred run.  A run that was not answered has failed. */
ALLM_API void allm_tool_run_free(allm_tool_run *root);
/*
 * Calls fn(run, arguments, ud) after this delay of the engine's clock, in the
 * thread that pulls; fn answers instead of this function.  No thread is
 * blocked in the meantime.
 */
ALLM_API allm_status allm_tool_later(allm_tool_run *, uint32_t delay_ms,
                                     allm_tool_fn fn, void *ud);
/*
 * True if the answer is no longer awaited: the timeout has passed, or the
 * stream was cancelled or freed.  A function that takes long should check it
 * from time to time.
 */
ALLM_API bool allm_tool_cancelled(const allm_tool_run *);

/* A function that is called when the answer is no longer awaited. */
typedef void (*allm_tool_cancel_fn)(void *ud);
/*
 * Calls fn(ud) once, from any thread, when the answer is no longer awaited: as
 * soon as allm_tool_cancelled() would be true; at once if it is already.  Once
 * the run was answered or freed, fn is not running and will not be called.  fn
 * must be quick and may not call a function with this run.
 * ALLM_ERR_MISUSE: the run was answered, or has such a function.
 */
ALLM_API allm_status allm_tool_on_cancel(allm_tool_run *,
                                         allm_tool_cancel_fn fn, void *ud);

/*
 * What a function may read, borrowed from the run: the call, the context of
 * the engine or call, and the ids (or NULL).
 */
ALLM_API const allm_tool_call *allm_tool_run_call(const allm_tool_run *);
ALLM_API const allm_json *allm_tool_run_context(const allm_tool_run *);
ALLM_API const char *allm_tool_run_session_id(const allm_tool_run *);
ALLM_API const char *allm_tool_run_request_id(const allm_tool_run *);
/*
 * The idempotency key of this call, borrowed from the run: the same string each
 * time this call is run, even after a crash, and another one for every other
 * call.  It is REQUEST_ID/TURN/CALL_ID, or PREFIX/TURN/INDEX if the call
 * options have a key_prefix.  A step of a recipe has the key of its call and a
 * number.  NULL outside a step, chat or agent.
 */
ALLM_API const char *allm_tool_run_key(const allm_tool_run *);

/* ---------------------------------------------------------- 3  Failures --- */

/*
 * Decides what to do about a failed call.  Called once for each, in the thread
 * that pulls.  The error is of kind TOOL; after allm_tool_fail() its reason is
 * handler_failed and its message is the text given there.  Answer the run with
 * allm_tool_ok() or allm_tool_text() to replace the failure, with
 * allm_tool_halt() (whose reason and value are ignored) to stop the chat, or
 * with allm_tool_raise() if this function has failed too.  Any other answer,
 * or none, stops the chat.
 */
typedef void (*allm_tool_error_fn)(allm_tool_run *, const allm_error *,
                                   void *ud);

/* What happens when a call fails. */
typedef enum allm_tool_policy {
    ALLM_TOOL_POLICY_CONTINUE,  /* the model sees the failure               */
    ALLM_TOOL_POLICY_HALT,      /* the chat stops with tool_error           */
    ALLM_TOOL_POLICY_CALLBACK   /* on_tool_error_fn decides                 */
} allm_tool_policy;

/* ---------------------------------------------- 4  Calls outside a chat --- */

/*
 * Returns the answer to a call of "tool_help", the tool that explains compact
 * tools, for programs that answer calls themselves.  The caller frees it.
 */
ALLM_API allm_text *allm_tool_help(size_t count, const allm_tool *const *tools,
                                   const allm_json *arguments);

/* The options of allm_tool_calls(). */
typedef struct allm_tool_calls_opts {
    size_t                  size;
    size_t                  tool_count;
    const allm_tool *const *tools;    /* NULL: the engine's                 */
    const allm_json        *context;          /* NULL: the engine's         */
    const char             *session_id;
    const char             *request_id;
    allm_tool_policy        on_tool_error;
    uint32_t                max_concurrency;  /* 0: twice the CPUs          */
    allm_tool_error_fn      on_tool_error_fn;
    void                   *on_tool_error_ud;
    uint32_t                tool_timeout_ms;  /* 0: 30 s; UINT32_MAX: none  */
    uint32_t                live_tool_events; /* 1: emit "started" when the
                                                 tool starts                */
    uint32_t                validate_arguments;   /* 1: check by the schema */
    uint32_t                reserved;
    const struct allm_executor *executor;     /* allm_executor.h            */
    const struct allm_encoder  *encoder;
} allm_tool_calls_opts;

/*
 * Runs these calls outside a chat, as a stream of tool events.  If a tool is
 * unknown, nothing is run: the stream emits an error event, or
 * allm_stream_wait() returns the error.
 */
ALLM_API allm_stream *allm_tool_calls(const allm_engine *, size_t count,
                                      const allm_tool_call *const *calls,
                                      const allm_tool_calls_opts *);
/*
 * After the end: the tool message of the call at this index, borrowed from the
 * stream; NULL if there is none.
 */
ALLM_API const allm_message *allm_stream_tool_message(const allm_stream *,
                                                     size_t index);
/*
 * After the end: why a chat would stop here, as in the metadata of a step
 * result; NULL if it would continue.
 */
ALLM_API const allm_json *allm_stream_tool_halt(const allm_stream *);
/*
 * After the end: the error of the call that would stop a chat; NULL if none
 * failed, or the policy is to continue.
 */
ALLM_API const allm_error *allm_stream_tool_error(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
