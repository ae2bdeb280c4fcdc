/*
 * allm_stream.h - running calls and reading their events
 *
 *    1  Call options          the options of one call
 *    2  Resolving             the settings that a call would use
 *    3  Streams
 *    4  Hubs                  many streams in one thread or event loop
 */
#ifndef ALLM_STREAM_H
#define ALLM_STREAM_H

#include "allm_engine.h"
#include "allm_event.h"
#include "allm_tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_budget allm_budget;
typedef struct allm_journal_entry allm_journal_entry;
typedef struct allm_journal_replay allm_journal_replay;
typedef struct allm_pipeline allm_pipeline;
typedef struct allm_policy allm_policy;
struct allm_encoder;
struct allm_executor;
struct allm_gate;

/* ------------------------------------------------------ 1  Call options --- */

/*
 * A function that sees events.  A negative status ends the call with an error.
 */
typedef allm_status (*allm_event_fn)(const allm_event *, void *ud);
/*
 * Returns true to stop a chat.  Called after each step that another step would
 * follow.
 */
typedef bool (*allm_halt_fn)(const allm_step_result *, void *ud);
/*
 * Writes an entry of a journal.  Returns ALLM_OK, ALLM_AGAIN or an error: see
 * "Journal" in allm_ext.h.
 */
typedef allm_status (*allm_journal_fn)(const allm_journal_entry *, void *ud);

/*
 * The options of one call.  `json` takes the same options as data, under the
 * names of these members, together with any option that the provider knows.  A
 * name given in both places is misuse.  The tools and on_event can only be
 * given in the struct; null in `json` means absent.  A value is looked up in
 * the call, then the request, then the engine; else the default applies.
 */
typedef struct allm_call_opts {
    size_t                  size;
    const char             *model;
    const char             *api_key;          /* for this call only; never
                                                 stored                     */
    size_t                  tool_count;
    const allm_tool *const *tools;            /* merged with the engine's   */
    const allm_json        *params;           /* used by
                                                 allm_engine_merge_opts()
                                                 only                       */
    const allm_json        *context;
    const allm_json        *adapter_opts;
    allm_num                temperature;
    allm_int                max_tokens;
    const char             *tool_choice;
    const allm_json        *response_format;
    const char             *request_id;
    const char             *session_id;
    uint32_t                hide_text_deltas; /* "emit_text_deltas": false  */
    uint32_t                hide_tool_deltas; /* "emit_tool_deltas": false  */
    uint32_t                include_raw_chunks;
    uint32_t                max_turns;        /* 0: 8                       */
    uint32_t                connect_ms;       /* timeouts; 0: the default   */
    uint32_t                first_ms;         /* until the first content    */
    uint32_t                silence_ms;       /* between two pieces of
                                                 content                    */
    uint32_t                total_ms;         /* for the whole call: turns,
                                                 retries, re-asks and tools */
    allm_event_fn           on_event;         /* sees the adapter's events  */
    void                   *on_event_ud;
    const allm_json        *json;
    /* for steps, chats and agents */
    allm_mode               mode;
    allm_tool_policy        on_tool_error;
    allm_tool_error_fn      on_tool_error_fn;
    void                   *on_tool_error_ud;
    uint32_t                tool_timeout_ms;  /* 0: 30 s; UINT32_MAX: none  */
    uint32_t                max_concurrency;  /* 0: twice the CPUs          */
    uint32_t                live_tool_events; /* 1: emit "started" when the
                                                 tool starts                */
    uint32_t                validate_arguments;   /* 1: check them by the
                                                     schema                 */
    const struct allm_executor *executor;     /* NULL: the engine's, else the
                                                 tool's function; copied    */
    const struct allm_encoder  *encoder;      /* NULL: the engine's, else
                                                 JSON; copied               */
    uint32_t                structured_finalize;  /* 1: in two passes       */
    uint32_t                max_same_calls;   /* turns with equal calls; 0:
                                                 no limit                   */
    const char             *structured_finalize_nudge;  /* "": none         */
    allm_halt_fn            halt_when;
    void                   *halt_when_ud;
    uint32_t                validate_output;  /* 1: the answer must match the
                                                 schema of response_format  */
    uint32_t                max_tool_output;  /* bytes of a tool result that
                                                 the model sees; 0: all.  The
                                                 model reads the rest with a
                                                 tool.                      */
    allm_int                output_retries;   /* how often to ask again when
                                                 it does not match; 2       */
    const allm_pipeline    *pipeline;         /* NULL: the six stages       */
    size_t                  policy_count;
    const allm_policy *const *policies;
    allm_budget            *budget;           /* may be shared with other
                                                 calls                      */
    allm_journal_fn         journal;          /* called before each step
                                                 takes effect               */
    void                   *journal_ud;
    const allm_journal_replay *replay;        /* continue from a journal    */
    const char             *key_prefix;       /* of the keys of tool calls;
                                                 NULL: the request id       */
    const struct allm_gate *gate;             /* NULL: the engine's, else
                                                 every call may begin;
                                                 copied                     */
} allm_call_opts;

/* --------------------------------------------------------- 2  Resolving --- */

/*
 * Creates an engine with the model, tools (replaced by name), params and
 * context of the options.  It never fails because of an option: other options
 * and values of a wrong type are left out.
 */
ALLM_API allm_engine *allm_engine_merge_opts(const allm_engine *,
                                             const allm_call_opts *);

/*
 * The model that a call with these options would use: a string, a model
 * reference in its plain form if a catalog knows it, or null.  The caller
 * frees it.
 */
ALLM_API allm_json *allm_engine_resolve_model(const allm_engine *,
                                              const allm_call_opts *);
/*
 * The parameters that a call would use: those of the engine, overridden by
 * every option that is not a field of an engine.  The caller frees them.
 */
ALLM_API allm_json *allm_engine_resolve_params(const allm_engine *,
                                               const allm_call_opts *);
/*
 * An engine record with the tools that a call would use: the engine's tools in
 * their order, each replaced by the call's tool of the same name, then the
 * other tools of the call.
 */
ALLM_API allm_engine_record *
allm_engine_resolve_tools(const allm_engine *, const allm_call_opts *);

/* ----------------------------------------------------------- 3  Streams --- */

/*
 * A call in progress.  Pull its events with allm_stream_next(), or wait for
 * the end with allm_stream_wait() and read the result.  A stream has no thread
 * of its own: it advances only inside these functions or in a hub.
 */
typedef struct allm_stream allm_stream;

/*
 * Requests one response from a model.  Everything that can fail without the
 * network has failed when this returns: see allm_stream_error().  The caller
 * frees the stream at any time.
 */
ALLM_API allm_stream *allm_generate(const allm_engine *, const allm_request *,
                                    const allm_call_opts *);

/*
 * Returns the next event, which is borrowed until the next call on this
 * stream.
 *
 *   ALLM_EVENT   *event is set
 *   ALLM_OK      the call has ended; the results are complete
 *   ALLM_AGAIN   nothing yet: in a hub, call again when allm_hub_wait()
 *                returns this stream; or the stream is held
 *   < 0          it never started, was misused, or memory ran out; later
 *                calls return the same status, and there is no result
 *
 * A failure in the middle of a response is an error event, a result whose
 * finish reason is error, and ALLM_OK at the end.
 */
ALLM_API allm_status allm_stream_next(allm_stream *, const allm_event **event);
/*
 * Runs the call to its end and drops its remaining events.  Returns the last
 * status of allm_stream_next().
 */
ALLM_API allm_status allm_stream_wait(allm_stream *);
/*
 * Cancels the call.  May be called from any thread and from a signal handler.
 * No event follows except the end.
 */
ALLM_API void allm_stream_cancel(allm_stream *);
/*
 * Holds a stream, or lets it continue.  While a stream is held,
 * allm_stream_next() and allm_stream_wait() return ALLM_AGAIN, and its hub
 * does not return it unless it is cancelled or fails. first_ms and silence_ms
 * are suspended, connect_ms and total_ms are not.  Data from the network is
 * buffered, up to 64 KiB (32 MiB over HTTP/2).  Running tools continue and
 * their results wait; no new request, tool or journal entry is started.  Only
 * the thread that uses the stream may call this.
 */
ALLM_API void allm_stream_hold(allm_stream *, bool hold);
/* Frees a stream; a call in progress is cancelled. */
ALLM_API void allm_stream_free(allm_stream *);
/* Why the call failed, at the start or in the middle; NULL if it did not. */
ALLM_API const allm_error *allm_stream_error(const allm_stream *);
/*
 * The response (of a chat, the last one), borrowed from the stream.  NULL
 * until allm_stream_next() or allm_stream_wait() has returned ALLM_OK.
 */
ALLM_API const allm_response *allm_stream_response(const allm_stream *);
/* The request id of the call: yours, or a random one. */
ALLM_API const char *allm_stream_request_id(const allm_stream *);
/* The current event as JSON; the caller frees it. */
ALLM_API allm_text *allm_stream_event_json(const allm_stream *);

/* -------------------------------------------------------------- 4  Hubs --- */

/*
 * A hub runs many streams in one thread, alone or inside an event loop.  Add a
 * stream before it is first pulled; free it at any time.  One thread at a time
 * may use a hub and its streams; only allm_stream_cancel() may be called from
 * others. docs/hub-in-your-loop.md shows hubs in poll, epoll, libuv and
 * asyncio.
 */

/* A hub. */
typedef struct allm_hub allm_hub;

/* The options of a hub. */
typedef struct allm_hub_opts {
    size_t                size;
    const allm_allocator *allocator;
    const allm_clock     *clock;
    const allm_net_opts  *net;        /* NULL: as the first engine          */
} allm_hub_opts;

/* Creates a hub. opts may be NULL. */
ALLM_API allm_hub *allm_hub_new(const allm_hub_opts *);
/*
 * Why the hub could not be created; such a hub cannot be used.  Or why the
 * last allm_hub_add() or allm_hub_wait() failed: then the hub and the stream
 * are unchanged, and the next successful call clears the error.  NULL: no
 * error.
 */
ALLM_API const allm_error *allm_hub_error(const allm_hub *);
/*
 * Frees the hub.  Streams that have not ended fail from then on; the caller
 * still frees them.
 */
ALLM_API void allm_hub_free(allm_hub *);
/* Adds a stream. allm_hub_wait() returns the tag together with the stream. */
ALLM_API allm_status allm_hub_add(allm_hub *, allm_stream *, void *tag);
/*
 * Waits for a stream that has an event, or has ended, and returns it with its
 * tag; the stream still belongs to the caller that added it.  Returns NULL
 * after timeout_ms milliseconds (-1: no limit; 0: do not wait), or when the hub
 * has no streams left.
 */
ALLM_API allm_stream *allm_hub_wait(allm_hub *, int timeout_ms, void **tag);
/*
 * For an event loop: when this descriptor is readable, or the timeout in
 * milliseconds (-1: none) has passed, call allm_hub_wait(hub, 0, &tag) until
 * it returns NULL.  The descriptor is level-triggered.  Do not read, write or
 * close it.
 */
ALLM_API int allm_hub_fd(const allm_hub *);
ALLM_API int allm_hub_timeout(const allm_hub *);
/* The number of streams that have not ended. */
ALLM_API size_t allm_hub_count(const allm_hub *);

#ifdef __cplusplus
}
#endif
#endif
