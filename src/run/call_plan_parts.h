/* call_plan_parts.h - what a call needs while it runs */
#ifndef RUN_CALL_PLAN_PARTS_H
#define RUN_CALL_PLAN_PARTS_H

#include "base/secret.h"
#include "engine/engine.h"

/* The options that matter while the call runs. */
struct terms {
    bool text_deltas, tool_deltas, raw_chunks;  /* are delivered */
    uint32_t connect_ms, first_ms, silence_ms, total_ms; /* total may be 0 */
    allm_event_fn on_event;
    void *on_event_ud;
};

struct call_plan {
    allm_engine *engine;            /* kept by the machine */
    const struct registry_row *row; /* the provider of the call */
    struct registry_row chosen;     /* the same, in the dialect of the call */
    struct allm_home *home;         /* owns what the call needs */
    allm_call call;
    allm_request request;           /* as the adapter gets it */
    const allm_model_ref *ref;      /* the catalog's entry; or NULL */
    bool free_model;                /* the provider may choose the model */
    struct terms terms;
    struct secret *key;             /* as the header carries it; or NULL */
};

#endif
