/*
 * allm_run.h - the verbs: engines, streams, hubs
 *
 * allm.h has the nouns and the rules, and includes this file at its end: a
 * program includes <allm.h> alone.
 *
 *    1  Engine                what to talk to, and with which defaults
 *    2  Call options          for one call
 *    3  Streams               running a call and reading its events
 *    4  Hubs                  many streams in one thread or in your loop
 *    5  Collector             events to results
 *    6  Keys, retry, trace    who may, how often, what happened
 *    7  Catalog               what models can do and cost; providers
 *    8  Fake                  a scripted model, for tests and demos
 *    9  Tools that run        how a tool's function answers
 *   10  Steps and chats       a turn with its tools; turns until it is done
 *   11  Agents                the same machine as an agent's loop
 *   12  Embeddings            texts as vectors
 *   13  Making images         by words, or of other images
 *   14  Moderation            is it harmful?
 */
#ifndef ALLM_H
# include "allm.h"              /* which includes this file, in its turn */
#endif

#ifndef ALLM_RUN_H
#define ALLM_RUN_H

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------- 1  Engine --- */

typedef struct allm_adapter allm_adapter;       /* allm_ext.h */
typedef struct allm_transport allm_transport;   /* allm_ext.h */
typedef struct allm_engine allm_engine;
typedef struct allm_keys allm_keys;
typedef struct allm_catalog allm_catalog;

/* One thing that happened, for logs and metrics: see section 6. */
typedef struct allm_trace_event allm_trace_event;
typedef void (*allm_trace_fn)(const allm_trace_event *, void *ud);

/* How the HTTP client reaches servers (docs/http.md).  TLS is always
 * verified. */
typedef struct allm_net_opts {
    size_t      size;
    const char *ca_file;              /* NULL: SSL_CERT_FILE, or the system's */
    const char *proxy;                /* NULL: the environment's; "": none  */
    const char *user_agent;           /* NULL: "liballm/VERSION"            */
    uint32_t    max_idle_ms;          /* of connections that wait to be used
                                         again; 0: 50 s                     */
    uint32_t    http2;                /* 1: where the server offers it      */
    uint32_t    max_connections;      /* kept to be used again; 0: 512      */
    uint32_t    reserved;
} allm_net_opts;

/*
 * What to talk to, and with which defaults.  An engine is an immutable value:
 * the put functions return a new engine that shares what did not change.
 * Several threads may use one.  It never holds a key.
 */
typedef struct allm_engine_opts {
    size_t                    size;
    const char               *model;          /* "fake:m", "openai:gpt-..." */
    const char               *adapter;        /* by name; NULL: the model's */
    const allm_adapter       *adapter_table;  /* your own, copied; what
                                                 it points to must stay     */
    const allm_json          *adapter_opts;   /* object, or [[key, value]]  */
    size_t                    tool_count;
    const allm_tool *const   *tools;
    const char               *tool_executor;  /* names, kept for those who  */
    const char               *tool_result_encoder;    /* store engines: who
                                                 runs tools are the tables
                                                 executor and encoder       */
    const char               *image_adapter;
    const allm_json          *params;
    const allm_json          *context;
    const allm_json          *retry;          /* "default", false, object or
                                                 pairs                      */
    const allm_json          *middleware;     /* must stay empty            */
    const allm_json          *metadata;
    uint32_t                  flags;          /* ALLM_ENGINE_*              */
    uint32_t                  reserved;
    const allm_transport     *transport;      /* NULL: the HTTP client      */
    const struct allm_net_opts *net;          /* how that one works         */
    const allm_keys          *keys;           /* counted: kept by the engine */
    const allm_catalog       *catalog;        /* counted                    */
    const allm_allocator     *allocator;
    const allm_clock         *clock;
    const allm_random        *random;
    allm_trace_fn             trace;
    void                     *trace_ud;
    const struct allm_executor *executor;     /* who runs tools; copied     */
    const struct allm_encoder  *encoder;      /* writes results; copied     */
} allm_engine_opts;

enum allm_engine_flags {
    ALLM_ENGINE_NO_ADAPTER = 1 << 0   /* do not look one up by the model    */
};

ALLM_API allm_engine *allm_engine_new(const allm_engine_opts *);
/* The fields from a record (what was stored), the rest from opts. */
ALLM_API allm_engine *allm_engine_from_record(const allm_engine_record *,
                                              const allm_engine_opts *);
ALLM_API allm_engine *allm_engine_keep(const allm_engine *);
ALLM_API void allm_engine_free(allm_engine *);
ALLM_API const allm_error *allm_engine_error(const allm_engine *);
/* What it was made of, lent by the engine; of a refused one an empty record. */
ALLM_API const allm_engine_record *allm_engine_fields(const allm_engine *);
/* Plain data only: a tool that has a function is refused (not_serializable). */
ALLM_API allm_text *allm_engine_json(const allm_engine *, uint32_t form);

/* A new engine with one change.  Tools are appended, also where the name is
 * taken; to replace by name use allm_engine_merge_opts(). */
ALLM_API allm_engine *allm_engine_put_tool(const allm_engine *,
                                           const allm_tool *);
ALLM_API allm_engine *allm_engine_put_tools(const allm_engine *, size_t count,
                                            const allm_tool *const *);
ALLM_API allm_engine *allm_engine_put_param(const allm_engine *,
                                            const char *key,
                                            const allm_json *value);
ALLM_API allm_engine *allm_engine_put_context(const allm_engine *,
                                              const char *key,
                                              const allm_json *value);
/* The adapter is that of the new model's provider where it was not given and
 * the provider is known, else the one there was. */
ALLM_API allm_engine *allm_engine_with_model(const allm_engine *,
                                             const char *model);

/* ----------------------------------------------------- 2  Call options --- */

struct allm_call_opts;
typedef allm_status (*allm_event_fn)(const allm_event *, void *ud);
/* Stop here?  Asked after a step that would be followed by another. */
typedef bool (*allm_halt_fn)(const allm_step_result *, void *ud);
typedef struct allm_pipeline allm_pipeline;             /* allm_ext.h       */
typedef struct allm_policy allm_policy;                 /* allm_ext.h       */
typedef struct allm_budget allm_budget;                 /* section 11       */
typedef struct allm_journal_replay allm_journal_replay;                 /* allm_ext.h       */
typedef struct allm_journal_entry allm_journal_entry;   /* allm_ext.h       */
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
    const allm_journal_replay      *replay;           /* go on from a journal       */
} allm_call_opts;

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

/* ---------------------------------------------------------- 3  Streams --- */

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
 * Hold it, or let it go on: while it is held allm_stream_next() and _wait() give
 * ALLM_AGAIN, and its hub does not name it, unless it is cancelled or fails.
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

/* ------------------------------------------------------------- 4  Hubs --- */

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

/* -------------------------------------------------------- 5  Collector --- */

/*
 * Fold events into results: what streams do inside, for events that come from
 * elsewhere.  Total: an event that makes no sense changes nothing.
 */
typedef struct allm_collector allm_collector;
ALLM_API allm_collector *allm_collector_new(const allm_thread *);   /* or NULL */
ALLM_API const allm_error *allm_collector_error(const allm_collector *);
ALLM_API void allm_collector_free(allm_collector *);
ALLM_API allm_status allm_collector_add(allm_collector *, const allm_event *);
ALLM_API allm_response *allm_collector_response(const allm_collector *);
/* These two need a thread (the second not, after a chat_completed).  The step
 * is the one that goes on, or that has just ended. */
ALLM_API allm_step_result *allm_collector_step_result(const allm_collector *);
ALLM_API allm_chat_result *allm_collector_chat_result(const allm_collector *);

/* ----------------------------------------------- 6  Keys, retry, trace --- */

/* The value of an environment variable, lent until the next call; NULL: none.
 * Called by any thread, one at a time, with the store locked. */
typedef const char *(*allm_env_fn)(void *ud, const char *name);

/*
 * Where keys come from: the call, this store, the configuration, the
 * environment, a .env file; the first that is not empty.  Values are wiped
 * when they go.  One store may serve many engines and threads at once.
 */
typedef struct allm_keys_opts {
    size_t                size;
    const allm_json      *config;             /* {"openai": "sk-..."}       */
    uint32_t              load_dotenv;        /* 1: read a .env file        */
    uint32_t              reserved;
    const char           *dotenv_path;        /* NULL: ".env"               */
    allm_env_fn           env;                /* NULL: getenv()             */
    void                 *env_ud;
    const allm_allocator *allocator;
} allm_keys_opts;

ALLM_API allm_keys *allm_keys_new(const allm_keys_opts *);
ALLM_API const allm_error *allm_keys_error(const allm_keys *);
ALLM_API allm_keys *allm_keys_keep(const allm_keys *);
ALLM_API void allm_keys_free(allm_keys *);
/* Into the store; an empty key counts as none. */
ALLM_API allm_status allm_keys_put(allm_keys *, const char *provider,
                                   const char *key);
ALLM_API allm_status allm_keys_delete(allm_keys *, const char *provider);
/* Empty the store, and read the .env file anew when it is needed. */
ALLM_API allm_status allm_keys_clear(allm_keys *);
/* Another configuration in place of the one of the options; NULL: none. */
ALLM_API allm_status allm_keys_configure(allm_keys *, const allm_json *config);
/* The key and where it was found ("opts", "runtime", "app_config", "env",
 * "dotenv"), wiped when the text is freed; a text that failed with missing_key
 * tells where was looked. */
ALLM_API allm_text *allm_keys_get(const allm_keys *, const char *provider,
                                  const char *call_key, const char **source);
/* "OPENAI_API_KEY" for "openai", and so on. */
ALLM_API allm_text *allm_keys_variable(const char *provider);

/* What happened: spans (generate, stream, step, chat, tool, image) start, then
 * stop or end by an exception; "adapter" tells of a retry, "engine" of a
 * warning, "agent" of each iteration and of its end.  Lent during the callback, which runs in the thread of the call. */
struct allm_trace_event {
    size_t           size;
    const char      *span;
    const char      *what;                    /* start, stop, exception,
                                                 retry, warning, complete,
                                                 loop_iteration             */
    int64_t          time_ns;                 /* of the engine's clock      */
    int64_t          unix_ms;
    int64_t          duration_ns;             /* stop and exception         */
    const char      *request_id;
    const char      *model;
    const allm_json *metadata;
};

/* The event as one JSON object, by our names or as OpenTelemetry's GenAI
 * attributes. */
enum allm_trace_form { ALLM_TRACE_PLAIN, ALLM_TRACE_OTEL };
ALLM_API allm_text *allm_trace_json(const allm_trace_event *, uint32_t form);
/* For .trace: a line of JSON, our names, to a file; .trace_ud points to its
 * descriptor (an int).  One write per line, so that several may share it. */
ALLM_API void allm_trace_write(const allm_trace_event *, void *descriptor);

/* ---------------------------------------------------------- 7  Catalog --- */

/*
 * Models with capabilities, limits and prices, from a JSON document of the
 * form of data/catalog.json (NULL: that one, which ships with the library; of
 * it only those models are read that are asked for).  Optional: without one
 * every model passes, and one it does not know, too.  Any number of threads may
 * use it.
 */
ALLM_API allm_catalog *allm_catalog_new(const allm_json *document);
/* The document over the one that ships: its models come first, and what it does
 * not have is looked for there. */
ALLM_API allm_catalog *allm_catalog_over(const allm_json *document);
ALLM_API const allm_error *allm_catalog_error(const allm_catalog *);
ALLM_API allm_catalog *allm_catalog_keep(const allm_catalog *);
ALLM_API void allm_catalog_free(allm_catalog *);
/* By any spelling; NULL if it is not there, or no memory.  Lent by the
 * catalog. */
ALLM_API const allm_model_ref *allm_catalog_find(const allm_catalog *,
                                                 const char *spelling);
ALLM_API const allm_model_ref *allm_catalog_at(const allm_catalog *, size_t);
/* The first model from `from` on that has all these capabilities, a list such
 * as ["tools", "vision"]; *index is its place.  NULL: there is none. */
ALLM_API const allm_model_ref *allm_catalog_select(const allm_catalog *,
                                                   const allm_json *require,
                                                   size_t from, size_t *index);
/* { "updated" (the day of its facts, or null), "source", "count", "providers":
 * [{ "name", "first" (the place of its first model, its default), "count" }] },
 * in the catalog's order. */
ALLM_API allm_json *allm_catalog_summary(const allm_catalog *);

/* The providers that are known by name, an array of { "name", "dialect" (the
 * adapter's name), "base_url" (or null: yours), "base_url_variable" (or null),
 * "keyless" (works without a key), "http" (false: nothing is sent),
 * "schema_provider" (null; or it ignores response_format, and this provider
 * asks the same server by a dialect that does not) }. */
ALLM_API allm_json *allm_registry_list(void);

/* ------------------------------------------------------------- 8  Fake --- */

/*
 * The adapter "fake" plays a script instead of asking a model.  Its options
 * (adapter_opts): script (one call), scripts (a list of calls), stream_script,
 * retry_until_call, usage, record.  docs/testing-with-fake.md has the grammar.
 *
 * An engine and all engines derived from it share one position in the script,
 * or that of a cursor.
 */
typedef struct allm_fake_cursor allm_fake_cursor;
ALLM_API allm_fake_cursor *allm_fake_cursor_new(void);
ALLM_API void allm_fake_cursor_free(allm_fake_cursor *);
ALLM_API uint64_t allm_fake_cursor_index(const allm_fake_cursor *);
/* Before the engine's first call. */
ALLM_API allm_status allm_fake_use_cursor(const allm_engine *,
                                          allm_fake_cursor *);

/* What the engine's calls did: calls that reached the adapter, streams let go,
 * and, with "record": true, the requests (an array of their plain forms). */
ALLM_API uint64_t allm_fake_calls(const allm_engine *);
ALLM_API uint64_t allm_fake_released(const allm_engine *);
ALLM_API allm_json *allm_fake_requests(const allm_engine *);

/* Scripts of one call, as values for "script" of adapter_opts. */
/* NULL: "Hello world". */
ALLM_API allm_json *allm_fake_plain_text(const char *text);
/* Its id is call_0; arguments NULL: {}. */
ALLM_API allm_json *allm_fake_single_tool_call(const char *name,
                                               const allm_json *arguments);
/* [[name, arguments], ...]; the ids are call_0, call_1, ... */
ALLM_API allm_json *allm_fake_parallel_tool_calls(const allm_json *calls);
/* The arguments in two pieces, id call_1. */
ALLM_API allm_json *allm_fake_streamed_arguments(const char *name,
                                                 const allm_json *arguments);
ALLM_API allm_json *allm_fake_mid_stream_error(const char *reason);
ALLM_API allm_json *allm_fake_delayed_text(const char *text, uint32_t ms);
ALLM_API allm_json *allm_fake_empty_response(void);
/* Several calls, for "scripts": the scripts one after the other. */
ALLM_API allm_json *allm_fake_multi_turn(size_t count,
                                         const allm_json *const *scripts);

/* --------------------------------------------------- 9  Tools that run --- */

/*
 * The function of a tool gets a run and the arguments, and answers once with
 * one of the first six before it returns; or it defers, and answers later, from
 * any thread.  One that does neither has failed (invalid_return).
 *
 * All give ALLM_OK; ALLM_ERR_MISUSE: it was answered before, and the first
 * answer stands; ALLM_ERR_NOMEM: no memory for the answer, and the call fails.
 * An answer that nobody waits for any longer is dropped, and that is ALLM_OK.
 *
 * Functions run in worker threads, several at once; those of a tool with
 * ALLM_TOOL_INLINE in the thread that pulls.  What `ud` points to must live
 * until the function has returned, also when its time is over.
 */

/* A value; a string appears in the result as it is, anything else as JSON.
 * NULL is JSON null. */
ALLM_API allm_status allm_tool_ok(allm_tool_run *, const allm_json *value);
ALLM_API allm_status allm_tool_text(allm_tool_run *, const char *text,
                                    size_t len);
/* It did not work out; the model reads the text. */
ALLM_API allm_status allm_tool_fail(allm_tool_run *, const char *text);
/* Only the user can tell; opts (NULL: none) is an object for the program. */
ALLM_API allm_status allm_tool_ask(allm_tool_run *, const char *question,
                                   const allm_json *opts);
/* Stop the chat after these tools.  Words of our own (ask_user, max_turns,
 * halt_when, tool_error, cancelled, completed, error, manual_tool_calls,
 * budget) and the empty one are no reasons: the call fails. */
ALLM_API allm_status allm_tool_halt(allm_tool_run *, const char *reason,
                                    const allm_json *value);
/* The function itself is broken, as by an exception of another language. */
ALLM_API allm_status allm_tool_raise(allm_tool_run *, const char *text);

/* A root: answer it once, free it once, from any thread, also when the stream
 * is gone.  NULL: the run was answered or deferred before. */
ALLM_API allm_tool_run *allm_tool_defer(allm_tool_run *);
/* Free a deferred run; one that was not answered has failed. */
ALLM_API void allm_tool_run_free(allm_tool_run *root);
/* Call fn(run, arguments, ud) after so many milliseconds of the engine's
 * clock, in the thread that pulls; it answers in place of this function.  No
 * thread is held meanwhile. */
ALLM_API allm_status allm_tool_later(allm_tool_run *, uint32_t ms,
                                     allm_tool_fn fn, void *ud);
/* Does nobody wait any longer: is its time over, or the stream gone?  For
 * functions that take long, to look from time to time. */
ALLM_API bool allm_tool_cancelled(const allm_tool_run *);

/* What a function may see, lent by the run. */
ALLM_API const allm_tool_call *allm_tool_run_call(const allm_tool_run *);
ALLM_API const allm_json *allm_tool_run_context(const allm_tool_run *);
ALLM_API const char *allm_tool_run_session_id(const allm_tool_run *);
ALLM_API const char *allm_tool_run_request_id(const allm_tool_run *);

/*
 * What to do when a call fails: called once for each, in the thread that
 * pulls.  The error is of kind TOOL; for what allm_tool_fail() said its reason
 * is handler_failed and its message the text.  Answer the run with
 * allm_tool_ok() or _text() to put that in place of the failure, with
 * allm_tool_halt() (its reason and value do not count) to stop the chat, with
 * allm_tool_raise() if this function has failed, too.  Other answers, and none,
 * stop the chat.
 */
typedef void (*allm_tool_error_fn)(allm_tool_run *, const allm_error *,
                                   void *ud);
typedef enum allm_tool_policy {
    ALLM_TOOL_POLICY_CONTINUE,  /* the model reads of the failure           */
    ALLM_TOOL_POLICY_HALT,      /* the chat stops with tool_error           */
    ALLM_TOOL_POLICY_CALLBACK
} allm_tool_policy;

/* The answer to a call of "tool_help", the tool that explains compact tools,
 * for those who answer calls by hand. */
ALLM_API allm_text *allm_tool_help(size_t count, const allm_tool *const *tools,
                                   const allm_json *arguments);

/*
 * Run these calls, outside any chat: a stream of tool events.  tools NULL: the
 * engine's.  When it has ended: a message per call, in the order of the calls;
 * and why a chat would halt, or NULL, as the metadata of a step result.  If a
 * tool is unknown nothing is run: an error event, or the error of the wait.
 */
typedef struct allm_tool_calls_opts {
    size_t                  size;
    size_t                  tool_count;
    const allm_tool *const *tools;
    const allm_json        *context;          /* NULL: the engine's         */
    const char             *session_id;
    const char             *request_id;
    allm_tool_policy        on_tool_error;
    uint32_t                max_concurrency;  /* 0: twice the CPUs          */
    allm_tool_error_fn      on_tool_error_fn;
    void                   *on_tool_error_ud;
    uint32_t                tool_timeout_ms;  /* 0: 30 s; UINT32_MAX: none  */
    uint32_t                live_tool_events; /* 1: started when it starts  */
    uint32_t                validate_arguments;   /* 1: by the schema       */
    uint32_t                reserved;
    const struct allm_executor *executor;     /* allm_ext.h                 */
    const struct allm_encoder  *encoder;
} allm_tool_calls_opts;

ALLM_API allm_stream *allm_tool_calls(const allm_engine *, size_t count,
                                      const allm_tool_call *const *calls,
                                      const allm_tool_calls_opts *);
ALLM_API const allm_message *allm_stream_tool_message(const allm_stream *,
                                                     size_t index);
ALLM_API const allm_json *allm_stream_tool_halt(const allm_stream *);
/* ------------------------------------------------- 10  Steps and chats --- */

/*
 * One answer, and the tools it asks for: the events of the answer, three of
 * each tool as it ends, step_completed.  The thread is not changed; the
 * result's has the new messages.
 *
 * In mode manual, and for tools marked manual, nothing is run: the calls are
 * in the result.  A tool that nobody knows is an error event before
 * step_completed; where allm_stream_wait() is the first call it is the error
 * that wait gives, and there is no result.
 */
ALLM_API allm_stream *allm_step(const allm_engine *, const allm_thread *,
                                const allm_call_opts *);

/*
 * Steps until the model is done, a tool or a limit stops it, or somebody must
 * be asked; chat_completed is the last event and tells which.  A cancelled
 * chat has no such event, but its result has the steps so far.
 */
ALLM_API allm_stream *allm_chat(const allm_engine *, const allm_thread *,
                                const allm_call_opts *);

/* The whole of a result that max_tool_output has cut, while the stream lives;
 * NULL: it was not cut. */
ALLM_API const char *allm_stream_tool_output(const allm_stream *,
                                             const char *tool_call_id,
                                             size_t *len);

/* The results, once allm_stream_next() or _wait() gave ALLM_OK. */
ALLM_API const allm_step_result *allm_stream_step_result(const allm_stream *);
ALLM_API const allm_chat_result *allm_stream_chat_result(const allm_stream *);

/* ---------------------------------------------------------- 11  Agents --- */

/*
 * A context carries one answer through the stages of a turn: parse, validate,
 * budget, dispatch, inject, decide.  Lent to on_iteration, stages and policies;
 * all that is read from it dies with the turn.
 */
typedef struct allm_context allm_context;

typedef enum allm_decision {
    ALLM_DECISION_NONE,
    ALLM_DECISION_CONTINUE,           /* ask the model again                */
    ALLM_DECISION_DONE,
    ALLM_DECISION_ERROR,
    ALLM_DECISION_HALT,               /* stop, for a reason that is no error */
    ALLM_DECISION_RETRY               /* a blank answer: ask once more      */
} allm_decision;

typedef struct allm_call_result {     /* what a call of a tool gave         */
    size_t                size;
    const allm_tool_call *call;
    size_t                content_len;
    const char           *content;    /* as the model will see it           */
    uint32_t              is_error;
    uint32_t              rejected;   /* 1: it did not run                  */
} allm_call_result;

ALLM_API const allm_response *allm_context_response(const allm_context *);
/* The conversation before this answer. */
ALLM_API const allm_message *const *
allm_context_messages(const allm_context *, size_t *count);
ALLM_API const allm_tool *const *allm_context_tools(const allm_context *,
                                                    size_t *count);
ALLM_API uint32_t allm_context_iteration(const allm_context *);  /* from 0 */
ALLM_API uint32_t allm_context_max_iterations(const allm_context *);
/* The calls; from validate on, those that may run. */
ALLM_API const allm_tool_call *const *
allm_context_tool_calls(const allm_context *, size_t *count);
ALLM_API const allm_call_result *const *
allm_context_tool_results(const allm_context *, size_t *count);
/* What will be appended: the assistant's message and the tools'. */
ALLM_API const allm_message *const *
allm_context_result_messages(const allm_context *, size_t *count);
/* [["unknown_tool", name], ["invalid_arguments", name, [texts]]] */
ALLM_API const allm_json *allm_context_validation_errors(const allm_context *);
ALLM_API allm_decision allm_context_decision(const allm_context *);
/* Why: of HALT and ERROR; else NULL. */
ALLM_API const char *allm_context_reason(const allm_context *);
/* ALLM_OK, or the kind of the error. */
ALLM_API allm_status allm_context_status(const allm_context *);
ALLM_API const allm_error *allm_context_error(const allm_context *);
/* ["parse_tool_calls", "validate_calls", ["dispatch", 1], ...] */
ALLM_API const allm_json *allm_context_trace(const allm_context *);
ALLM_API const allm_tool_call *
allm_context_terminal_call(const allm_context *);
/* Who runs the calls; NULL: the functions of the tools. */
ALLM_API const struct allm_executor *
allm_context_executor(const allm_context *);

/*
 * A limit on what loops may use, together: give one budget to a loop and to
 * the loops that its tools start.  Any number of threads may share it.  What a
 * call may need is taken out before it is made, and what it did not need is
 * put back.  A loop that finds it empty halts with the reason "budget".
 */
typedef struct allm_budget_opts {
    size_t                size;
    uint64_t              max_tokens;         /* 0: no limit, as below      */
    uint64_t              max_tool_calls;
    uint64_t              max_ms;             /* from the first use         */
    double                max_cost;           /* US dollars; needs prices   */
    uint64_t              reserve_tokens;     /* before a call: 0: 1        */
    const allm_allocator *allocator;
} allm_budget_opts;

ALLM_API allm_budget *allm_budget_new(const allm_budget_opts *);
ALLM_API allm_budget *allm_budget_keep(allm_budget *);
ALLM_API void allm_budget_free(allm_budget *);
ALLM_API const allm_error *allm_budget_error(const allm_budget *);
ALLM_API uint64_t allm_budget_tokens(const allm_budget *);      /* used */
ALLM_API uint64_t allm_budget_tool_calls(const allm_budget *);
ALLM_API double allm_budget_cost(const allm_budget *);

/*
 * The loop of an agent.  Other than a chat it goes by the calls of an answer
 * and not by its finish reason, tells the model about unknown tools and wrong
 * arguments, runs tools one after the other, has its limit before the tools of
 * the last answer, and does not append the last answer.
 */
typedef struct allm_agent_opts {
    size_t                size;
    const allm_call_opts *call;
    uint32_t              max_iterations;     /* 0: 10                      */
    uint32_t              max_blank_stops;    /* 0: 3                       */
    uint32_t              max_repeats;        /* equal errors in a row; 0: 3 */
    uint32_t              flags;              /* ALLM_AGENT_*               */
    const char           *terminal_tool;      /* a call of it is the end    */
    const char           *blank_stop_nudge;   /* said after a blank answer  */
    void                (*on_iteration)(const allm_context *, void *ud);
    void                 *on_iteration_ud;
} allm_agent_opts;

enum allm_agent_flags {
    ALLM_AGENT_NO_BREAKER = 1 << 0,   /* errors may repeat for ever         */
    ALLM_AGENT_PARALLEL   = 1 << 1,   /* tools run side by side             */
    ALLM_AGENT_ANY_ARGUMENTS = 1 << 2 /* arguments are not checked          */
};

typedef struct allm_agent_result {
    size_t               size;
    struct allm_home    *home;
    const allm_response *response;    /* the last one; NULL: none came      */
    const allm_thread   *messages;    /* all turns, without the last answer */
    const allm_usage    *usage;       /* of all calls together              */
    uint64_t             iterations;  /* in which the model was asked       */
    uint64_t             tool_calls;
    const char          *reason;      /* completed, budget_exceeded, ...    */
    const allm_error    *error;       /* NULL: it is done, or was halted    */
    const allm_json     *trace;       /* of the last turn                   */
    const allm_json     *metadata;
} allm_agent_result;

ALLM_API allm_stream *allm_agent(const allm_engine *, const allm_thread *,
                                 const allm_agent_opts *);
ALLM_API const allm_agent_result *
allm_stream_agent_result(const allm_stream *);

/* ----------------------------------------------------- 12  Embeddings --- */

/* What the vectors are for, where the provider wants to know. */
typedef enum allm_embed_task {
    ALLM_EMBED_ANY, ALLM_EMBED_DOCUMENT, ALLM_EMBED_QUERY,
    ALLM_EMBED_CLASSIFICATION, ALLM_EMBED_CLUSTERING, ALLM_EMBED_SIMILARITY
} allm_embed_task;

/* Texts to be made vectors of, any number: what is too much for one request
 * of the provider is sent in several, one after the other. */
typedef struct allm_embed_request {
    size_t             size;
    const char        *model;         /* NULL: the call's, or the engine's  */
    size_t             input_count;
    const char *const *inputs;        /* none of them empty                 */
    allm_int           dimensions;    /* of the vectors; else the model's   */
    allm_embed_task    task;
    uint32_t           no_truncate;   /* 1: a text that is too long fails   */
    const allm_json   *options;       /* the provider's own                 */
} allm_embed_request;

/* A vector for each input, in their order. */
typedef struct allm_embeddings {
    size_t              size;
    size_t              count;
    size_t              dimensions;
    const float *const *vectors;
    const char         *model;        /* as the provider names it; or NULL  */
    const allm_usage   *usage;        /* of all requests; never NULL        */
} allm_embeddings;

/*
 * A stream without events: wait for its end (or let a hub do so), then ask for
 * the vectors.  Retries, deadlines (of each request), keys and cancel are as
 * with allm_generate(); but a failure, whenever it comes, is a status < 0.
 */
ALLM_API allm_stream *allm_embed(const allm_engine *,
                                 const allm_embed_request *,
                                 const allm_call_opts *);
/* Lent by the stream; NULL until it has ended with ALLM_OK. */
ALLM_API const allm_embeddings *allm_stream_embeddings(const allm_stream *);
/* How alike two vectors are: -1 to 1; 0 if one of them is all zeros. */
ALLM_API double allm_embed_cosine(const float *, const float *, size_t n);

/* -------------------------------------------------- 13  Making images --- */

/*
 * Generate images, or edit some, as the operation of the request says.  The
 * engine's image_adapter is asked, else the provider of the model.  A stream
 * without events, as allm_embed() gives one; failures of a provider are of kind
 * ALLM_ERR_IMAGE.
 */
ALLM_API allm_stream *allm_image_generate(const allm_engine *,
                                          const allm_image_request *,
                                          const allm_call_opts *);
/* Lent by the stream; NULL until it has ended with ALLM_OK. */
ALLM_API const allm_image_response *
allm_stream_image_response(const allm_stream *);

/* ----------------------------------------------------- 14  Moderation --- */

/* What is to be judged.  Without images each text by itself; with images all
 * of it together, as one thing. */
typedef struct allm_moderation_request {
    size_t             size;
    const char        *model;         /* NULL: the call's; else the engine's if
                                         it is for moderation; else whatever
                                         the provider takes                 */
    size_t             input_count;   /* at most 1000 texts                 */
    const char *const *inputs;        /* none of them empty                 */
    size_t             image_count;
    const allm_image *const *images;
    const allm_json   *options;       /* the provider's own                 */
} allm_moderation_request;

/* Objects with a member for each category; {}: nothing was told. */
typedef struct allm_moderation {
    size_t           size;
    uint32_t         flagged;         /* 1: it is in one of them            */
    uint32_t         reserved;
    const allm_json *categories;      /* {"violence": true}                 */
    const allm_json *scores;          /* {"violence": 0.98}                 */
    const allm_json *input_types;     /* {"violence": ["text", "image"]}    */
} allm_moderation;

typedef struct allm_moderations {
    size_t            size;
    size_t            count;          /* of the inputs; 1 with images       */
    const allm_moderation *const *results;
    const char       *id;             /* of the answer; or NULL             */
    const char       *request_id;
    const char       *model;          /* as the provider names it; or NULL  */
    const allm_usage *usage;          /* never NULL; mostly nothing is set  */
    const allm_json  *raw;            /* the answer as it came              */
} allm_moderations;

/* A stream without events, as allm_embed() gives one. */
ALLM_API allm_stream *allm_moderate(const allm_engine *,
                                    const allm_moderation_request *,
                                    const allm_call_opts *);
/* Lent by the stream; NULL until it has ended with ALLM_OK. */
ALLM_API const allm_moderations *allm_stream_moderations(const allm_stream *);

/* ---------------------------------------------------------- 15  Models --- */

/* What the engine's provider, or its server, says that it offers: a stream
 * without events, as allm_embed() gives one.  A model is not needed: the
 * engine's adapter, or its model, tells whom to ask. */
ALLM_API allm_stream *allm_models(const allm_engine *, const allm_call_opts *);
/* [{ "id", "raw" (as the provider describes it) }], lent by the stream; NULL
 * until it has ended with ALLM_OK. */
ALLM_API const allm_json *allm_stream_models(const allm_stream *);

#ifdef __cplusplus
}
#endif

#endif
