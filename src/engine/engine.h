/* engine.h - what to talk to, and with which defaults */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "allm.h"
#include "base/clock.h"
#include "base/home.h"
#include "base/random.h"
#include "engine/options.h"
#include "provider/registry.h"

/* What all engines derived from one another share.  Counted. */
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

const struct engine_core *engine_core(const allm_engine *e);
/* For tests, before the first call: 256 MiB are too much to fill often. */
void engine_limit_answers(allm_engine *e, size_t bytes);
const struct registry_row *engine_row(const allm_engine *e);   /* or NULL */

/* Whom a call with this model asks: where no adapter was named, the provider in
 * front of the model decides.  NULL: nobody. */
const struct registry_row *engine_row_for(const allm_engine *e,
                                          const char *model,
                                          const allm_model_ref *ref);
const allm_adapter *engine_adapter(const allm_engine *e);       /* or NULL */
const allm_engine_record *engine_record(const allm_engine *e);

/* Tools of the engine with those of the options: replaced in place by name,
 * the others appended.  False: no memory. */
bool engine_tools(const allm_engine *e, const struct options *o,
                  struct arena *a, size_t *count, const allm_tool *const **out);

/* Parameters with the options over them, engine fields left out; a value in
 * the arena.  NULL: no memory. */
const allm_json *engine_params(const allm_engine *e, const struct options *o,
                               struct arena *a);

/* The name of the model: the call's, the request's, or the engine's. */
const char *engine_model(const allm_engine *e, const struct options *o,
                         const char *of_request);

#endif
