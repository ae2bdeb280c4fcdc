/* call_plan_parts.h - the data of a call while it runs */
#pragma once

#include "base/secret.h"
#include "engine/engine.h"

/* The options that the machine reads while the call runs. */
struct terms {
    bool text_deltas, tool_deltas, raw_chunks;  /* deliver them */
    uint32_t connect_ms, first_ms, silence_ms;
    uint32_t total_ms;          /* 0: no limit */
    allm_event_fn on_event;
    void *on_event_ud;
};

struct call_plan {
    allm_engine *engine;        /* the machine holds a reference */
    const struct registry_row *row; /* the provider of the call */
    struct registry_row chosen; /* the row with the dialect of this call */
    struct allm_home *home;     /* owns the data of the call */
    allm_call call;
    allm_request request;       /* as the adapter sees it */
    const allm_model_ref *ref;  /* the catalog's entry; or NULL */
    bool free_model;            /* the provider may choose the model */
    struct terms terms;
    struct secret *key;         /* the value of the auth header; or NULL */
};
