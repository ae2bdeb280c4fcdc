/*
 * allm_stream.h - running calls and reading their events
 *
 *    1  Call options          for one call
 *    2  Resolving             what a call would use
 *    3  Streams
 *    4  Hubs                  many streams in one thread or in your loop
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

/* ------------------------------------------------------ 1  Call options --- */

typedef allm_status (*allm_event_fn)(const allm_event *, void *ud);
/* Stop here?  Asked after a step that would be followed by another. */
typedef bool (*allm_halt_fn)(const allm_step_result *, void *ud);
typedef allm_status (*allm_journal_fn)(const allm_journal_entry *, void *ud);

/*
 * Options of one call.  The same ones may be given as data in `json`, by the
 * names of their members, together with any option a provider knows; one name
 * in both places is misuse.  Tools and on_event are for the struct only, and
 * null in json is absent.  Precedence: call, request, engine, default.
 */
typedef struct allm_call_opts {
    size_t                  size;
    const char             *model;
    const char             *api_key;          /* for this call, never kept  */
    size_t                  tool_count;
    const allm_tool *const *tools;            /* merged with the engine's   */
    const allm_json        *params;           /* merge_opts only            */
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
    uint32_t                connect_ms;       /* deadlines; 0: the default  */
    uint32_t                first_ms;         /* to the first content       */
    uint32_t                silence_ms;       /* between two contents       */
    uint32_t                total_ms;         /* of the whole call: turns,
                                                 retries, re-asks, tools    */
    allm_event_fn           on_event;         /* sees the adapter's events  */
    void                   *on_event_ud;
    const allm_json        *json;
    /* steps, chats and agents: sections 9 to 11 */
    uint32_t                mode;             /* ALLM_MODE_*                */
    uint32_t                on_tool_error;    /* ALLM_TOOL_POLICY_*         */
    void                  (*on_tool_error_fn)(allm_tool_run *,
                                              const allm_error *, void *ud);
    void                   *on_tool_error_ud;
    uint32_t                tool_timeout_ms;  /* 0: 30 s; UINT32_MAX: none  */
    uint32_t                max_concurrency;  /* 0: twice the CPUs          */
    uint32_t                live_tool_events; /* 1: started when it starts  */
    uint32_t                validate_arguments;   /* 1: by the schema       */
    const struct allm_executor *executor;     /* NULL: the engine's, or the
                                                 tool's function; copied    */
    const struct allm_encoder  *encoder;      /* NULL: the engine's, or JSON;
                                                 copied                     */
    uint32_t                structured_finalize;  /* 1: in two passes       */
    uint32_t                max_same_calls;   /* turns with the same calls;
                                                 0: no limit                */
    const char             *structured_finalize_nudge;  /* "": none         */
    allm_halt_fn            halt_when;
    void                   *halt_when_ud;
    uint32_t                validate_output;  /* 1: the answer must fit the
                                                 schema of response_format  */
    uint32_t                max_tool_output;  /* bytes of a result that the
                                                 model sees; 0: all.  It gets
                                                 a tool for the rest.       */
    allm_int                output_retries;   /* how often to ask again; 2  */
    const allm_pipeline    *pipeline;         /* NULL: the six stages       */
    size_t                  policy_count;
    const allm_policy *const *policies;
    allm_budget            *budget;           /* shared by all who have it  */
    allm_journal_fn         journal;          /* told before it happens     */
    void                   *journal_ud;
    const allm_journal_replay *replay;        /* go on from a journal       */
} allm_call_opts;

/* --------------------------------------------------------- 2  Resolving --- */

/*
 * An engine with the model, tools (by name), params and context of the options.
 * It never refuses: other options, and what is of a wrong kind, are left out.
 */
ALLM_API allm_engine *allm_engine_merge_opts(const allm_engine *,
                                             const allm_call_opts *);

/* What a call with these options would use.  resolve_model: a text, a model
 * reference in its plain form if a catalog knows it, or null.  resolve_params:
 * the engine's, with every option over them that is no field of an engine. */
ALLM_API allm_json *allm_engine_resolve_model(const allm_engine *,
                                              const allm_call_opts *);
ALLM_API allm_json *allm_engine_resolve_params(const allm_engine *,
                                               const allm_call_opts *);
/* An engine record whose tools they are: the engine's in their order, each
 * replaced by the call's of that name, then the others of the call. */
ALLM_API allm_engine_record *
allm_engine_resolve_tools(const allm_engine *, const allm_call_opts *);

/* ----------------------------------------------------------- 3  Streams --- */

/*
 * A call in progress.  Pull its events, or wait for its end and read the
 * result.  Nothing runs while you are not inside; free it when you like.
 */
typedef struct allm_stream allm_stream;

/* One answer.  What can fail before the network has failed when this
 * returns: ask allm_stream_error(). */
ALLM_API allm_stream *allm_generate(const allm_engine *, const allm_request *,
                                    const allm_call_opts *);

/*
 * The next event, lent until the next call on this stream.
 *
 *   ALLM_EVENT   *event is set
 *   ALLM_OK      the call has ended; the results are complete
 *   ALLM_AGAIN   only in a hub: come back when the hub names this stream; or
 *                it is held
 *   < 0          it never began, was misused, or memory ran out; the same
 *                answer from now on, and no result
 *
 * A failure in the middle is an event, a result whose finish reason is error,
 * and ALLM_OK.
 */
ALLM_API allm_status allm_stream_next(allm_stream *, const allm_event **event);
ALLM_API allm_status allm_stream_wait(allm_stream *);
/* Stop, from any thread or a signal handler: no further event but the end. */
ALLM_API void allm_stream_cancel(allm_stream *);
/*
 * Hold it, or let it go on: while it is held allm_stream_next() and _wait()
 * give ALLM_AGAIN, and its hub does not name it, unless it is cancelled or
 * fails.
 * first_ms and silence_ms do not run, connect_ms and total_ms do.  What comes
 * from the network is buffered, up to 64 KiB (over HTTP/2: 32 MiB); tools that
 * run go on, and their results wait; no request, tool or entry of a journal is
 * begun.  Only by the thread that has the stream.
 */
ALLM_API void allm_stream_hold(allm_stream *, bool hold);
ALLM_API void allm_stream_free(allm_stream *);
/* Why it failed, at the start or in the middle; NULL: it did not. */
ALLM_API const allm_error *allm_stream_error(const allm_stream *);
/* The answer, of a chat the last one, once allm_stream_next() or _wait() gave
 * ALLM_OK. */
ALLM_API const allm_response *allm_stream_response(const allm_stream *);
ALLM_API const char *allm_stream_request_id(const allm_stream *);
/* The event lent last, as JSON. */
ALLM_API allm_text *allm_stream_event_json(const allm_stream *);

/* -------------------------------------------------------------- 4  Hubs --- */

/*
 * Many streams in one thread, or in your own loop.  Add streams before their
 * first pull; free them when you like.  A hub, its streams included, is used
 * by one thread at a time; only allm_stream_cancel() may come from others.
 * docs/hub-in-your-loop.md shows it in poll, epoll, libuv and asyncio.
 */
typedef struct allm_hub allm_hub;

typedef struct allm_hub_opts {
    size_t                size;
    const allm_allocator *allocator;
    const allm_clock     *clock;
    const allm_net_opts  *net;        /* NULL: those of the first engine    */
} allm_hub_opts;

ALLM_API allm_hub *allm_hub_new(const allm_hub_opts *);
/* Why the hub could not be made, and is of no use; or why the last
 * allm_hub_add() was refused or the last allm_hub_wait() could not wait: then
 * hub and stream are as before, and the next call of either that goes well
 * clears it.  NULL: all is well. */
ALLM_API const allm_error *allm_hub_error(const allm_hub *);
/* Streams that have not ended fail from then on, and are still yours. */
ALLM_API void allm_hub_free(allm_hub *);
ALLM_API allm_status allm_hub_add(allm_hub *, allm_stream *, void *tag);
/* A stream that has something to say, and its tag; NULL when the time (in
 * milliseconds; -1: no limit) is over or the hub has no stream left. */
ALLM_API allm_stream *allm_hub_wait(allm_hub *, int timeout_ms, void **tag);
/* For your own loop: when this descriptor is readable, or the timeout in
 * milliseconds (-1: none) has passed, call allm_hub_wait(hub, 0, &tag) until
 * it gives NULL.  The descriptor is never read, written or closed by you. */
ALLM_API int allm_hub_fd(const allm_hub *);
ALLM_API int allm_hub_timeout(const allm_hub *);
/* Streams that have not ended. */
ALLM_API size_t allm_hub_count(const allm_hub *);

#ifdef __cplusplus
}
#endif
#endif
