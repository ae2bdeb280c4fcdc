/*
 * allm_adapter.h - write your own adapter or transport
 *
 *    1  Sinks                 where an adapter puts its events
 *    2  Calls                 what an adapter has to do
 *    3  Requests              the HTTP request that it writes
 *    4  Adapters
 *    5  Transports            how bytes travel
 *
 * Each table of functions begins with its size, so a member that a later
 * version adds counts as NULL in a table compiled today.
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
 * A sink takes the events of an adapter: message_started, text_delta,
 * text_completed, reasoning_delta, reasoning_completed, tool_call_started,
 * tool_call_delta, tool_call_completed, usage, raw_chunk, message_completed
 * and error.  The library adds nothing: a response begins with
 * message_started, a text ends with text_completed, and the response ends with
 * message_completed or an error.
 */

/* A sink. */
typedef struct allm_sink allm_sink;

/*
 * Puts an event.  The struct is copied; what it points to (text, message,
 * usage) must stay valid until the adapter is called again, so it cannot be on
 * the stack.  Another kind of event, or one without its text, id, name,
 * arguments, message, usage or error, is ALLM_ERR_MISUSE: nothing is put, and
 * the call fails.
 */
ALLM_API allm_status allm_sink_put(allm_sink *, const allm_event *);
/*
 * Allocates memory that is valid until the adapter is called again; the
 * library frees it.  NULL: out of memory.
 */
ALLM_API void *allm_sink_alloc(allm_sink *, size_t size);
/*
 * Allocates memory that is valid until the call, or this attempt at it, has
 * ended.
 */
ALLM_API void *allm_sink_keep(allm_sink *, size_t size);
/*
 * Parses JSON into the memory of the sink, valid as that of allm_sink_alloc().
 * NULL: not JSON, or out of memory.
 */
ALLM_API const allm_json *allm_sink_parse(allm_sink *, const char *text,
                                          size_t len);
/*
 * Says why open(), next(), decode() or explain() fails.  The error and its
 * strings must stay valid as those of events do.  Its reason is one of its
 * kind's list, or one of your own.  Returns the status of the error's kind, so
 * a function can return it directly (ALLM_ERR_MISUSE if the error has no kind
 * or reason). final: never retry.
 */
ALLM_API allm_status allm_sink_fail(allm_sink *, const allm_error *,
                                    bool final);

/*
 * The end of the protocol was seen: nothing more is read, not even the end of
 * the connection.
 */
ALLM_API void allm_sink_end(allm_sink *);
/*
 * Everything has arrived except the end of the protocol: after two seconds
 * without a frame that has content, the response counts as ended.
 */
ALLM_API void allm_sink_settle(allm_sink *);
/*
 * This frame only kept the connection alive: it does not restart the silence
 * timeout.
 */
ALLM_API void allm_sink_idle(allm_sink *);

/* ------------------------------------------------------------- 2  Calls --- */

/* The objects that adapters attach to an engine. */
typedef struct allm_attachments allm_attachments;

/* A call that an adapter makes.  Borrowed for the duration of the call. */
typedef struct allm_call {
    size_t              size;
    const allm_request *request;      /* model and tools resolved           */
    const allm_json    *options;      /* params and provider options        */
    const allm_json    *adapter_opts; /* an object                          */
    const char         *model;        /* without the provider's prefix      */
    const char         *provider;
    const char         *base_url;     /* without a slash at its end; or NULL */
    uint64_t            quirks;       /* of the provider: the dialect's bits */
    const char         *request_id;
    const allm_clock   *clock;        /* never NULL                         */
    allm_attachments   *attachments;  /* of the engine                      */
    uint32_t            attempt;      /* 1; higher when it is retried       */
    uint32_t            reserved;
    const allm_embed_request *embed;  /* NULL, or the request is for these  */
    const allm_image_request *image;  /* embeddings, images or moderations, */
    const allm_moderation_request *moderation;  /* not for a response       */
} allm_call;

/*
 * Returns an object of the adapter's own that lives as long as the engine and
 * all engines derived from it. make(ud) creates it once; `key`, an address in
 * the adapter, identifies it; drop() frees it. make NULL: only look it up.
 * NULL: there is none, or out of memory. make() runs with the attachments
 * locked and must not call this function.
 */
ALLM_API void *allm_attachment_get(allm_attachments *, const void *key,
                                   void *(*make)(void *ud),
                                   void (*drop)(void *), void *ud);

/* ---------------------------------------------------------- 3  Requests --- */

/* An HTTP request being written.  Everything is copied. */
typedef struct allm_http allm_http;

/* Sets the method (default: POST), the URL, or adds a header. */
ALLM_API void allm_http_method(allm_http *, const char *method);
ALLM_API void allm_http_url(allm_http *, const char *url);
ALLM_API void allm_http_header(allm_http *, const char *name,
                               const char *value);
/* Appends to the body. */
ALLM_API void allm_http_body(allm_http *, const char *piece, size_t len);
/*
 * Says why encode() fails; the error is copied.  Returns the status of its
 * kind, so encode() can return it directly.
 */
ALLM_API allm_status allm_http_fail(allm_http *, const allm_error *);

/* An HTTP request as a transport reads it. */
typedef struct allm_http_view {
    size_t             size;
    const char        *method;
    const char        *url;
    size_t             header_count;
    const char *const *header;        /* name, value, name, value, ...      */
    const char        *secret_name;   /* one more header, which must never  */
    const char        *secret_value;  /* be logged or recorded              */
    size_t             body_len;
    const char        *body;
} allm_http_view;

/* ---------------------------------------------------------- 4  Adapters --- */

/* How a body is split into frames. */
typedef enum allm_framing {
    ALLM_FRAMING_SSE, ALLM_FRAMING_NDJSON, ALLM_FRAMING_WHOLE
} allm_framing;

/* One piece of a body, borrowed until the adapter is called again. */
typedef struct allm_frame {
    size_t      size;
    size_t      name_len;
    const char *name;                 /* the event of SSE; else empty       */
    size_t      data_len;
    const char *data;
    uint32_t    whole;                /* 1: the body is one document        */
    uint32_t    cut;                  /* 1: the body ended inside it        */
} allm_frame;

/* The status and headers of an HTTP response. */
typedef struct allm_http_head {
    size_t             size;
    int32_t            status;
    uint32_t           reused;        /* 1: on a reused connection          */
    size_t             header_count;
    const char *const *header;        /* name, value, ...                   */
} allm_http_head;

/*
 * An adapter is one table of one of two kinds.
 *
 * A dialect translates with pure functions: no I/O, no globals, no memory
 * except the sink's.
 *
 *      request --encode-->  one HTTP request      (then a transport runs)
 *      event   <--decode--  one frame of the body
 *
 * finish() is called at the end of the body, however that was found. explain()
 * turns a response whose status is not 2xx into an error, with
 * allm_sink_fail(); if it does not, or is NULL, the reason follows from the
 * status.  With an auth_header, the key of the call's provider is sent in that
 * header after the prefix; the adapter never sees the key.
 *
 * A source creates events itself. open() may fail before the stream begins
 * (see allm_sink_fail). next() puts one or more events and returns ALLM_EVENT;
 * or ALLM_AGAIN and the time of the clock at which to call it again; or
 * ALLM_OK at the end. close() is called exactly once for every open() that did
 * not fail.  A source has no waker: it is called again at the time it
 * returned.
 *
 * `state` has state_size bytes, initially zero; the library allocates it.
 */
typedef struct allm_adapter {
    size_t       size;
    const char  *name;
    size_t       state_size;
    allm_framing framing;
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

/* The flags of an adapter. */
typedef enum allm_adapter_flags {
    ALLM_ADAPTER_NO_STREAM = 1 << 0   /* cannot stream: calls are rejected  */
} allm_adapter_flags;

/* -------------------------------------------------------- 5  Transports --- */

/* Wakes the thread that waits for a stream. */
typedef struct allm_waker allm_waker;

/*
 * Rings the waker.  May be called from any thread and from a signal handler.
 */
ALLM_API void allm_waker_ring(allm_waker *);

/* An exchange: one request and its response.  The transport defines it. */
typedef struct allm_exchange allm_exchange;

/* What read() returns. */
typedef struct allm_chunk {
    size_t            size;
    size_t            len;
    const char       *bytes;
    int64_t           again_ns;       /* INT64_MAX: when the waker rings    */
    const allm_error *error;
} allm_chunk;

/*
 * A transport carries requests and responses.
 *
 *   open    Begins an exchange, or sets *error (borrowed until the next call)
 *           and returns NULL.  After it returns, only the bytes of the body
 *           may still be used; they stay valid until read() has returned
 *           ALLM_EVENT or ALLM_OK, or until close().
 *   read    ALLM_EVENT: the next bytes of the body, borrowed until the next
 *           read.  ALLM_AGAIN: nothing yet; the transport rings the waker,
 *           from any thread, when there is more; `again_ns` of the engine's
 *           clock is the time to call again in any case.  ALLM_OK: the body has
 *           ended.  < 0: the exchange failed, and `error` says why.
 *   ready   True once the connection is made; until then the connect timeout
 *           runs.  NULL: always true.
 *   head    The status and headers, once read() has returned ALLM_EVENT or
 *           ALLM_OK.
 *   close   Ends the exchange, complete or not.
 *   failed  True if the exchange has ended without a complete response of
 *           status 2xx.  Bytes that came before may still be unread; the waker
 *           is rung.  Called while a stream is held.  NULL: only read()
 *           reports it.
 *   open_over  For a transport that wraps the library's own HTTP client, as a
 *           recorder does: called instead of open, which may then be NULL.
 *           `http` is the client, valid as long as the exchange.
 */
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
    allm_exchange        *(*open_over)(void *self,
                                       const struct allm_transport *http,
                                       const allm_http_view *, allm_waker *,
                                       const allm_error **error);
} allm_transport;

#ifdef __cplusplus
}
#endif
#endif
