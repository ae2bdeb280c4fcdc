/*
 * talks.h - random conversations, for the tests of dialects
 *
 * They have all faults that occur between providers: ids with other characters
 * or duplicates, calls without a result, results without a call, states of
 * other models.
 */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "base/slice.h"

/* The dialect of the conversations. */
struct talks {
    const char *provider, *model;
    const char *const *states;  /* of messages and calls, as JSON; ended by
                                   NULL */
    const allm_adapter *adapter;
    uint64_t quirks;            /* of the provider */
    size_t tail;                /* brackets after the last message */
    void (*check)(const struct talks *, const allm_request *, struct arena *);
};

/* The body that an adapter writes for a model, and its member `list`. */
const allm_json *talks_encode(const struct talks *t, const char *model,
                              const allm_adapter *adapter, const char *list,
                              const allm_request *r, struct arena *a,
                              struct slice *bytes);

/* Call `check` for many conversations, or for one. */
void talks_check_many(const struct talks *t);
void talks_check_one(const struct talks *t);

/* The body of a longer conversation begins with that of a shorter one. */
void talks_prefix_many(const struct talks *t);
void talks_prefix_one(const struct talks *t);
