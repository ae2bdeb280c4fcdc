/*
 * outcome.h - how a tool call ended
 *
 * The same value from the function that answers to the session that is saved:
 *
 *      tool/tool.c        makes it from allm_tool_ok(), _fail(), _ask(), ...
 *      tool/settle.c      puts it into a struct tool_result, with the message
 *      turn/dispatch.c    adds the tool_result to the turn
 *      turn/decide.c      halts the turn if the tool_result says so
 *      run/collect.c      adds the tool_result to the step
 *      run/turns.c        keeps the one that halts the chat
 *      session/project.c  derives the session's status from it
 *
 * JSON is made from it for events, metadata and traces only.
 */
#ifndef TOOL_OUTCOME_H
#define TOOL_OUTCOME_H

#include "base/arena.h"

/* What the model reads in place of a result while a question is open. */
#define OUTCOME_AWAITING "<awaiting user response>"

/* Reasons of failures that more than one file uses. */
#define FAILURE_ENCODING "encoding_failed"
#define FAILURE_EXIT "handler_exit"
#define FAILURE_RAISED "handler_raised"
#define FAILURE_REPORTED "handler_failed"
#define FAILURE_RETURN "invalid_return"
#define FAILURE_TIMEOUT "timeout"

enum outcome_kind {
    OUTCOME_NONE,               /* there is none yet */
    OUTCOME_RESULT,             /* value */
    OUTCOME_FAILURE,            /* reason, and value or detail */
    OUTCOME_QUESTION,           /* question, opts */
    OUTCOME_HALT,               /* reason, value */
    OUTCOME_NOMEM               /* memory ran out while it was made */
};

struct outcome {
    enum outcome_kind kind;
    bool verbatim;              /* the value of a FAILURE names its own kind */
    const char *reason;         /* of the error, or of the halt */
    const allm_json *value;     /* of a FAILURE: what the function reported;
                                   NULL: the call failed without its help */
    const char *question;
    const allm_json *opts;      /* never NULL for a QUESTION */
    const char *detail;         /* the cause of a FAILURE; or NULL */
    const allm_json *metadata;  /* of the error; or NULL */
};

/* Is this a halt reason that only the library may give? */
bool outcome_reserved(const char *reason);

/* A halt, or the failure that a reserved or empty reason is.  A NULL value is
 * JSON null.  Reason and value must live as long as the arena. */
struct outcome outcome_halt(struct arena *a, const char *reason,
                            const allm_json *value);

/* A failure that the function itself reports. */
struct outcome outcome_reported(const allm_json *value);

/* Any other failure; the detail is made in the arena as by printf.  NOMEM if
 * it cannot be made. */
struct outcome outcome_failed(struct arena *a, const char *reason,
                              const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A question to the user; NULL opts are {}. */
struct outcome outcome_question(const char *question, const allm_json *opts);

/* The outcome that halted a chat for this reason, as events and journals have
 * it: a HALT, or the FAILURE of which the value is left. */
struct outcome outcome_from_halt(const char *reason, const allm_json *value);

/* The halted_reason of a chat that this outcome halts. */
const char *outcome_halted_reason(const struct outcome *o);

/* A copy of all it refers to, in the arena, which breaks if there is no
 * memory. */
struct outcome outcome_copy(struct arena *a, const struct outcome *o);

/* The error of a FAILURE, in the arena: a ToolError.  NULL: no memory. */
const allm_error *outcome_error(struct arena *a, const struct outcome *o,
                                const char *tool_name, const char *call_id);

/*
 * As in tool_execution_completed: {"ok": v}, {"error": e}, {"halt": [r, v]},
 * {"ask_user": q, "opts": {}}.  `error` is that of outcome_error() for a
 * FAILURE.  NULL: no memory.
 */
const allm_json *outcome_json(struct arena *a, const struct outcome *o,
                              const allm_error *error);

/* Of a FAILURE alone: the value that the function reported, or the ToolError
 * in its plain form.  NULL: no memory, or it has neither. */
const allm_json *outcome_error_json(struct arena *a, const struct outcome *o,
                                    const allm_error *error);

/* A string as a JSON value, which refers to it.  NULL: no memory. */
const allm_json *outcome_text(struct arena *a, struct slice text);

#endif
