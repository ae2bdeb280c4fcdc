/*
 * feed.h - where a call's events come from: a source, or bytes and a dialect
 *
 * One attempt at a call.  Above, only "next events" is seen; whether they are
 * made in the process or come over a wire is told apart here.
 */
#ifndef RUN_FEED_H
#define RUN_FEED_H

#include "base/clock.h"
#include "base/secret.h"
#include "loop/wake.h"
#include "provider/registry.h"
#include "provider/sink.h"

struct feed;

struct feed_ops {
    /*
     * Put events into the sink.  EVENT: some are there.  AGAIN: not before
     * *again_ns (INT64_MAX: when the waker rings).  OK: that was all.  < 0:
     * failed, sink->failure says why.
     */
    allm_status (*next)(struct feed *f, struct allm_sink *sink,
                        int64_t *again_ns);
    /* Will next() fail, whatever is there before the failure?  No: *again_ns is
     * lowered to when that may change by itself.  NULL: nobody knows. */
    bool (*failed)(const struct feed *f, int64_t *again_ns);
    /* Let go of the adapter and the wire; called exactly once. */
    void (*close)(struct feed *f);
};

struct feed {
    const struct feed_ops *ops;
    const allm_adapter *adapter;
    const allm_call *call;
    void *state;                /* the adapter's, state_size bytes, zeroed */
    const char *answer_id;      /* the provider's name for it; or NULL */
    bool begun;                 /* a byte of the answer's body, or its end, was
                                   seen: do not retry */
    bool settled;               /* what is there will do... */
    bool hurry;                 /* ...and the caller will not wait for more */
    bool fresh;                 /* content came that made no event; the caller
                                   clears it */
};

/* What an attempt needs beside the call. */
struct feed_env {
    const allm_transport *transport;    /* NULL: the stream's HTTP client */
    const allm_net_opts *net;           /* for that one */
    struct mem mem;
    struct clock clock;
    allm_stream *stream;        /* that is woken when there is news */
    const struct registry_row *row;
    const struct secret *key;   /* what the auth header carries; or NULL */
    int64_t connect_ms;
};

#endif
