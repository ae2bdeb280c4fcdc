/*
 * allm_executor.h - for those who run tools in their own way
 *
 *    1  Encoders              what a tool gave, for the model to read
 *    2  Executors, plans      who runs the calls
 */
#ifndef ALLM_EXECUTOR_H
#define ALLM_EXECUTOR_H

#include "allm_tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------- 1  Encoders --- */

/*
 * What a tool's value becomes for the model to read.  encode() tells it once
 * with allm_encoding_text(), or why not with allm_encoding_fail(); silence is a
 * failure.  is_error: the value is what went wrong, mostly a text.  Called in
 * the thread that pulls.
 */
typedef struct allm_encoding allm_encoding;
ALLM_API void allm_encoding_text(allm_encoding *, const char *text, size_t len);
ALLM_API void allm_encoding_fail(allm_encoding *, const char *why);

typedef struct allm_encoder {
    size_t   size;
    void    *self;
    void   (*encode)(void *self, const allm_json *value, bool is_error,
                     allm_encoding *out);
} allm_encoder;

/* The one that is used if none is given: texts as they are, all else as JSON,
 * errors as {"error": text}. */
ALLM_API const allm_encoder *allm_encoder_json(void);

/* -------------------------------------------------- 2  Executors, plans --- */

/*
 * A plan of a tool that is made of others: serial steps one after the other,
 * then parallel steps, at most three at once, then one text of it all.  A step
 * that fails is noted and stops nothing.
 *
 * A recipe fills the plan by the arguments of the call.  Arguments of a step
 * are JSON (copied; NULL: {}) or made when its turn comes, from what the serial
 * steps gave: an object, {"tool": content}.  That function returns a root,
 * which is freed for it; NULL, or a root with an error, fails the step.  A
 * label NULL is the tool's name.
 */
typedef struct allm_plan allm_plan;
typedef void (*allm_recipe_fn)(allm_plan *, const allm_json *args, void *ud);
typedef allm_json *(*allm_plan_args_fn)(const allm_json *serial, void *ud);
/*
 * Answers the run in place of our own text.  results: {"serial": [{"label",
 * "tool", "content"}], "parallel": [...], "errors": [{"label", "tool",
 * "error"}]}.  If it fails, so has the call: "Dispatch pipeline error: ...".
 * If it does not answer, or answers with anything but a text that is not
 * empty, the tool itself is run.
 */
typedef void (*allm_plan_compose_fn)(allm_tool_run *, const allm_json *results,
                                     void *ud);

ALLM_API void allm_plan_serial(allm_plan *, const char *tool, const char *label,
                               const allm_json *args);
ALLM_API void allm_plan_serial_fn(allm_plan *, const char *tool,
                                  const char *label, allm_plan_args_fn,
                                  void *ud);
ALLM_API void allm_plan_parallel(allm_plan *, const char *tool,
                                 const char *label, const allm_json *args);
ALLM_API void allm_plan_parallel_fn(allm_plan *, const char *tool,
                                    const char *label, allm_plan_args_fn,
                                    void *ud);
ALLM_API void allm_plan_compose(allm_plan *, allm_plan_compose_fn, void *ud);
/* There can be no plan for these arguments, and why. */
ALLM_API void allm_plan_fail(allm_plan *, const char *why);

typedef struct allm_recipe {
    size_t         size;
    allm_recipe_fn fn;                /* NULL: no recipe, run it directly   */
    void          *ud;
} allm_recipe;

/*
 * Who runs the calls.  execute() answers the run as the function of a tool
 * does, and is called where that would be: in a worker, several at once, or in
 * the thread that pulls if the tool or the executor is inline.  `tool` is NULL
 * for a step of a plan whose tool is nowhere declared.  tools() lends what it
 * offers (NULL: it takes every call); recipe() says whether a tool is made of
 * others.  Both are called in the thread that pulls, must be quick, and may be
 * NULL.  What is lent lives as long as the table.
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

enum allm_executor_flags {
    ALLM_EXECUTOR_INLINE = 1 << 0     /* execute() never blocks             */
};

/* The one that is used if none is given: the tool's own function. */
ALLM_API const allm_executor *allm_executor_function(void);
/* Several as one: a call goes to the first that offers its tool; tools() is
 * all of theirs, the earlier first, equal names kept.  A root; the tables must
 * outlive it.  NULL: no memory. */
ALLM_API allm_executor *
allm_executor_compose(size_t count, const allm_executor *const *);
ALLM_API void allm_executor_free(allm_executor *composed);

#ifdef __cplusplus
}
#endif
#endif
