/* tasks.h - what providers do besides conversations, and by which dialects */
#ifndef PROVIDER_TASKS_H
#define PROVIDER_TASKS_H

#include "provider/registry.h"

/* FETCH: no provider is asked, but the server of an address. */
enum tasks_kind {
    TASKS_EMBED, TASKS_IMAGE, TASKS_MODERATE, TASKS_MODELS, TASKS_FETCH
};

struct tasks_way {
    enum tasks_kind kind;
    const allm_adapter *chat;       /* whoever speaks this... */
    const allm_adapter *adapter;    /* ...is asked by that */
    size_t most;                    /* inputs in one request; 0: any number */
    size_t most_bytes;              /* of them all; 0: never mind */
    size_t whole;                   /* dimensions at which vectors have length
                                       1 by themselves; 0: never mind */
};

/* How that provider is asked; NULL: it cannot do it. */
const struct tasks_way *tasks_find(const struct registry_row *row,
                                   enum tasks_kind kind);

/* The row as such a call uses it; the provider can do it. */
struct registry_row tasks_row(const struct registry_row *row,
                              enum tasks_kind kind);

#endif
