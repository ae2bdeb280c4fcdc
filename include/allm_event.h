/*
 * allm_event.h - the events of a stream, and how they become results
 *
 *    1  Events
 *    2  Collector             folds events into results
 */
#ifndef ALLM_EVENT_H
#define ALLM_EVENT_H

#include "allm_request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_chat_result allm_chat_result;
typedef struct allm_step_result allm_step_result;

/* ------------------------------------------------------------ 1  Events --- */

/* The kinds of events. */
typedef enum allm_event_type {
    ALLM_EV_NONE,
    ALLM_EV_MESSAGE_STARTED, ALLM_EV_TEXT_DELTA, ALLM_EV_TEXT_COMPLETED,
    ALLM_EV_TOOL_CALL_STARTED, ALLM_EV_TOOL_CALL_DELTA,
    ALLM_EV_TOOL_CALL_COMPLETED, ALLM_EV_TOOL_EXECUTION_STARTED,
    ALLM_EV_TOOL_EXECUTION_COMPLETED, ALLM_EV_TOOL_RESULT_ENCODED,
    ALLM_EV_ASK_USER_REQUESTED, ALLM_EV_TOOL_HALT, ALLM_EV_MESSAGE_COMPLETED,
    ALLM_EV_STEP_COMPLETED, ALLM_EV_CHAT_COMPLETED, ALLM_EV_RAW_CHUNK,
    ALLM_EV_ERROR,
    ALLM_EV_REASONING_DELTA, ALLM_EV_REASONING_COMPLETED, ALLM_EV_USAGE,
    ALLM_EV_SESSION_CHANGED
} allm_event_type;

/*
 * Who runs the tool calls of a response: the library (auto) or the caller
 * (manual).
 */
typedef enum allm_mode { ALLM_MODE_AUTO, ALLM_MODE_MANUAL } allm_mode;

/*
 * An event.  One flat struct serves all kinds; the list shows which members
 * each kind sets, in the order of its JSON form, which begins with "type" and
 * "seq".
 *
 *   message_started           message
 *   text_delta                id, delta
 *   text_completed            id, text
 *   tool_call_started         id, name
 *   tool_call_delta           id, arguments_delta
 *   tool_call_completed       id, name, arguments, raw_arguments, metadata?
 *   tool_execution_started    id, name, arguments
 *   tool_execution_completed  id, name, result
 *   tool_result_encoded       id, content
 *   ask_user_requested        tool_call_id, tool_name, question, opts
 *   tool_halt                 tool_call_id, reason, result, content?, error?
 *   message_completed         message, finish_reason, metadata?
 *   step_completed            response, thread, mode, manual_tool_calls,
 *                             metadata?
 *   chat_completed            result (a chat result)
 *   raw_chunk                 chunk
 *   error                     error
 *   reasoning_delta           id, delta
 *   reasoning_completed       id, text, provider_state
 *   usage                     the members of a usage, flat
 *   session_changed           record, keep, messages, status
 *
 * Streams of allm_store_follow() alone emit session_changed, and set `cursor`,
 * which follows "seq" in the JSON form.  Their step_completed and
 * chat_completed have neither a thread nor steps.
 */
typedef struct allm_event {
    size_t                       size;
    struct allm_home            *home;
    allm_event_type              type;
    allm_finish                  finish_reason;
    uint64_t                     seq;         /* from 1, without gaps       */
    const char                  *id;          /* or "tool_call_id"          */
    const char                  *name;        /* or "tool_name"             */
    size_t                       text_len;
    const char                  *text;        /* "delta", "text", "content",
                                                 "arguments_delta",
                                                 "question"                 */
    size_t                       raw_len;
    const char                  *raw_arguments;
    const char                  *reason;
    const allm_json             *arguments;
    const allm_json             *result;      /* a tool's result            */
    const allm_json             *opts;
    const allm_json             *chunk;
    const allm_json             *metadata;
    const allm_json             *provider_state;
    const allm_message          *message;
    const allm_response         *response;
    const allm_thread           *thread;
    allm_mode                    mode;
    uint32_t                     reserved;
    size_t                       manual_tool_call_count;
    const allm_tool_call *const *manual_tool_calls;
    const allm_chat_result      *chat_result; /* "result"                   */
    const allm_usage            *usage;
    const allm_error            *error;
    const allm_json             *kept;
    const char                  *cursor;      /* "SEQ.N"; or NULL           */
    uint64_t                     record;      /* the number of the record   */
    uint64_t                     keep;        /* so many messages stay...   */
    size_t                       message_count;
    const allm_message *const   *messages;    /* ...and these follow        */
    const char                  *status;      /* of the session; NULL: an
                                                 operation has begun        */
} allm_event;

/*
 * Creates an event; the type and the members of that type are required.  The
 * caller frees it. allm_event_error() returns why it was rejected, or NULL.
 * allm_event_json() returns its JSON form.
 */
ALLM_API allm_event *allm_event_new(const allm_event *fields);
ALLM_API void allm_event_free(allm_event *);
ALLM_API const allm_error *allm_event_error(const allm_event *);
ALLM_API allm_text *allm_event_json(const allm_event *);
/* Creates an event from its JSON form.  Unknown members are kept. */
ALLM_API allm_event *allm_event_parse(const char *json, size_t len);
/*
 * The name of a type, such as "text_delta" (NULL for ALLM_EV_NONE), and the
 * type of a name (ALLM_EV_NONE for an unknown one).
 */
ALLM_API const char *allm_event_tag(allm_event_type);
ALLM_API allm_event_type allm_event_type_of(const char *tag);

/* --------------------------------------------------------- 2  Collector --- */

/*
 * A collector folds events into results.  Streams have one inside; use your
 * own for events that come from elsewhere, such as a file or another process.
 */

/* A collector of events. */
typedef struct allm_collector allm_collector;
/*
 * Creates a collector.  The thread is the conversation before the first event;
 * NULL if only responses are wanted. allm_collector_error() returns why it
 * could not be created, or NULL.
 */
ALLM_API allm_collector *allm_collector_new(const allm_thread *);
ALLM_API const allm_error *allm_collector_error(const allm_collector *);
ALLM_API void allm_collector_free(allm_collector *);
/*
 * Adds an event.  An event that does not fit what came before is ignored, so
 * this fails only when memory runs out.
 */
ALLM_API allm_status allm_collector_add(allm_collector *, const allm_event *);
/*
 * The results so far; the caller frees them.  The step is the one in progress,
 * or the last one that ended.  A step result needs the thread; so does a chat
 * result, unless a chat_completed event was added.
 */
ALLM_API allm_response *allm_collector_response(const allm_collector *);
ALLM_API allm_step_result *allm_collector_step_result(const allm_collector *);
ALLM_API allm_chat_result *allm_collector_chat_result(const allm_collector *);

#ifdef __cplusplus
}
#endif
#endif
