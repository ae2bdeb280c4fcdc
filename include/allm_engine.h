/*
 * allm_engine.h - choose a model and set defaults
 *
 *    1  Network               options of the HTTP client
 *    2  Trace                 events for logs and metrics
 *    3  Keys                  API keys
 *    4  Engine record         an engine as plain data
 *    5  Pacer                 keep calls within the limits of providers
 *    6  Engine
 */
#ifndef ALLM_ENGINE_H
#define ALLM_ENGINE_H

#include "allm_request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_adapter allm_adapter;
typedef struct allm_catalog allm_catalog;
typedef struct allm_tool allm_tool;
typedef struct allm_transport allm_transport;

/* ----------------------------------------------------------- 1  Network --- */

/* The options of the HTTP client (docs/http.md).  TLS is always verified. */
typedef struct allm_net_opts {
    size_t      size;
    const char *ca_file;              /* NULL: SSL_CERT_FILE, else the
                                         system's                           */
    const char *proxy;                /* NULL: from the environment; "":
                                         none                               */
    const char *user_agent;           /* NULL: "liballm/VERSION"            */
    uint32_t    max_idle_ms;          /* how long an idle connection is kept
                                         open; 0: 50 s                      */
    uint32_t    http2;                /* 1: if the server supports it       */
    uint32_t    max_connections;      /* idle ones kept open; 0: 512        */
    uint32_t    public_only;          /* 1: never connect to this machine or
                                         to a private network               */
} allm_net_opts;

/* ------------------------------------------------------------- 2  Trace --- */

/*
 * A trace event.  A span (generate, stream, step, chat, tool or image) starts,
 * then stops or ends with an exception.  The span "adapter" reports retries,
 * "engine" reports warnings, "agent" reports each iteration and the end,
 * "server" reports what a server of a toolbox logs (allm_tools.h).
 */
typedef struct allm_trace_event {
    size_t           size;
    const char      *span;
    const char      *what;                    /* start, stop, exception,
                                                 retry, warning, complete,
                                                 loop_iteration, log,
                                                 stderr, ignored            */
    int64_t          time_ns;                 /* of the engine's clock      */
    int64_t          unix_ms;
    int64_t          duration_ns;             /* stop and exception         */
    const char      *request_id;
    const char      *model;
    const allm_json *metadata;
} allm_trace_event;

/*
 * Receives a trace event, in the thread of the call.  The event is borrowed
 * until the function returns.
 */
typedef void (*allm_trace_fn)(const allm_trace_event *, void *ud);

/* The JSON forms of a trace event. */
typedef enum allm_trace_form {
    ALLM_TRACE_PLAIN,                 /* the names of the struct            */
    ALLM_TRACE_OTEL                   /* OpenTelemetry's GenAI attributes   */
} allm_trace_form;

/* The event as one JSON object; the caller frees it. */
ALLM_API allm_text *allm_trace_json(const allm_trace_event *,
                                    allm_trace_form form);
/*
 * A function for the option `trace` that writes each event as a line of plain
 * JSON to a file; trace_ud points to the file descriptor, an int.  Each line is
 * one write(), so several engines can share the file.
 */
ALLM_API void allm_trace_write(const allm_trace_event *, void *descriptor);

/* -------------------------------------------------------------- 3  Keys --- */

/*
 * A key store.  A key is looked up in the call, this store, the configuration,
 * the environment, and a .env file; the first one that is not empty counts.
 * Keys are wiped from memory when they are freed.  Any number of engines and
 * threads may share a store.
 */
typedef struct allm_keys allm_keys;

/*
 * Returns the value of an environment variable, which stays valid until the
 * next call; NULL: not set.  Called from any thread, one at a time, while the
 * store is locked.
 */
typedef const char *(*allm_env_fn)(void *ud, const char *name);

/* The options of a key store. */
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

/*
 * Creates a key store.  allm_keys_keep() adds a reference, allm_keys_free()
 * drops one.  allm_keys_error() returns why it was rejected, or NULL.
 */
ALLM_API allm_keys *allm_keys_new(const allm_keys_opts *);
ALLM_API const allm_error *allm_keys_error(const allm_keys *);
ALLM_API allm_keys *allm_keys_keep(const allm_keys *);
ALLM_API void allm_keys_free(allm_keys *);
/* Sets a key of the store, or deletes it.  An empty key counts as none. */
ALLM_API allm_status allm_keys_put(allm_keys *, const char *provider,
                                   const char *key);
ALLM_API allm_status allm_keys_delete(allm_keys *, const char *provider);
/* Deletes all keys; the .env file is read again when it is needed. */
ALLM_API allm_status allm_keys_clear(allm_keys *);
/* Replaces the configuration of the options; NULL: none. */
ALLM_API allm_status allm_keys_configure(allm_keys *, const allm_json *config);
/*
 * Looks up a key; the caller frees the text, which wipes it.  *source is where
 * the key was found: "opts" (call_key), "runtime" (the store), "app_config",
 * "env" or "dotenv".  If there is none, the text has the error missing_key,
 * which lists the places.
 */
ALLM_API allm_text *allm_keys_get(const allm_keys *, const char *provider,
                                  const char *call_key, const char **source);
/*
 * The environment variable for the key of a provider: "OPENAI_API_KEY" for
 * "openai".  The caller frees the text.
 */
ALLM_API allm_text *allm_keys_variable(const char *provider);

/* ----------------------------------------------------- 4  Engine record --- */

/*
 * An engine as plain data.  tool_executor and tool_result_encoder are names
 * for programs that store engines; the library does not look them up.
 */
typedef struct allm_engine_record {
    size_t                  size;
    struct allm_home       *home;
    const char             *id;
    const char             *adapter;          /* by name                    */
    const allm_json        *adapter_opts;     /* an object or [[key, value]] */
    const char             *model;
    size_t                  tool_count;
    const allm_tool *const *tools;
    const char             *tool_executor;
    const char             *tool_result_encoder;
    const char             *image_adapter;
    const allm_json        *params;
    const allm_json        *context;
    const allm_json        *retry;            /* "default", false or pairs  */
    const allm_json        *middleware;       /* must be empty              */
    const allm_json        *metadata;
    const allm_json        *kept;
} allm_engine_record;

/*
 * Creates an engine record.  The caller frees it.
 * allm_engine_record_error() returns why it was rejected, or NULL, and
 * allm_engine_record_json() returns its JSON form.
 */
ALLM_API allm_engine_record *
allm_engine_record_new(const allm_engine_record *fields);
ALLM_API void allm_engine_record_free(allm_engine_record *);
ALLM_API const allm_error *
allm_engine_record_error(const allm_engine_record *);
ALLM_API allm_text *allm_engine_record_json(const allm_engine_record *,
                                            allm_form form);

/* ------------------------------------------------------------- 5  Pacer --- */

/*
 * Keeps the calls of all engines that share it within the limits of the
 * providers.  Each key and model has a limit of its own.  What is left of a
 * quota is learned from the headers of responses.  If the provider refuses a
 * request because of too many (429, 529), nothing is sent for the time that it
 * demands, and the number of requests in flight is halved; it grows by one for
 * each round of answers.  A call that has to wait is a stream without events:
 * only total_ms limits the wait.  Any number of threads may share a pacer; all
 * of its engines must have the same clock.
 */
typedef struct allm_pacer allm_pacer;

/* The options of a pacer. */
typedef struct allm_pacer_opts {
    size_t                size;
    uint32_t              rpm;                /* requests per minute, for each
                                                 key and model; 0: no limit */
    uint32_t              tpm;                /* tokens per minute          */
    uint32_t              max_in_flight;      /* requests; 0: no limit      */
    uint32_t              reserved;
    const allm_allocator *allocator;
} allm_pacer_opts;

/*
 * Creates a pacer. allm_pacer_keep() adds a reference, allm_pacer_free() drops
 * one. allm_pacer_error() returns why it was rejected, or NULL.
 */
ALLM_API allm_pacer *allm_pacer_new(const allm_pacer_opts *);
ALLM_API allm_pacer *allm_pacer_keep(allm_pacer *);
ALLM_API void allm_pacer_free(allm_pacer *);
ALLM_API const allm_error *allm_pacer_error(const allm_pacer *);
/*
 * Sets the limits of one provider, for calls that begin later; 0: those of the
 * options.
 */
ALLM_API allm_status allm_pacer_limit(allm_pacer *, const char *provider,
                                      uint32_t rpm, uint32_t tpm);

/* ------------------------------------------------------------ 6  Engine --- */

/*
 * A model to call, and the defaults of its calls.  An engine is immutable: the
 * functions that change one return a new engine, which shares what did not
 * change.  Any number of threads may use an engine.  It never holds a key.
 */
typedef struct allm_engine allm_engine;

/*
 * The options of an engine.  The names tool_executor and tool_result_encoder
 * are stored in its record and otherwise ignored; the tables executor and
 * encoder take effect.
 */
typedef struct allm_engine_opts {
    size_t                    size;
    const char               *model;          /* "fake:m", "openai:gpt-..." */
    const char               *adapter;        /* by name; NULL: the model's */
    const allm_adapter       *adapter_table;  /* your own; copied, but what
                                                 it points to must outlive
                                                 the engine                 */
    const allm_json          *adapter_opts;   /* object, or [[key, value]]  */
    size_t                    tool_count;
    const allm_tool *const   *tools;
    const char               *tool_executor;
    const char               *tool_result_encoder;
    const char               *image_adapter;
    const allm_json          *params;
    const allm_json          *context;
    const allm_json          *retry;          /* "default", false, object or
                                                 pairs                      */
    const allm_json          *middleware;     /* must be empty              */
    const allm_json          *metadata;
    uint32_t                  flags;          /* ALLM_ENGINE_*              */
    uint32_t                  reserved;
    const allm_transport     *transport;      /* NULL: the HTTP client      */
    const allm_net_opts      *net;            /* options of that client     */
    const allm_keys          *keys;           /* shared                     */
    const allm_catalog       *catalog;        /* shared                     */
    const allm_allocator     *allocator;
    const allm_clock         *clock;
    const allm_random        *random;
    allm_trace_fn             trace;
    void                     *trace_ud;
    const struct allm_executor *executor;     /* runs tools; copied         */
    const struct allm_encoder  *encoder;      /* writes results; copied     */
    allm_pacer               *pacer;          /* shared; NULL: none         */
    const struct allm_gate   *gate;           /* decides which calls may
                                                 begin; copied              */
} allm_engine_opts;

/* The flags of an engine. */
typedef enum allm_engine_flags {
    ALLM_ENGINE_NO_ADAPTER = 1 << 0   /* do not look one up by the model    */
} allm_engine_flags;

/* Creates an engine. */
ALLM_API allm_engine *allm_engine_new(const allm_engine_opts *);
/* Creates an engine from a stored record; opts has what a record lacks. */
ALLM_API allm_engine *allm_engine_from_record(const allm_engine_record *,
                                              const allm_engine_opts *);
/*
 * allm_engine_keep() adds a reference, allm_engine_free() drops one.
 * allm_engine_error() returns why the engine was rejected, or NULL.
 */
ALLM_API allm_engine *allm_engine_keep(const allm_engine *);
ALLM_API void allm_engine_free(allm_engine *);
ALLM_API const allm_error *allm_engine_error(const allm_engine *);
/* The engine's record, borrowed; that of a rejected engine is empty. */
ALLM_API const allm_engine_record *allm_engine_fields(const allm_engine *);
/*
 * The JSON form of the engine's record; the caller frees it.  An engine whose
 * tools have functions is an error (not_serializable).
 */
ALLM_API allm_text *allm_engine_json(const allm_engine *, allm_form form);

/*
 * These return a new engine with one change.  Tools are appended, even if one
 * of that name exists; allm_engine_merge_opts() replaces tools by name.
 */
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
/*
 * Returns a new engine with another model.  If the engine was created without
 * an adapter and the provider of the new model is known, the adapter changes,
 * too.
 */
ALLM_API allm_engine *allm_engine_with_model(const allm_engine *,
                                             const char *model);

#ifdef __cplusplus
}
#endif
#endif
