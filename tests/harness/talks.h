/*
 * talks.h - conversations made at random, for the tests of dialects
 *
 * With all that goes wrong between providers: ids in a foreign alphabet or used
 * again, calls that nobody answered, results that nobody asked for, states of
 * other models.
 */
#ifndef HARNESS_TALKS_H
#define HARNESS_TALKS_H

#include "allm.h"
#include "base/arena.h"
#include "base/slice.h"

/* Whose conversations they are. */
struct talks {
    const char *provider, *model;
    const char *const *states;  /* of messages and calls, as JSON; ended by
                                   NULL */
    const allm_adapter *adapter;
    uint64_t quirks;            /* of the provider */
    size_t tail;                /* brackets behind the last message */
    void (*check)(const struct talks *, const allm_request *, struct arena *);
};

/* What an adapter writes for a model, and the member `list` of it. */
const allm_json *talks_encode(const struct talks *t, const char *model,
                              const allm_adapter *adapter, const char *list,
                              const allm_request *r, struct arena *a,
                              struct slice *bytes);

/* `check` is called for many conversations, or for one. */
void talks_check_many(const struct talks *t);
void talks_check_one(const struct talks *t);

/* The bytes of a longer one begin with those of a shorter one. */
void talks_prefix_many(const struct talks *t);
void talks_prefix_one(const struct talks *t);

#endif
