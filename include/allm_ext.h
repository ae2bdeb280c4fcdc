/*
 * allm_ext.h - for those who extend liballm: adapters, transports,
 * executors of tools, encoders of their results, stages, policies, journals
 *
 * The rules of allm.h hold here, too.  Tables begin with their size, so that
 * members added later count as NULL in a table compiled today.
 */
#ifndef ALLM_EXT_H
#define ALLM_EXT_H

#include "allm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- 1  Sinks --- */

/*
 * Where an adapter puts its events.  The struct of the event is copied; what
 * it points to (text, message, usage) must live until the adapter is called
 * again, so not on the stack; memory from allm_sink_alloc() does, and is freed
 * for it.
 *
 * Only an adapter's own events are taken, with what they are about:
 * message_started, text_delta, text_completed, reasoning_delta,
 * reasoning_completed, tool_call_started, tool_call_delta,
 * tool_call_completed, usage, raw_chunk, message_completed, error.  Nothing is
 * added: an answer begins with message_started, a text ends with
 * text_completed, the answer with message_completed or an error.  Another
 * event, or one of these without its text, id, name, arguments, message, usage
 * or error: ALLM_ERR_MISUSE, nothing was put, and the call fails.
 */
typedef struct allm_sink allm_sink;
ALLM_API allm_status allm_sink_put(allm_sink *, const allm_event *);
ALLM_API void *allm_sink_alloc(allm_sink *, size_t size);
/* Memory that lives until the call, or this attempt at it, has ended. */
ALLM_API void *allm_sink_keep(allm_sink *, size_t size);
/* A document in the sink's memory; NULL: not JSON, or no memory. */
ALLM_API const allm_json *allm_sink_parse(allm_sink *, const char *text,
                                          size_t len);
/* Why open(), next(), decode() or explain() fails; the error and its texts as
 * for events; a reason of the kind's list, or a word of your own.  It
 * returns the error's kind, so that a function may end with it (MISUSE, if it
 * has no kind or reason).  final: never worth another attempt. */
ALLM_API allm_status allm_sink_fail(allm_sink *, const allm_error *,
                                    bool final);

/* The protocol's end was seen: nothing more is read, not even the end of the
 * connection. */
ALLM_API void allm_sink_end(allm_sink *);
/* All is there but the protocol's end: after two seconds without a frame with
 * content it counts as come. */
ALLM_API void allm_sink_settle(allm_sink *);
/* This frame only kept the connection alive: the silence goes on. */
ALLM_API void allm_sink_idle(allm_sink *);

/* -------------------------------------------------------------- 2  Calls --- */

typedef struct allm_attachments allm_attachments;

/* What an adapter is asked to do.  Lent for the life of the call. */
typedef struct allm_call {
    size_t              size;
    const allm_request *request;      /* model and tools resolved           */
    const allm_json    *options;      /* params and provider options        */
    const allm_json    *adapter_opts; /* an object                          */
    const char         *model;        /* without the provider in front      */
    const char         *provider;
    const char         *base_url;     /* without a slash at its end; or NULL */
    uint64_t            quirks;       /* of the provider: the dialect's bits */
    const char         *request_id;
    const allm_clock   *clock;        /* never NULL                         */
    allm_attachments   *attachments;  /* of the engine                      */
    uint32_t            attempt;      /* 1, and more when it is retried     */
    uint32_t            reserved;
    const struct allm_embed_request *embed;     /* what is asked instead of
                                         the request's messages; or NULL    */
    const allm_image_request *image;            /* the same                 */
    const struct allm_moderation_request *moderation;   /* the same         */
} allm_call;

/*
 * A thing of the adapter's own that lives as long as the engine and all the
 * engines derived from it: made once, by make(ud), and found again by `key`,
 * an address of the adapter's.  make NULL: only look.  NULL: none, no memory.
 * make runs with the attachments locked and may not ask for one itself.
 */
ALLM_API void *allm_attachment_get(allm_attachments *, const void *key,
                                   void *(*make)(void *ud),
                                   void (*drop)(void *), void *ud);

/* ----------------------------------------------------------- 3  Requests --- */

/* An HTTP request being written: everything is copied. */
typedef struct allm_http allm_http;
ALLM_API void allm_http_method(allm_http *, const char *method);
ALLM_API void allm_http_url(allm_http *, const char *url);
ALLM_API void allm_http_header(allm_http *, const char *name,
                               const char *value);
/* Appends. */
ALLM_API void allm_http_body(allm_http *, const char *piece, size_t len);
/* Why encode() fails, copied: it returns the error's kind, so that encode() may
 * end with it. */
ALLM_API allm_status allm_http_fail(allm_http *, const allm_error *);

/* As a transport reads it. */
typedef struct allm_http_view {
    size_t             size;
    const char        *method;
    const char        *url;
    size_t             header_count;
    const char *const *header;        /* name, value, name, value, ...      */
    const char        *secret_name;   /* one more header, not to be told:   */
    const char        *secret_value;  /* never log or record it             */
    size_t             body_len;
    const char        *body;
} allm_http_view;

/* ----------------------------------------------------------- 4  Adapters --- */

enum allm_framing {                   /* how a body is cut into frames      */
    ALLM_FRAMING_SSE, ALLM_FRAMING_NDJSON, ALLM_FRAMING_WHOLE
};

typedef struct allm_frame {           /* one piece of a body, lent until
                                         the adapter is called again        */
    size_t      size;
    size_t      name_len;
    const char *name;                 /* SSE's event; else empty            */
    size_t      data_len;
    const char *data;
    uint32_t    whole;                /* 1: the body is this one document   */
    uint32_t    cut;                  /* 1: the body ended in its middle    */
} allm_frame;

typedef struct allm_http_head {       /* what an answer begins with         */
    size_t             size;
    int32_t            status;
    uint32_t           reused;        /* came over a connection used before */
    size_t             header_count;
    const char *const *header;        /* name, value, ...                   */
} allm_http_head;

/*
 * An adapter is one table of one of two shapes.
 *
 * A dialect translates: pure functions, no I/O, no globals, no memory but the
 * sink's.
 *      request --encode-->  one HTTP request      (then a transport runs)
 *      event   <--decode--  one frame of the body
 * finish is called at the end of the body, however that was found.  explain
 * turns an answer that is not 2xx into an error, with allm_sink_fail(); where
 * it does not, or is NULL, the reason follows from the status.  With an
 * auth_header the key of the call's provider is sent in it, behind the prefix;
 * the adapter never sees it.
 *
 * A source makes events itself: open may fail before the stream begins (tell
 * why with allm_sink_fail); next puts one or more events and answers
 * ALLM_EVENT, or ALLM_AGAIN with the time of the clock when to come back, or
 * ALLM_OK at the end; close is called exactly once for every open that did not
 * fail.  A source gets no waker: it is asked again at the time it named.
 *
 * `state` has state_size bytes, zeroed, kept by the library.
 */
typedef struct allm_adapter {
    size_t       size;
    const char  *name;
    size_t       state_size;
    int32_t      framing;
    uint32_t     flags;               /* ALLM_ADAPTER_*                     */
    allm_status (*encode)(const allm_call *, allm_http *out);
    allm_status (*decode)(void *state, const allm_call *, const allm_frame *,
                          allm_sink *);
    allm_status (*finish)(void *state, const allm_call *, allm_sink *);
    allm_status (*explain)(const allm_call *, const allm_http_head *,
                           const char *body, size_t len, allm_sink *);
    allm_status (*open)(void *state, const allm_call *, allm_sink *);
    allm_status (*next)(void *state, const allm_call *, allm_sink *,
                        int64_t *again_ns);
    void        (*close)(void *state, const allm_call *);
    bool        (*needs_finalize)(const allm_request *);  /* or NULL: no    */
    const char  *auth_header;         /* "authorization"; NULL: no key      */
    const char  *auth_prefix;         /* "Bearer "; or NULL                 */
} allm_adapter;

enum allm_adapter_flags {
    ALLM_ADAPTER_NO_STREAM = 1 << 0   /* cannot stream: refused             */
};

/* ---------------------------------------------------------- 5  Transports --- */

/*
 * How bytes travel (a draft until replay stands on it, too).
 *
 *   open    begins an exchange, or says why not in *error (lent until the next
 *           call).  Of the view only the bytes of the body may be used after
 *           it returns: they stay until read() has answered ALLM_EVENT or
 *           ALLM_OK, or until close().
 *   read    lends the next bytes of the body until the next read: ALLM_EVENT.
 *           ALLM_AGAIN: nothing yet; the waker is rung, from any thread, when
 *           it is worthwhile again, and `again_ns` of the engine's clock is
 *           when to ask anyway.  ALLM_OK: the body has ended.  < 0: it broke;
 *           `error` says why.
 *   ready   has the connection been made?  Else the time to connect runs.
 *           NULL: it has.
 *   head    once read() has answered ALLM_EVENT or ALLM_OK.
 *   close   ends it, finished or not.
 *   failed  has it ended, and not with a whole answer of status 2xx?  Bytes
 *           that came before may still wait; the waker is rung.  Asked while a
 *           stream is held.  NULL: only read() tells.
 */
typedef struct allm_waker allm_waker;
ALLM_API void allm_waker_ring(allm_waker *);   /* in signal handlers, too */

typedef struct allm_exchange allm_exchange;

typedef struct allm_chunk {
    size_t            size;
    size_t            len;
    const char       *bytes;
    int64_t           again_ns;       /* INT64_MAX: when rung               */
    const allm_error *error;
} allm_chunk;

typedef struct allm_transport {
    size_t                size;
    void                 *self;
    allm_exchange        *(*open)(void *self, const allm_http_view *,
                                  allm_waker *, const allm_error **error);
    allm_status           (*read)(void *self, allm_exchange *, allm_chunk *);
    bool                  (*ready)(void *self, allm_exchange *);
    const allm_http_head *(*head)(void *self, allm_exchange *);
    void                  (*close)(void *self, allm_exchange *);
    bool                  (*failed)(void *self, allm_exchange *);
} allm_transport;

/* ----------------------------------------------------------- 6  Encoders --- */

/*
 * What a tool's value becomes for the model to read.  encode() tells it once
 * with allm_encoding_text(), or why not with allm_encoding_fail(); silence is a
 * failure.  is_error: the value is what went wrong, mostly a text.  Called in
 * the thread that pulls.
 */
typedef struct allm_encoding allm_encoding;
ALLM_API void allm_encoding_text(allm_encoding *, const char *text, size_t len);
ALLM_API void allm_encoding_fail(allm_encoding *, const char *why);

typedef struct allm_encoder {
    size_t   size;
    void    *self;
    void   (*encode)(void *self, const allm_json *value, bool is_error,
                     allm_encoding *out);
} allm_encoder;

/* The one that is used if none is given: texts as they are, all else as JSON,
 * errors as {"error": text}. */
ALLM_API const allm_encoder *allm_encoder_json(void);

/* ---------------------------------------------------- 7  Executors, plans --- */

/*
 * A plan of a tool that is made of others: serial steps one after the other,
 * then parallel steps, at most three at once, then one text of it all.  A step
 * that fails is noted and stops nothing.
 *
 * A recipe fills the plan by the arguments of the call.  Arguments of a step
 * are JSON (copied; NULL: {}) or made when its turn comes, from what the serial
 * steps gave: an object, {"tool": content}.  That function returns a root,
 * which is freed for it; NULL, or a root with an error, fails the step.  A
 * label NULL is the tool's name.
 */
typedef struct allm_plan allm_plan;
typedef void (*allm_recipe_fn)(allm_plan *, const allm_json *args, void *ud);
typedef allm_json *(*allm_plan_args_fn)(const allm_json *serial, void *ud);
/*
 * Answers the run in place of our own text.  results: {"serial": [{"label",
 * "tool", "content"}], "parallel": [...], "errors": [{"label", "tool",
 * "error"}]}.  If it fails, so has the call: "Dispatch pipeline error: ...".  If
 * it does not answer, or answers with anything but a text that is not empty,
 * the tool itself is run.
 */
typedef void (*allm_plan_compose_fn)(allm_tool_run *, const allm_json *results,
                                     void *ud);

ALLM_API void allm_plan_serial(allm_plan *, const char *tool, const char *label,
                               const allm_json *args);
ALLM_API void allm_plan_serial_fn(allm_plan *, const char *tool,
                                  const char *label, allm_plan_args_fn,
                                  void *ud);
ALLM_API void allm_plan_parallel(allm_plan *, const char *tool,
                                 const char *label, const allm_json *args);
ALLM_API void allm_plan_parallel_fn(allm_plan *, const char *tool,
                                    const char *label, allm_plan_args_fn,
                                    void *ud);
ALLM_API void allm_plan_compose(allm_plan *, allm_plan_compose_fn, void *ud);
/* There can be no plan for these arguments, and why. */
ALLM_API void allm_plan_fail(allm_plan *, const char *why);

typedef struct allm_recipe {
    size_t         size;
    allm_recipe_fn fn;                /* NULL: no recipe, run it directly   */
    void          *ud;
} allm_recipe;

/*
 * Who runs the calls.  execute() answers the run as the function of a tool
 * does, and is called where that would be: in a worker, several at once, or in
 * the thread that pulls if the tool or the executor is inline.  `tool` is NULL
 * for a step of a plan whose tool is nowhere declared.  tools() lends what it
 * offers (NULL: it takes every call); recipe() says whether a tool is made of
 * others.  Both are called in the thread that pulls, must be quick, and may be
 * NULL.  What is lent lives as long as the table.
 */
typedef struct allm_executor {
    size_t                   size;
    void                    *self;
    void                   (*execute)(void *self, const allm_tool *tool,
                                      allm_tool_run *, const allm_json *args);
    const allm_tool *const *(*tools)(void *self, size_t *count);
    void                   (*recipe)(void *self, const char *name,
                                     allm_recipe *out);
    uint32_t                 flags;   /* ALLM_EXECUTOR_*                    */
    uint32_t                 reserved;
} allm_executor;

enum allm_executor_flags {
    ALLM_EXECUTOR_INLINE = 1 << 0     /* execute() never blocks             */
};

/* The one that is used if none is given: the tool's own function. */
ALLM_API const allm_executor *allm_executor_function(void);
/* Several as one: a call goes to the first that offers its tool; tools() is
 * all of theirs, the earlier first, equal names kept.  A root; the tables must
 * outlive it.  NULL: no memory. */
ALLM_API allm_executor *
allm_executor_compose(size_t count, const allm_executor *const *);
ALLM_API void allm_executor_free(allm_executor *composed);
/* ------------------------------------------------------------- 8  Stages --- */

/*
 * A stage of a turn.  It works on the context and answers
 *
 *   ALLM_OK      done: the next stage
 *   ALLM_EVENT   events were emitted; call it again when they are taken
 *   ALLM_AGAIN   nothing yet: call it again at the time of
 *                allm_context_wait_until(), or when the waker rings
 *   < 0          it failed: no later stage runs, the turn ends with the error
 *                of allm_context_fail(), or with "pipeline_error"
 *
 * Once a context has an error or is decided, the stages that follow are
 * skipped, unless their flags say else.
 */
typedef struct allm_stage {
    size_t       size;
    const char  *name;                /* of its own in the pipeline         */
    allm_status (*run)(allm_context *, void *ud);
    void        *ud;
    uint32_t     flags;               /* ALLM_STAGE_*                       */
    uint32_t     reserved;
} allm_stage;

enum allm_stage_flags {
    ALLM_STAGE_ON_ERROR   = 1 << 0,   /* also when there is an error        */
    ALLM_STAGE_ON_DECIDED = 1 << 1    /* also when it is decided            */
};

/*
 * The stages of a turn in their order, by default parse, validate, budget,
 * dispatch, inject and decide.  Immutable and counted: these functions give a
 * new pipeline.  A name that is not there, or is there already, makes it one
 * with an error, which a call refuses.
 */
ALLM_API allm_pipeline *allm_pipeline_new(void);
ALLM_API allm_pipeline *allm_pipeline_keep(const allm_pipeline *);
ALLM_API void allm_pipeline_free(allm_pipeline *);
ALLM_API const allm_error *allm_pipeline_error(const allm_pipeline *);
/* Before the stage of that name; NULL: at the end. */
ALLM_API allm_pipeline *allm_pipeline_insert(const allm_pipeline *,
                                             const char *before,
                                             const allm_stage *);
ALLM_API allm_pipeline *allm_pipeline_replace(const allm_pipeline *,
                                              const char *name,
                                              const allm_stage *);
ALLM_API allm_pipeline *allm_pipeline_remove(const allm_pipeline *,
                                             const char *name);
ALLM_API size_t allm_pipeline_count(const allm_pipeline *);
ALLM_API const char *allm_pipeline_name(const allm_pipeline *, size_t index);

/* What a stage changes.  Memory of the turn, zeroed; memory of this stage in
 * this turn, zeroed at first. */
ALLM_API void *allm_context_alloc(allm_context *, size_t size);
ALLM_API void *allm_context_state(allm_context *, size_t size);
ALLM_API allm_status allm_context_note(allm_context *, const char *tag,
                                       const char *text);
/* HALT needs a reason; payload: more metadata for the result, or NULL. */
ALLM_API allm_status allm_context_decide(allm_context *, allm_decision,
                                         const char *reason,
                                         const allm_json *payload);
/* Gives the error's kind, so that a stage may end with it. */
ALLM_API allm_status allm_context_fail(allm_context *, const allm_error *);
/* The calls that may run; they are borrowed. */
ALLM_API allm_status
allm_context_set_tool_calls(allm_context *, size_t count,
                            const allm_tool_call *const *);
ALLM_API allm_status allm_context_add_result(allm_context *,
                                             const allm_tool_call *,
                                             const char *content, size_t len,
                                             bool is_error);
ALLM_API allm_status allm_context_add_message(allm_context *,
                                              const allm_message *);
/* Events of tools only (and raw_chunk): ALLM_EVENT, to end with. */
ALLM_API allm_status allm_context_emit(allm_context *, const allm_event *);
ALLM_API void allm_context_wait_until(allm_context *, int64_t ns);
ALLM_API allm_waker *allm_context_waker(const allm_context *);
ALLM_API int64_t allm_context_now(const allm_context *);

/* ----------------------------------------------------------- 9  Policies --- */

/* What a loop has done so far; lent to its policies. */
typedef struct allm_loop_view {
    size_t               size;
    uint32_t             turn;        /* from 0                             */
    uint32_t             max_turns;
    uint64_t             tool_calls;  /* in the turns before                */
    const allm_usage    *usage;       /* of all answers                     */
    const allm_thread   *thread;
    const allm_step_result *step;     /* the one that ended; or NULL        */
    int64_t              began_ns, now_ns;
} allm_loop_view;

/* What will happen next; a policy may change it. */
typedef struct allm_verdict {
    size_t            size;
    allm_decision     decision;       /* CONTINUE, DONE, HALT, ERROR, RETRY */
    uint32_t          reserved;
    const char       *reason;         /* of HALT: becomes halted_reason     */
    const allm_json  *metadata;       /* of the result: more members        */
    const allm_error *error;          /* of ERROR                           */
    const char       *say;            /* CONTINUE, RETRY: a user's message,
                                         appended before the next call      */
} allm_verdict;

/*
 * A policy looks at a loop before each call of the model and after each turn.
 * What it puts into the verdict it must keep until it is called again; `state`
 * has state_size bytes, zeroed, for this loop.  Policies are asked in their
 * order; each sees the verdict of the one before it.  A RETRY counts as a turn,
 * and makes no sense before one.  < 0, or a verdict that makes no sense: the
 * loop ends with the error "policy_failed".
 */
typedef struct allm_policy {
    size_t       size;
    const char  *name;
    size_t       state_size;
    void        *ud;
    allm_status (*before_turn)(void *state, const allm_loop_view *,
                               allm_verdict *, void *ud);
    allm_status (*after_turn)(void *state, const allm_loop_view *,
                              const allm_context *, allm_verdict *, void *ud);
    void        (*close)(void *state, void *ud);
} allm_policy;

/* ----------------------------------------------------------- 10  Journal --- */

typedef enum allm_journal_kind {
    ALLM_JOURNAL_MODEL_CALL,          /* the model will be asked            */
    ALLM_JOURNAL_RESPONSE,            /* it has answered                    */
    ALLM_JOURNAL_TOOL_INTENT,         /* a tool will run                    */
    ALLM_JOURNAL_TOOL_RESULT,         /* it has ended                       */
    ALLM_JOURNAL_TURN_END             /* the turn counts                    */
} allm_journal_kind;

/* Told before it takes effect; < 0: it does not, and the loop ends with the
 * error "journal_failed". */
typedef struct allm_journal_entry {
    size_t                  size;
    allm_journal_kind       kind;
    uint32_t                turn;
    const char             *request_id;
    const allm_response    *response;   /* RESPONSE                         */
    const allm_tool_call   *call;       /* TOOL_*                           */
    allm_effect             effect;     /* TOOL_INTENT                      */
    uint32_t                is_error;   /* TOOL_RESULT                      */
    const char             *key;        /* TOOL_*: the same when it is run
                                           again                            */
    size_t                  content_len;
    const char             *content;    /* TOOL_RESULT                      */
    const char             *reason;     /* TOOL_RESULT: of a halt           */
    const allm_json        *value;      /* ...its value, or ask_user's opts */
    const allm_step_result *step;       /* TURN_END                         */
} allm_journal_entry;

/*
 * A turn that broke off, from its journal: the answer, and what its tools
 * gave.  The loop takes these in place of asking and running.  A tool that was
 * begun and has no result is run again if its effect allows it; a write is
 * left to the caller: halted_reason manual_tool_calls, and its call in
 * metadata.unknown_tool_calls.
 */
typedef struct allm_journal_tool {
    size_t      size;
    const char *tool_call_id;
    uint32_t    done;                 /* 0: begun only                      */
    uint32_t    is_error;
    size_t      content_len;
    const char *content;
    const char *reason;               /* as in the journal                  */
    const allm_json *value;
} allm_journal_tool;

typedef struct allm_journal_replay {
    size_t                         size;
    uint32_t                       turn;      /* of the one that broke off  */
    uint32_t                       reserved;
    const allm_response           *response;  /* NULL: it had not come      */
    size_t                         tool_count;
    const allm_journal_tool *const *tools;
} allm_journal_replay;

#ifdef __cplusplus
}
#endif
#endif
