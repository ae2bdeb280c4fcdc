/*
 * allm_adapter.h - for those who write adapters and transports
 *
 *    1  Sinks                 where an adapter puts its events
 *    2  Calls                 what it is asked
 *    3  Requests              what it writes
 *    4  Adapters
 *    5  Transports            how bytes travel
 *
 * Tables begin with their size, so that members added later count as NULL in a
 * table compiled today.
 */
#ifndef ALLM_ADAPTER_H
#define ALLM_ADAPTER_H

#include "allm_engine.h"
#include "allm_event.h"
#include "allm_media.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- 1  Sinks --- */

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

/* ------------------------------------------------------------- 2  Calls --- */

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

/* ---------------------------------------------------------- 3  Requests --- */

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

/* ---------------------------------------------------------- 4  Adapters --- */

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

/* -------------------------------------------------------- 5  Transports --- */

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

#ifdef __cplusplus
}
#endif
#endif
