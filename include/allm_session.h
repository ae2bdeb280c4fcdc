/*
 * allm_session.h - conversations that continue, and can be saved
 *
 *    1  Session record        a session as plain data
 *    2  Sessions
 *    3  Operations
 *    4  Reducer               folds events into a session
 *    5  Files
 */
#ifndef ALLM_SESSION_H
#define ALLM_SESSION_H

#include "allm_chat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------- 1  Session record --- */

/* What a session is waiting for. */
typedef enum allm_session_status {
    ALLM_SESSION_IDLE, ALLM_SESSION_AWAITING_USER, ALLM_SESSION_AWAITING_TOOLS,
    ALLM_SESSION_COMPLETED, ALLM_SESSION_ERROR
} allm_session_status;

/* A session as plain data. */
typedef struct allm_session_record {
    size_t                       size;
    struct allm_home            *home;
    const char                  *id;
    const allm_thread           *thread;      /* never NULL in a result     */
    allm_session_status          status;
    uint32_t                     reserved;
    size_t                       pending_tool_call_count;
    const allm_tool_call *const *pending_tool_calls;
    const char                  *pending_question;
    const char                  *pending_tool_call_id;
    const allm_json             *context;
    const allm_error            *error;       /* of the status ERROR;
                                                 "metadata.error"           */
    const allm_json             *metadata;
    const allm_json             *kept;
} allm_session_record;

/*
 * Creates a session record.  The caller frees it.
 * allm_session_record_error() returns the member `error`; if the record was
 * rejected, that is why.  allm_session_record_json() returns its JSON form.
 */
ALLM_API allm_session_record *
allm_session_record_new(const allm_session_record *fields);
ALLM_API void allm_session_record_free(allm_session_record *);
ALLM_API const allm_error *
allm_session_record_error(const allm_session_record *);
ALLM_API allm_text *allm_session_record_json(const allm_session_record *,
                                             allm_form form);

/*
 * Checks a session record.  Returns NULL if it is valid, else an error that
 * the caller frees.
 */
ALLM_API allm_error *allm_validate_session(const allm_session_record *);

/* ---------------------------------------------------------- 2  Sessions --- */

/*
 * A conversation and its status.  A session holds an allm_session_record,
 * which is plain data: no engine, no key, no function.  Each operation
 * replaces the record with a new one.  A rejected operation changes nothing,
 * and its error names the call that would be right.
 *
 * Whatever is borrowed from a session is valid until its next change: an
 * operation, or the end of its stream.
 */
typedef struct allm_session allm_session;

/*
 * Creates a session; fields NULL: an empty one.  Or from a stored record, a
 * thread, or messages.  A list that contains something other than a message is
 * rejected (invalid_session_input).
 */
ALLM_API allm_session *allm_session_new(const allm_session_record *fields);
ALLM_API allm_session *allm_session_from_record(const allm_session_record *);
ALLM_API allm_session *allm_session_from_thread(const allm_thread *);
ALLM_API allm_session *
allm_session_from_messages(size_t count, const allm_message *const *);
/* Frees a session.  A stream that is still open continues on its own. */
ALLM_API void allm_session_free(allm_session *);

/*
 * Why the session could not be created; such a session cannot be used.  Or why
 * its last change was rejected: then the session is unchanged, and the next
 * successful change clears the error.  NULL: no error.
 */
ALLM_API const allm_error *allm_session_error(const allm_session *);

/*
 * The record, and parts of it, borrowed.  The record of a session that could
 * not be created is empty.
 */
ALLM_API const allm_session_record *allm_session_fields(const allm_session *);
ALLM_API const allm_thread *allm_session_thread(const allm_session *);
ALLM_API const allm_message *const *allm_session_messages(const allm_session *,
                                                          size_t *count);
ALLM_API const allm_tool_call *const *
allm_session_pending_tool_calls(const allm_session *, size_t *count);

/* -------------------------------------------------------- 3  Operations --- */

/*
 * These four request the model and run all tools and turns that follow, as a
 * chat.  The stream can be pulled, waited for, or added to a hub.
 *
 *   start      with the messages that are there
 *   reply      the user says something, or answers the pending question
 *   continue   the same with any message; message NULL: with the messages
 *              that are there, as after the results of tools
 *   step       one response and its tools: a step, not a chat
 *
 * The session gets the result (messages, status, what is pending) when the
 * last event has been returned, or when the stream is waited for, cancelled or
 * freed.  Until then the session is as before; it may be read and saved, and
 * every change is misuse.  A stream that failed at the start, or ends with a
 * status < 0, leaves the session unchanged.  So does a stream that is
 * cancelled before its first step is complete; the user's input is then in
 * metadata.cancelled_input.
 *
 * Context and session_id come from the options, else the session (an empty
 * context counts as none), else the engine.  A context of null in the options'
 * JSON selects the engine's.  A rejected call returns a stream that has
 * failed: see allm_stream_error().
 */

/*
 * Starts an operation on the session: see above.  The caller frees the stream.
 */
ALLM_API allm_stream *allm_session_start(const allm_engine *, allm_session *,
                                         const allm_call_opts *);
ALLM_API allm_stream *allm_session_reply(const allm_engine *, allm_session *,
                                         const char *text,
                                         const allm_call_opts *);
ALLM_API allm_stream *allm_session_continue(const allm_engine *,
                                            allm_session *,
                                            const allm_message *message,
                                            const allm_call_opts *);
ALLM_API allm_stream *allm_session_step(const allm_engine *, allm_session *,
                                        const allm_call_opts *);

/*
 * The result of a tool call, given by the caller: a string, a value (the model
 * sees a string as it is, anything else as JSON), or parts.
 */
typedef struct allm_tool_answer {
    size_t                  size;
    const char             *tool_call_id;
    size_t                  text_len;
    const char             *text;
    const allm_json        *value;
    size_t                  part_count;
    const allm_part *const *parts;
} allm_tool_answer;

/* Appends a message in any status, and leaves the status as it is. */
ALLM_API allm_status allm_session_append(allm_session *, const allm_message *);
ALLM_API allm_status allm_session_append_user(allm_session *,
                                              const char *text);
ALLM_API allm_status allm_session_append_tool_result(allm_session *,
                                                     const allm_tool_answer *);

/*
 * Replaces the record, in any status; a lock on its file is kept.  In this way
 * a session that ended with an error can start again with its thread, or a
 * message in the middle can be changed.
 */
ALLM_API allm_status allm_session_replace(allm_session *,
                                          const allm_session_record *fields);

/*
 * Answers calls that wait for the caller.  When none is left, the session is
 * idle: go on with allm_session_continue() without a message.  An id that is
 * not pending is an error (unknown_tool_call_id).  Of several answers, all are
 * accepted or none; an empty list changes nothing, whatever the status.
 */
ALLM_API allm_status allm_session_submit_tool_result(allm_session *,
                                                     const allm_tool_answer *);
ALLM_API allm_status
allm_session_submit_tool_results(allm_session *, size_t count,
                                 const allm_tool_answer *const *);

/*
 * Decides about a call that a gate left undecided, which metadata.approvals
 * lists: at any time, in any process.  When all pending calls are decided, go
 * on with allm_session_continue() without a message, or allm_session_resume():
 * the allowed calls run, the denied ones fail with the reason `denied`, and
 * the model sees `why` (NULL: only that the user denied it).  A decision may be
 * changed until then; a call that has begun needs a new one.
 */
ALLM_API allm_status allm_session_approve(allm_session *,
                                          const char *tool_call_id, bool allow,
                                          const char *why);

/* ----------------------------------------------------------- 4  Reducer --- */

/*
 * A reducer folds the events of a stream into a session, as the operations
 * above do inside.  Use it for events that come from elsewhere, or to keep the
 * old session as well.
 */

/* A reducer. */
typedef struct allm_reducer allm_reducer;

/* Which operation the events come from. */
typedef enum allm_reducer_mode {
    ALLM_REDUCER_CHAT,                /* start, reply or continue           */
    ALLM_REDUCER_STEP                 /* step                               */
} allm_reducer_mode;

/* The options of a reducer. */
typedef struct allm_reducer_opts {
    size_t            size;
    allm_reducer_mode mode;
    uint32_t          reserved;
    const char       *input;          /* the user's input; kept in
                                         metadata.cancelled_input when the
                                         stream is cancelled                */
} allm_reducer_opts;

/* The outcome; either chat or step is NULL. */
typedef struct allm_reduced {
    size_t                     size;
    const allm_session_record *session;
    const allm_chat_result    *chat;
    const allm_step_result    *step;
} allm_reduced;

/*
 * Creates a reducer.  The record is the session before the operation.
 * allm_reducer_error() returns why it could not be created, or NULL.
 */
ALLM_API allm_reducer *allm_reducer_new(const allm_session_record *,
                                        const allm_reducer_opts *);
ALLM_API const allm_error *allm_reducer_error(const allm_reducer *);
ALLM_API void allm_reducer_free(allm_reducer *);
/*
 * Adds an event.  An event that does not fit what came before is ignored, so
 * this fails only when memory runs out.
 */
ALLM_API allm_status allm_reducer_add(allm_reducer *, const allm_event *);
/*
 * The outcome of the events so far, borrowed until the next event is added;
 * calling it again returns the same.  Without the last event the operation
 * counts as cancelled: the result is a chat result that says so, with the
 * steps so far; without any step the session is unchanged.
 */
ALLM_API const allm_reduced *allm_reducer_finalize(allm_reducer *);

/* ------------------------------------------------------------- 5  Files --- */

/*
 * Saves the session as a JSON document in a file that only its owner can read.
 * The file is written completely or not at all.  While another process writes
 * the file or holds its lock ("PATH.lock", removed when it is released), this
 * fails with the reason session_locked.
 */
ALLM_API allm_status allm_session_save(allm_session *, const char *path);

/* The flags of allm_session_load(). */
typedef enum allm_session_load_flags {
    ALLM_SESSION_LOCK   = 1 << 0,     /* hold the lock until the session is
                                         freed: no other process can save in
                                         the meantime                       */
    ALLM_SESSION_CREATE = 1 << 1      /* if the file does not exist: an empty
                                         session                            */
} allm_session_load_flags;

/*
 * Loads a session.  If the file does not exist (session_not_found), cannot be
 * read (unreadable_session), is damaged (damaged_session) or is something else
 * (not_a_session), the session has that error and the file is left as it is.
 */
ALLM_API allm_session *allm_session_load(const char *path, uint32_t flags);

#ifdef __cplusplus
}
#endif
#endif
