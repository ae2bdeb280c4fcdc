/* drain.h - go through an exchange of a transport, and write down what came */
#ifndef HARNESS_DRAIN_H
#define HARNESS_DRAIN_H

#include "allm.h"
#include "base/clock.h"

struct drain {
    const char *method, *url, *body;    /* NULL: POST, https://a.example/x, {} */
    const char *key;                    /* sent as "authorization: Bearer" */
    struct clock_manual *clock;         /* moved to when it is worthwhile */
    size_t most;                        /* reads, then hang up; 0: all */
};

/*
 *      200 [abc] +5 [] [de] ok         status, pieces, milliseconds between
 *      [a]                             hung up
 *      ~ ~                             nothing, for ever (twice asked)
 *      !reason: message                it failed, in open() or later
 *      (connecting)                    not ready when nothing came
 *
 * The text is static.
 */
const char *drain_all(const allm_transport *t, const struct drain *d);

#endif
