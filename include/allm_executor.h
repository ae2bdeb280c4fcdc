/*
 * allm_executor.h - run tools in your own way
 *
 *    1  Encoders              turn a tool's result into what the model sees
 *    2  Executors, plans      run the calls
 *    3  Gates                 allow or deny a call before it begins
 */
#ifndef ALLM_EXECUTOR_H
#define ALLM_EXECUTOR_H

#include "allm_tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------- 1  Encoders --- */

/*
 * The result of an encoder. encode() sets it exactly once, with one of these
 * two functions; an encoder that sets nothing has failed.
 */
typedef struct allm_encoding allm_encoding;

/* Sets the string that the model sees. */
ALLM_API void allm_encoding_text(allm_encoding *, const char *text, size_t len);
/* Fails, for this reason. */
ALLM_API void allm_encoding_fail(allm_encoding *, const char *why);

/*
 * An encoder turns the value of a tool into the string that the model sees.
 * is_error: the value describes a failure, usually as a string. encode() is
 * called in the thread that pulls.
 */
typedef struct allm_encoder {
    size_t   size;
    void    *self;
    void   (*encode)(void *self, const allm_json *value, bool is_error,
                     allm_encoding *out);
} allm_encoder;

/*
 * The default encoder: strings as they are, anything else as JSON, errors as
 * {"error": text}.
 */
ALLM_API const allm_encoder *allm_encoder_json(void);

/* -------------------------------------------------- 2  Executors, plans --- */

/*
 * A tool can be a plan made of other tools: serial steps, one after the other,
 * then parallel steps, at most three at once, then one text composed of the
 * results.  A step that fails is noted and stops nothing.
 *
 * A recipe fills the plan from the arguments of the call.  The arguments of a
 * step are JSON (copied; NULL: {}), or a function creates them when the step
 * starts, from the results of the serial steps: an object {"tool": content}.
 * That function returns a root, which the library frees; NULL, or a root with
 * an error, fails the step.  A label of NULL means the tool's name.
 */

/* A plan, and the functions that fill it. */
typedef struct allm_plan allm_plan;
typedef void (*allm_recipe_fn)(allm_plan *, const allm_json *args, void *ud);
typedef allm_json *(*allm_plan_args_fn)(const allm_json *serial, void *ud);

/*
 * Answers the run instead of the library's own text. results: {"serial":
 * [{"label", "tool", "content"}], "parallel": [...], "errors": [{"label",
 * "tool", "error"}]}. If it fails, the call fails with "Dispatch pipeline
 * error: ...".  If it does not answer, or answers with anything but a
 * non-empty string, the tool itself is run.
 */
typedef void (*allm_plan_compose_fn)(allm_tool_run *, const allm_json *results,
                                     void *ud);

/* Adds a serial step, with arguments or a function that creates them. */
ALLM_API void allm_plan_serial(allm_plan *, const char *tool, const char *label,
                               const allm_json *args);
ALLM_API void allm_plan_serial_fn(allm_plan *, const char *tool,
                                  const char *label, allm_plan_args_fn,
                                  void *ud);
/* Adds a parallel step, with arguments or a function that creates them. */
ALLM_API void allm_plan_parallel(allm_plan *, const char *tool,
                                 const char *label, const allm_json *args);
ALLM_API void allm_plan_parallel_fn(allm_plan *, const char *tool,
                                    const char *label, allm_plan_args_fn,
                                    void *ud);
/* Sets the function that composes the result. */
ALLM_API void allm_plan_compose(allm_plan *, allm_plan_compose_fn, void *ud);
/* There is no plan for these arguments, for this reason. */
ALLM_API void allm_plan_fail(allm_plan *, const char *why);

/* How a tool is made of others. */
typedef struct allm_recipe {
    size_t         size;
    allm_recipe_fn fn;                /* NULL: no recipe, run the tool      */
    void          *ud;
} allm_recipe;

/*
 * An executor runs calls. execute() answers the run as the function of a tool
 * does, and is called in the same place: in a worker thread, several at once,
 * or in the thread that pulls if the tool or the executor is inline.  `tool`
 * is NULL for a step of a plan whose tool is not declared. tools() returns the
 * tools that it offers (NULL: it takes every call). recipe() says whether a
 * tool is made of others.  Both are called in the thread that pulls, must
 * return quickly, and may be NULL.  What they return must stay valid as long
 * as the table.
 */
typedef struct allm_executor {
    size_t                   size;
    void                    *self;
    void                   (*execute)(void *self, const allm_tool *tool,
                                      allm_tool_run *, const allm_json *args);
    const allm_tool *const *(*tools)(void *self, size_t *count);
    void                   (*recipe)(void *self, const char *name,
                                     allm_recipe *out);
    uint32_t                 flags;   /* ALLM_EXECUTOR_*                    */
    uint32_t                 reserved;
} allm_executor;

/* The flags of an executor. */
typedef enum allm_executor_flags {
    ALLM_EXECUTOR_INLINE = 1 << 0     /* execute() never blocks             */
} allm_executor_flags;

/* The default executor: it calls the tool's own function. */
ALLM_API const allm_executor *allm_executor_function(void);
/*
 * Joins several executors: a call goes to the first that offers its tool;
 * tools() returns the tools that all have now, in order, equal names included;
 * so wait for the servers of a toolbox first.  The caller frees the result; the
 * tables must outlive it.  NULL: out of memory.
 */
ALLM_API allm_executor *
allm_executor_compose(size_t count, const allm_executor *const *);
/* Frees an executor made by allm_executor_compose(). */
ALLM_API void allm_executor_free(allm_executor *composed);

/* ------------------------------------------------------------- 3  Gates --- */

/*
 * A call that waits for a decision.  It is answered once, with one of the three
 * functions, from any thread, at once or later, and then freed.  If it is freed
 * without an answer, the call is left.  An answer that comes after the stream
 * has ended is ignored.
 */
typedef struct allm_approval allm_approval;

/* How long an approval is valid.  A gate of the caller may ignore it. */
typedef enum allm_approval_scope {
    ALLM_APPROVAL_ONCE,
    ALLM_APPROVAL_SESSION,
    ALLM_APPROVAL_ALWAYS
} allm_approval_scope;

/* The call; valid until the approval is freed. */
ALLM_API const allm_tool_call *allm_approval_call(const allm_approval *);
/* What the call can access, as a toolbox describes it.  NULL: not known. */
ALLM_API const allm_json *allm_approval_reach(const allm_approval *);

/* Allows the call: it begins as soon as a slot is free.  Any error except
 * ALLM_ERR_MISUSE: it begins, but the scope could not be stored. */
ALLM_API allm_status allm_approval_allow(allm_approval *, allm_approval_scope);
/*
 * Denies the call.  It fails with the reason `denied`, and the model sees
 * `why`; NULL: "the user denied this call".
 */
ALLM_API allm_status allm_approval_deny(allm_approval *, const char *why);
/*
 * Leaves the call undecided.  The other calls run, then the chat halts with
 * manual_tool_calls, and metadata.approvals lists this call.
 */
ALLM_API allm_status allm_approval_leave(allm_approval *);
/* Frees it. */
ALLM_API void allm_approval_free(allm_approval *root);

/*
 * A gate decides which calls may begin.  ask() is called for each call of a
 * turn, in order, before the first one begins and after its arguments were
 * checked, in the thread that pulls; it owns the approval and must return
 * quickly.  The timeout of a call starts when it begins, total_ms does not
 * wait.  Calls that are left to the caller anyway do not pass the gate.
 */
typedef struct allm_gate {
    size_t size;
    void (*ask)(void *ud, allm_approval *root);
    void  *ud;
} allm_gate;

#ifdef __cplusplus
}
#endif
#endif
