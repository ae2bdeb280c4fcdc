/* random.h - random bytes: the system's, or a seeded sequence for tests */
#pragma once

#include "allm.h"
#include "base/buf.h"

/* A source as we keep it: the function is never NULL. */
struct random {
    bool (*fill)(void *ud, void *bytes, size_t len);
    void *ud;
};

struct random random_system(void);
struct random random_from(const allm_random *given);    /* NULL: system */
bool random_fill(struct random r, void *bytes, size_t len);

/* Uniform in 0 .. bound-1, without bias; 0 if bound is 0 or the source
 * fails. */
uint64_t random_below(struct random r, uint64_t bound);

/* 22 URL-safe characters from 16 random bytes: a request id. */
bool random_id(struct random r, struct buf *out);

/* The same sequence for the same seed, on every machine (splitmix64). */
struct random_seeded {
    uint64_t state;
};
struct random random_of_seed(struct random_seeded *s, uint64_t seed);
