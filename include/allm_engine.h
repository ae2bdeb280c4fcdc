/*
 * allm_engine.h - what to talk to, and with which defaults
 *
 *    1  Network               how servers are reached
 *    2  Trace                 what happened
 *    3  Keys                  who may
 *    4  Engine record         an engine as plain data
 *    5  Engine
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

/* ------------------------------------------------------------- 2  Trace --- */

/* One thing that happened, for logs and metrics. */
typedef struct allm_trace_event allm_trace_event;
typedef void (*allm_trace_fn)(const allm_trace_event *, void *ud);

/* What happened: spans (generate, stream, step, chat, tool, image) start, then
 * stop or end by an exception; "adapter" tells of a retry, "engine" of a
 * warning, "agent" of each iteration and of its end.  Lent during the
 * callback, which runs in the thread of the call. */
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

/* -------------------------------------------------------------- 3  Keys --- */

typedef struct allm_keys allm_keys;

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

/* ----------------------------------------------------- 4  Engine record --- */

typedef struct allm_engine_record {
    size_t                  size;
    struct allm_home       *home;
    const char             *id;
    const char             *adapter;          /* by name                    */
    const allm_json        *adapter_opts;     /* an object or [[key, value]] */
    const char             *model;
    size_t                  tool_count;
    const allm_tool *const *tools;
    const char             *tool_executor;    /* names, for who stores it;  */
    const char             *tool_result_encoder;  /* nothing looks them up  */
    const char             *image_adapter;
    const allm_json        *params;
    const allm_json        *context;
    const allm_json        *retry;            /* "default", false or pairs  */
    const allm_json        *middleware;       /* stays []                   */
    const allm_json        *metadata;
    const allm_json        *kept;
} allm_engine_record;

ALLM_API allm_engine_record *
allm_engine_record_new(const allm_engine_record *fields);
ALLM_API void allm_engine_record_free(allm_engine_record *);
ALLM_API const allm_error *
allm_engine_record_error(const allm_engine_record *);
ALLM_API allm_text *allm_engine_record_json(const allm_engine_record *,
                                            uint32_t form);

/* ------------------------------------------------------------ 5  Engine --- */

typedef struct allm_engine allm_engine;

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

#ifdef __cplusplus
}
#endif
#endif
