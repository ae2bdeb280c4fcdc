/* tasks.h - the dialects of tasks other than conversations */
#pragma once

#include "provider/registry.h"

/* FETCH downloads from a URL, without a provider. */
enum tasks_kind {
    TASKS_EMBED, TASKS_IMAGE, TASKS_MODERATE, TASKS_MODELS, TASKS_FETCH
};

struct tasks_way {
    enum tasks_kind kind;
    const allm_adapter *chat;       /* a provider with this dialect... */
    const allm_adapter *adapter;    /* ...does the task with that one */
    size_t most;                    /* inputs per request; 0: no limit */
    size_t most_bytes;              /* of all inputs together; 0: no limit */
    size_t whole;                   /* vectors with this many dimensions have
                                       length 1 already; 0: all vectors have */
};

/* How the provider does a task; NULL: it does not support it. */
const struct tasks_way *tasks_find(const struct registry_row *row,
                                   enum tasks_kind kind);

/* The row as a call of the task uses it; the provider must support it. */
struct registry_row tasks_row(const struct registry_row *row,
                              enum tasks_kind kind);
