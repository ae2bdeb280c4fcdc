/* drain.h - read an exchange of a transport, and write down the result */
#pragma once

#include "allm.h"
#include "base/clock.h"

struct drain {
    const char *method, *url, *body; /* NULL: POST, https://a.example/x, {} */
    const char *key;                    /* sent as "authorization: Bearer" */
    struct clock_manual *clock;         /* is advanced to the next deadline */
    size_t most;                        /* reads before hanging up; 0: all */
};

/*
 *      200 [abc] +5 [] [de] ok         status, pieces, milliseconds between
 *      [a]                             hung up
 *      ~ ~                             nothing, forever (read twice)
 *      !reason: message                it failed, in open() or later
 *      (connecting)                    not ready when nothing arrived
 *
 * The result is static.
 */
const char *drain_all(const allm_transport *t, const struct drain *d);
