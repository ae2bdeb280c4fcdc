/* engine_core.h - what all engines that were derived from each other share */
#ifndef ENGINE_ENGINE_CORE_H
#define ENGINE_ENGINE_CORE_H

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
    allm_net_opts net;              /* for the HTTP client; texts in told */
    struct arena told;
    allm_attachments *attachments;
    allm_keys *keys;
    allm_catalog *catalog;
    allm_trace_fn trace;
    void *trace_ud;
    size_t answer_limit;            /* bytes of memory that an answer may take */
    struct registry_row own;        /* of the caller's own adapter, if any */
    allm_adapter own_adapter;
    allm_transport own_transport;
    const allm_executor *executor;  /* below, or NULL */
    const allm_encoder *encoder;
    allm_executor own_executor;
    allm_encoder own_encoder;
};

/* A core, counted. */
struct shared_core {
    atomic_size_t count;
    uint32_t flags;
    struct engine_core core;
};

/* NULL: no memory. */
struct shared_core *engine_core_new(const allm_engine_opts *o);
struct shared_core *engine_core_keep(struct shared_core *s);
void engine_core_drop(struct shared_core *s);       /* NULL is fine */

/* Copy the caller's tables and network options into a new core.  NULL, or a
 * message that says which of them is not accepted; core.told is broken if there
 * was no memory. */
const char *engine_core_take(struct shared_core *s, const allm_engine_opts *o);

#endif
