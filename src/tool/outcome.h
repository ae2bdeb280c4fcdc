/*
 * outcome.h - how a tool call ended
 *
 * The same value travels from the tool's function to the saved session:
 *
 *      tool/tool.c        creates it in allm_tool_ok(), _fail(), _ask(), ...
 *      tool/settle.c      puts it into a struct tool_result, with the message
 *      turn/dispatch.c    adds the tool_result to the turn
 *      turn/decide.c      halts the turn if the tool_result says so
 *      run/collect.c      adds the tool_result to the step
 *      run/turns.c        keeps the tool_result that halts the chat
 *      session/project.c  derives the session's status from it
 *
 * It is converted to JSON only for events, metadata and traces.
 */
#pragma once

#include "base/arena.h"

/* The content of the tool message while the question has no answer. */
#define OUTCOME_AWAITING "<awaiting user response>"

/* Reasons of failures that are used in more than one file. */
#define FAILURE_ARGUMENTS "invalid_arguments"
#define FAILURE_DENIED "denied"
#define FAILURE_ENCODING "encoding_failed"
#define FAILURE_EXIT "handler_exit"
#define FAILURE_NOT_FOUND "not_found"
#define FAILURE_RAISED "handler_raised"
#define FAILURE_REPORTED "handler_failed"
#define FAILURE_RETURN "invalid_return"
#define FAILURE_TIMEOUT "timeout"

/* Their details. */
#define DETAIL_DENIED "the user denied this call"
#define DETAIL_NO_EXECUTOR "no executor offers this tool"
#define DETAIL_NO_FUNCTION "this tool has no function"
#define DETAIL_NO_REASON "the tool failed and gave no reason"

enum outcome_kind {
    OUTCOME_NONE,               /* no outcome yet */
    OUTCOME_RESULT,             /* value */
    OUTCOME_FAILURE,            /* reason, and value or detail */
    OUTCOME_QUESTION,           /* question, opts */
    OUTCOME_HALT,               /* reason, value */
    OUTCOME_NOMEM               /* memory ran out */
};

struct outcome {
    enum outcome_kind kind;
    bool verbatim;              /* the value of a FAILURE has its own prefix */
    const char *reason;         /* of the error, or of the halt */
    const allm_json *value;     /* of a FAILURE: the value that the function
                                   reported; NULL: it reported none */
    const char *question;
    const allm_json *opts;      /* never NULL for a QUESTION */
    const char *detail;         /* the cause of a FAILURE, or NULL */
    const allm_json *images;    /* of a RESULT, after its value: an array of
                                   {"data": base64, "mimeType"}; or NULL */
    const allm_json *metadata;  /* of the error, or NULL */
};

/* Is this a halt reason that only the library may use? */
bool outcome_reserved(const char *reason);

/* A HALT, or a FAILURE if the reason is reserved or empty.  A NULL value means
 * JSON null.  Reason and value must live as long as the arena. */
struct outcome outcome_halt(struct arena *a, const char *reason,
                            const allm_json *value);

/* A failure that the function itself reports; NULL value: NOMEM. */
struct outcome outcome_reported(const allm_json *value);

/* Any other failure; the detail is formatted as by printf, in the arena.  NOMEM
 * if memory runs out. */
struct outcome outcome_failed(struct arena *a, const char *reason,
                              const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A question to the user; NULL opts mean {}. */
struct outcome outcome_question(const char *question, const allm_json *opts);

/* The outcome that an event or a journal describes by the reason and the value
 * of a halt: a HALT, or a FAILURE with only its value. */
struct outcome outcome_from_halt(const char *reason, const allm_json *value);

/* The halted_reason of a chat that this outcome halts. */
const char *outcome_halted_reason(const struct outcome *o);

/* A deep copy in the arena, which breaks if memory runs out. */
struct outcome outcome_copy(struct arena *a, const struct outcome *o);

/* The error of a FAILURE, in the arena: a ToolError.  NULL: out of memory. */
const allm_error *outcome_error(struct arena *a, const struct outcome *o,
                                const char *tool_name, const char *call_id);

/*
 * The form in tool_execution_completed: {"ok": v}, {"error": e},
 * {"halt": [r, v]}, {"ask_user": q, "opts": {}}.  For a FAILURE, `error` is the
 * result of outcome_error().  NULL: out of memory.
 */
const allm_json *outcome_json(struct arena *a, const struct outcome *o,
                              const allm_error *error);

/* Of a FAILURE only: the value that the function reported, or the ToolError in
 * its plain form.  NULL: out of memory, or it has neither. */
const allm_json *outcome_error_json(struct arena *a, const struct outcome *o,
                                    const allm_error *error);
