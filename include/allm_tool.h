/*
 * allm_tool.h - what a model may call
 *
 *    1  Tools
 *    2  Answers               how a tool's function answers
 *    3  Failures              what to do when a call fails
 *    4  Calls by hand         outside any chat
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

typedef enum allm_effect {            /* may a call be run again?           */
    ALLM_EFFECT_WRITE, ALLM_EFFECT_IDEMPOTENT, ALLM_EFFECT_PURE
} allm_effect;

typedef struct allm_tool_run allm_tool_run;   /* one call of one tool */
typedef void (*allm_tool_fn)(allm_tool_run *, const allm_json *args, void *ud);

typedef struct allm_tool {
    size_t            size;
    struct allm_home *home;
    const char       *name;           /* [A-Za-z0-9_-]{1,64}                */
    const char       *description;
    const allm_json  *schema;         /* JSON Schema of the arguments       */
    const char       *schema_text;    /* or as text, if schema is NULL      */
    allm_tool_fn      call;           /* "handler"; NULL: nobody            */
    void             *ud;
    uint32_t          manual;         /* 1: the caller answers by hand      */
    uint32_t          compact;        /* 1: announced by one line           */
    allm_effect       effect;
    uint32_t          flags;          /* ALLM_TOOL_*                        */
    const char       *summary;
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_tool;

enum allm_tool_flags {
    ALLM_TOOL_INLINE = 1 << 0         /* never blocks: called in the thread
                                         that pulls, not in a worker        */
};

/* Needs name, description and a schema.  A tool with a function has no tagged
 * form: allm_tool_json() says so; the plain form leaves the function out. */
ALLM_API allm_tool *allm_tool_new(const allm_tool *fields);
ALLM_API void allm_tool_free(allm_tool *);
ALLM_API const allm_error *allm_tool_error(const allm_tool *);
ALLM_API allm_text *allm_tool_json(const allm_tool *, uint32_t form);

ALLM_API allm_error *allm_validate_tool(const allm_tool *);

/* ----------------------------------------------------------- 2  Answers --- */

/*
 * The function of a tool gets a run and the arguments, and answers once with
 * one of the first six before it returns; or it defers, and answers later, from
 * any thread.  One that does neither has failed (invalid_return).
 *
 * All give ALLM_OK; ALLM_ERR_MISUSE: it was answered before, and the first
 * answer stands; ALLM_ERR_NOMEM: no memory for the answer, and the call fails.
 * An answer that nobody waits for any longer is dropped, and that is ALLM_OK.
 *
 * Functions run in worker threads, several at once; those of a tool with
 * ALLM_TOOL_INLINE in the thread that pulls.  What `ud` points to must live
 * until the function has returned, also when its time is over.
 */

/* A value; a string appears in the result as it is, anything else as JSON.
 * NULL is JSON null. */
ALLM_API allm_status allm_tool_ok(allm_tool_run *, const allm_json *value);
ALLM_API allm_status allm_tool_text(allm_tool_run *, const char *text,
                                    size_t len);
/* It did not work out; the model reads the text. */
ALLM_API allm_status allm_tool_fail(allm_tool_run *, const char *text);
/* Only the user can tell; opts (NULL: none) is an object for the program. */
ALLM_API allm_status allm_tool_ask(allm_tool_run *, const char *question,
                                   const allm_json *opts);
/* Stop the chat after these tools.  Words of our own (ask_user, max_turns,
 * halt_when, tool_error, cancelled, completed, error, manual_tool_calls,
 * budget) and the empty one are no reasons: the call fails. */
ALLM_API allm_status allm_tool_halt(allm_tool_run *, const char *reason,
                                    const allm_json *value);
/* The function itself is broken, as by an exception of another language. */
ALLM_API allm_status allm_tool_raise(allm_tool_run *, const char *text);

/* A root: answer it once, free it once, from any thread, also when the stream
 * is gone.  NULL: the run was answered or deferred before. */
ALLM_API allm_tool_run *allm_tool_defer(allm_tool_run *);
/* Free a deferred run; one that was not answered has failed. */
ALLM_API void allm_tool_run_free(allm_tool_run *root);
/* Call fn(run, arguments, ud) after so many milliseconds of the engine's
 * clock, in the thread that pulls; it answers in place of this function.  No
 * thread is held meanwhile. */
ALLM_API allm_status allm_tool_later(allm_tool_run *, uint32_t ms,
                                     allm_tool_fn fn, void *ud);
/* Does nobody wait any longer: is its time over, or the stream gone?  For
 * functions that take long, to look from time to time. */
ALLM_API bool allm_tool_cancelled(const allm_tool_run *);

/* What a function may see, lent by the run. */
ALLM_API const allm_tool_call *allm_tool_run_call(const allm_tool_run *);
ALLM_API const allm_json *allm_tool_run_context(const allm_tool_run *);
ALLM_API const char *allm_tool_run_session_id(const allm_tool_run *);
ALLM_API const char *allm_tool_run_request_id(const allm_tool_run *);

/* ---------------------------------------------------------- 3  Failures --- */

/*
 * What to do when a call fails: called once for each, in the thread that
 * pulls.  The error is of kind TOOL; for what allm_tool_fail() said its reason
 * is handler_failed and its message the text.  Answer the run with
 * allm_tool_ok() or _text() to put that in place of the failure, with
 * allm_tool_halt() (its reason and value do not count) to stop the chat, with
 * allm_tool_raise() if this function has failed, too.  Other answers, and none,
 * stop the chat.
 */
typedef void (*allm_tool_error_fn)(allm_tool_run *, const allm_error *,
                                   void *ud);
typedef enum allm_tool_policy {
    ALLM_TOOL_POLICY_CONTINUE,  /* the model reads of the failure           */
    ALLM_TOOL_POLICY_HALT,      /* the chat stops with tool_error           */
    ALLM_TOOL_POLICY_CALLBACK
} allm_tool_policy;

/* ----------------------------------------------------- 4  Calls by hand --- */

/* The answer to a call of "tool_help", the tool that explains compact tools,
 * for those who answer calls by hand. */
ALLM_API allm_text *allm_tool_help(size_t count, const allm_tool *const *tools,
                                   const allm_json *arguments);

/*
 * Run these calls, outside any chat: a stream of tool events.  tools NULL: the
 * engine's.  When it has ended: a message per call, in the order of the calls;
 * and why a chat would halt, or NULL, as the metadata of a step result.  If a
 * tool is unknown nothing is run: an error event, or the error of the wait.
 */
typedef struct allm_tool_calls_opts {
    size_t                  size;
    size_t                  tool_count;
    const allm_tool *const *tools;
    const allm_json        *context;          /* NULL: the engine's         */
    const char             *session_id;
    const char             *request_id;
    allm_tool_policy        on_tool_error;
    uint32_t                max_concurrency;  /* 0: twice the CPUs          */
    allm_tool_error_fn      on_tool_error_fn;
    void                   *on_tool_error_ud;
    uint32_t                tool_timeout_ms;  /* 0: 30 s; UINT32_MAX: none  */
    uint32_t                live_tool_events; /* 1: started when it starts  */
    uint32_t                validate_arguments;   /* 1: by the schema       */
    uint32_t                reserved;
    const struct allm_executor *executor;     /* allm_ext.h                 */
    const struct allm_encoder  *encoder;
} allm_tool_calls_opts;

ALLM_API allm_stream *allm_tool_calls(const allm_engine *, size_t count,
                                      const allm_tool_call *const *calls,
                                      const allm_tool_calls_opts *);
ALLM_API const allm_message *allm_stream_tool_message(const allm_stream *,
                                                     size_t index);
ALLM_API const allm_json *allm_stream_tool_halt(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
