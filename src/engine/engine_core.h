/* engine_core.h - what engines that are derived from each other share */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "provider/registry.h"

#include <stdatomic.h>

enum { ENGINE_ANSWER_LIMIT = 256 * 1024 * 1024 };

struct engine_core {
    struct mem mem;
    struct clock clock;
    allm_clock public_clock;        /* the same, for adapters */
    struct random random;
    const allm_transport *transport;    /* own_transport, or NULL */
    allm_net_opts net;              /* for the HTTP client */
    struct arena strings;           /* holds the strings of `net` */
    allm_attachments *attachments;
    allm_keys *keys;
    allm_catalog *catalog;
    allm_pacer *pacer;              /* or NULL */
    allm_trace_fn trace;
    void *trace_ud;
    size_t answer_limit;            /* how much memory a response may use */
    struct registry_row own;        /* of the caller's own adapter, if any */
    allm_adapter own_adapter;
    allm_transport own_transport;
    const allm_executor *executor;  /* own_executor, or NULL */
    const allm_encoder *encoder;
    const allm_gate *gate;
    allm_executor own_executor;
    allm_encoder own_encoder;
    allm_gate own_gate;
};

/* A reference-counted core. */
struct shared_core {
    atomic_size_t count;
    uint32_t flags;
    struct engine_core core;
};

/* NULL: out of memory. */
struct shared_core *engine_core_new(const allm_engine_opts *o);
struct shared_core *engine_core_keep(struct shared_core *s);
void engine_core_drop(struct shared_core *s);       /* may be NULL */

/* Copy the caller's tables and network options into a new core.  Returns NULL,
 * or a message that says which one is rejected.  If out of memory, core.strings
 * is broken. */
const char *engine_core_take(struct shared_core *s, const allm_engine_opts *o);
