/*
 * allm_session.h - conversations that go on: asked, answered, saved
 *
 *    1  Session record        a session as plain data
 *    2  Sessions
 *    3  Operations
 *    4  Reducer
 *    5  Files
 */
#ifndef ALLM_SESSION_H
#define ALLM_SESSION_H

#include "allm_chat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------- 1  Session record --- */

typedef enum allm_session_status {
    ALLM_SESSION_IDLE, ALLM_SESSION_AWAITING_USER, ALLM_SESSION_AWAITING_TOOLS,
    ALLM_SESSION_COMPLETED, ALLM_SESSION_ERROR
} allm_session_status;

typedef struct allm_session_record {
    size_t                       size;
    struct allm_home            *home;
    const char                  *id;
    const allm_thread           *thread;      /* never NULL in ours         */
    allm_session_status          status;
    uint32_t                     reserved;
    size_t                       pending_tool_call_count;
    const allm_tool_call *const *pending_tool_calls;
    const char                  *pending_question;
    const char                  *pending_tool_call_id;
    const allm_json             *context;
    const allm_error            *error;       /* metadata.error             */
    const allm_json             *metadata;
    const allm_json             *kept;
} allm_session_record;

ALLM_API allm_session_record *
allm_session_record_new(const allm_session_record *fields);
ALLM_API void allm_session_record_free(allm_session_record *);
ALLM_API const allm_error *
allm_session_record_error(const allm_session_record *);
ALLM_API allm_text *allm_session_record_json(const allm_session_record *,
                                             uint32_t form);

ALLM_API allm_error *allm_validate_session(const allm_session_record *);

/* ---------------------------------------------------------- 2  Sessions --- */

/*
 * A conversation and where it stands.  It holds an allm_session_record, which
 * is plain data: no engine, no key, no function.  Each operation puts a new
 * record in the place of the old one; one that is refused changes nothing, and
 * its error names the call that would be right.
 *
 * What is lent by a session dies with its next change: an operation, or the end
 * of its stream.
 */
typedef struct allm_session allm_session;

/* fields NULL: an empty session. */
ALLM_API allm_session *allm_session_new(const allm_session_record *fields);
/* Of what was stored; of a conversation; of messages.  A list that has in it
 * what is no message is refused (invalid_session_input). */
ALLM_API allm_session *allm_session_from_record(const allm_session_record *);
ALLM_API allm_session *allm_session_from_thread(const allm_thread *);
ALLM_API allm_session *
allm_session_from_messages(size_t count, const allm_message *const *);
/* Also while its stream is open: that goes on, for itself. */
ALLM_API void allm_session_free(allm_session *);

/* Why the session could not be made, and is of no use; or why its last change
 * was refused: then it is as before, and the next change that goes well clears
 * it.  NULL: all is well. */
ALLM_API const allm_error *allm_session_error(const allm_session *);

/* What it is, lent; of a session that could not be made an empty record. */
ALLM_API const allm_session_record *allm_session_fields(const allm_session *);
ALLM_API const allm_thread *allm_session_thread(const allm_session *);
ALLM_API const allm_message *const *allm_session_messages(const allm_session *,
                                                          size_t *count);
ALLM_API const allm_tool_call *const *
allm_session_pending_tool_calls(const allm_session *, size_t *count);

/* -------------------------------------------------------- 3  Operations --- */

/*
 * Ask the model, with all tools and turns that follow: a chat.  The stream may
 * be pulled, waited for or given to a hub.
 *
 *   start      with the messages that are there
 *   reply      the user says something, or answers the pending question
 *   continue   the same with any message; message NULL: with the messages that
 *              are there, as after the results of tools
 *   step       one answer and its tools: a step, no chat
 *
 * When the last event was lent, or the stream is waited for, cancelled or
 * freed, the session has the result: messages, status, what is pending.  Until
 * then it is as before, may be read and saved, and every change is misuse.  A
 * stream that failed from the start, or ends with less than ALLM_OK, leaves the
 * session as it was.  So does one that is cancelled before its first step is
 * complete; what the user had said is then in metadata.cancelled_input.
 *
 * Context and session_id are those of the options, else of the session (an
 * empty context counts as none), else the engine's.  A context of null in the
 * options' JSON asks for the engine's.  Refused calls give a stream that has
 * failed: ask allm_stream_error().
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

/* The result of a tool: a text, or a value (a text stands as it is, all else
 * as JSON), or parts. */
typedef struct allm_tool_answer {
    size_t                  size;
    const char             *tool_call_id;
    size_t                  text_len;
    const char             *text;
    const allm_json        *value;
    size_t                  part_count;
    const allm_part *const *parts;
} allm_tool_answer;

/* Append, whatever the status; it does not change. */
ALLM_API allm_status allm_session_append(allm_session *, const allm_message *);
ALLM_API allm_status allm_session_append_user(allm_session *,
                                              const char *text);
ALLM_API allm_status allm_session_append_tool_result(allm_session *,
                                                     const allm_tool_answer *);

/* Put another record in the place of the one there is, in every status; a lock
 * is kept.  So a session that ended with an error may begin anew with its
 * thread, or a message in its middle be changed. */
ALLM_API allm_status allm_session_replace(allm_session *,
                                          const allm_session_record *fields);

/*
 * Answer calls that wait for the caller.  When none is left the session is
 * idle: go on with allm_session_continue() without a message.  An id that does
 * not wait is an error (unknown_tool_call_id).  Of several answers all are
 * taken or none; a list of none changes nothing, whatever the status.
 */
ALLM_API allm_status allm_session_submit_tool_result(allm_session *,
                                                     const allm_tool_answer *);
ALLM_API allm_status
allm_session_submit_tool_results(allm_session *, size_t count,
                                 const allm_tool_answer *const *);

/* ----------------------------------------------------------- 4  Reducer --- */

/*
 * Fold the events of a stream into a session: what the operations do inside,
 * for events that come from elsewhere, or to keep the old session as well.
 */
typedef struct allm_reducer allm_reducer;

typedef enum allm_reducer_mode {
    ALLM_REDUCER_CHAT,                /* events of a start, reply, continue */
    ALLM_REDUCER_STEP                 /* of a step                          */
} allm_reducer_mode;

typedef struct allm_reducer_opts {
    size_t            size;
    allm_reducer_mode mode;
    uint32_t          reserved;
    const char       *input;          /* what the user said; kept in metadata.
                                         cancelled_input if it is cancelled */
} allm_reducer_opts;

typedef struct allm_reduced {         /* chat or step is NULL               */
    size_t                     size;
    const allm_session_record *session;
    const allm_chat_result    *chat;
    const allm_step_result    *step;
} allm_reduced;

/* The record is the session as it was before the operation. */
ALLM_API allm_reducer *allm_reducer_new(const allm_session_record *,
                                        const allm_reducer_opts *);
ALLM_API const allm_error *allm_reducer_error(const allm_reducer *);
ALLM_API void allm_reducer_free(allm_reducer *);
/* Total: an event that makes no sense changes nothing. */
ALLM_API allm_status allm_reducer_add(allm_reducer *, const allm_event *);
/*
 * What the events came to, lent until the next event is added; the same
 * however often it is asked.  Without the last event it was cancelled: the
 * result is a chat result that says so, with the steps so far; without any step
 * the session is as before.
 */
ALLM_API const allm_reduced *allm_reducer_finalize(allm_reducer *);

/* ------------------------------------------------------------- 5  Files --- */

/*
 * The session as a JSON document in a file that only its owner may read.  The
 * file is written whole or not at all.  While one writes, or holds the lock
 * ("PATH.lock", gone when it is let go), others are refused with the reason
 * session_locked.
 */
ALLM_API allm_status allm_session_save(allm_session *, const char *path);

enum allm_session_load_flags {
    ALLM_SESSION_LOCK   = 1 << 0,     /* hold the lock until the session is
                                         freed: nobody else saves meanwhile */
    ALLM_SESSION_CREATE = 1 << 1      /* no such file: an empty session     */
};

/*
 * A file that is not there (session_not_found), cannot be read
 * (unreadable_session), is damaged (damaged_session) or is something else
 * (not_a_session) is an error of the session, and stays as it is.
 */
ALLM_API allm_session *allm_session_load(const char *path, uint32_t flags);

#ifdef __cplusplus
}
#endif
#endif
