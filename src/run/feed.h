/*
 * feed.h - where a call's events come from: a source, or bytes and a dialect
 *
 * One attempt at a call.  Its user only asks for the next events; the feed
 * knows whether they are made in the process or come over the network.
 */
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "engine/pacer.h"
#include "loop/wake.h"
#include "provider/registry.h"
#include "provider/sink.h"

struct feed;

struct feed_ops {
    /*
     * Put events into the sink.  EVENT: there are some.  AGAIN: none before
     * *again_ns (INT64_MAX: before the waker rings).  OK: there are no more.
     * < 0: it failed, and sink->failure says why.
     */
    allm_status (*next)(struct feed *f, struct allm_sink *sink,
                        int64_t *again_ns);
    /* Will next() fail, perhaps after some events?  If not, *again_ns is
     * lowered to the time when that may change.  NULL: unknown. */
    bool (*failed)(const struct feed *f, int64_t *again_ns);
    /* Release the adapter and the connection; called exactly once. */
    void (*close)(struct feed *f);
};

struct feed {
    const struct feed_ops *ops;
    const allm_adapter *adapter;
    const allm_call *call;
    void *state;                /* the adapter's, state_size bytes, zeroed */
    const char *answer_id;      /* the provider's id of the response; or NULL */
    bool begun;                 /* a byte of the body, or its end, has come: do
                                   not retry */
    bool settled;               /* the response is complete enough... */
    bool hurry;                 /* ...and the caller does not wait for more */
    bool fresh;                 /* content came, but no event; the caller clears
                                   it */
};

/* What an attempt needs in addition to the call. */
struct feed_env {
    const allm_transport *transport;    /* NULL: the stream's HTTP client */
    const allm_net_opts *net;           /* for the HTTP client */
    struct mem mem;
    struct clock clock;
    allm_stream *stream;        /* that is woken */
    const struct registry_row *row;
    const struct secret *key;   /* the value of the auth header; or NULL */
    int64_t connect_ms;
    struct pacer_ticket *ticket;    /* NULL: the engine has no pacer */
};
