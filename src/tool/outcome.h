/* outcome.h - what a call of a tool came to */
#ifndef TOOL_OUTCOME_H
#define TOOL_OUTCOME_H

#include "base/arena.h"

enum outcome_kind {
    OUTCOME_NONE,               /* nothing yet */
    OUTCOME_OK,                 /* value */
    OUTCOME_ERROR,              /* value: what the function itself told */
    OUTCOME_ASK,                /* question, opts */
    OUTCOME_HALT,               /* reason, value */
    OUTCOME_FAILED,             /* reason of a ToolError, detail, metadata */
    OUTCOME_NOMEM               /* the answer could not be kept */
};

struct outcome {
    enum outcome_kind kind;
    bool verbatim;              /* an ERROR whose text tells its own kind */
    const allm_json *value;
    const char *reason;
    const char *question;
    const allm_json *opts;      /* never NULL for ASK */
    const char *detail;         /* what happened, in words; or NULL */
    const allm_json *metadata;  /* or NULL */
};

/* Is this a halt reason that only the library may give? */
bool outcome_reserved(const char *reason);

/* A halt, or the failure that a reserved or empty reason is.  The value may be
 * NULL for null.  What is given must live as long as the arena. */
struct outcome outcome_halt(struct arena *a, const char *reason,
                            const allm_json *value);

/* A ToolError, its detail made as by printf in the arena; NOMEM if it cannot
 * be. */
struct outcome outcome_failed(struct arena *a, const char *reason,
                              const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Did it go wrong: ERROR or FAILED? */
static inline bool outcome_is_error(const struct outcome *o)
{
    return o->kind == OUTCOME_ERROR || o->kind == OUTCOME_FAILED;
}

/* The error of what went wrong, in the arena: a ToolError, with reason
 * handler_failed for an ERROR.  NULL: no memory. */
const allm_error *outcome_error(struct arena *a, const struct outcome *o,
                                const char *tool_name, const char *call_id);

/*
 * As tool_execution_completed tells it: {"ok": v}, {"error": e}, {"halt": [r,
 * v]}, {"ask_user": q, "opts": {}}.  error is that of outcome_error() for what
 * went wrong.  NULL: no memory.
 */
const allm_json *outcome_json(struct arena *a, const struct outcome *o,
                              const allm_error *error);

/* The error alone: the text or value told by the function, or the ToolError in
 * its plain form. */
const allm_json *outcome_error_json(struct arena *a, const struct outcome *o,
                                    const allm_error *error);

#endif
