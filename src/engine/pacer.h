/*
 * pacer.h - keep calls within the limits of providers
 *
 * These functions only decide and count; the code that runs a call waits.  Each
 * attempt of a call has a ticket:
 *
 *      pacer_bind --> pacer_ask ... pacer_ask --> sent --> pacer_done
 *                         '------ pacer_leave ------'
 *
 * A ticket that has to wait is in a queue.  Only the first one in the queue
 * gets the time at which it may go; when it goes, it wakes the next.
 */
#pragma once

#include "allm.h"
#include "base/slice.h"

#include <stdint.h>

struct pacer_lane;

enum pacer_state { PACER_IDLE, PACER_WAITING, PACER_SENT };

/* { 0 } has no pacer: pacer_ask() always agrees. */
struct pacer_ticket {
    allm_pacer *pacer;
    struct pacer_lane *lane; /* of a provider, key and model */
    void (*ring)(allm_waker *);
    allm_waker *waker;       /* of the stream that waits */
    struct pacer_ticket *next, *prev;
    enum pacer_state state;
    bool answered; /* the headers of the response have come */
    int64_t sent_ns;
    uint64_t number; /* of the requests of its lane */
    double tokens; /* reserved */
};

/* Find the limits for these; the caller has set ring and waker.  False: out of
 * memory.  The ticket holds a reference to the pacer until pacer_release(). */
bool pacer_bind(struct pacer_ticket *t, allm_pacer *p, const char *provider,
                struct slice key, const char *model);
void pacer_release(struct pacer_ticket *t);

/* May the request be sent?  If not, ask again at *again_ns, or when the waker
 * rings. */
bool pacer_ask(struct pacer_ticket *t, int64_t now_ns, int64_t *again_ns);

/* A response begins; learn from its headers (name, value, name, value ...). */
void pacer_learn(struct pacer_ticket *t, const char *const *header,
                 size_t count, int64_t now_ns, int64_t unix_ms);

/* The attempt has ended, with this error or NULL; it used `tokens` (0: not
 * known). */
void pacer_done(struct pacer_ticket *t, const allm_error *error, int64_t tokens,
                int64_t now_ns);

/* The call ends, or is held: it no longer waits, and is no longer in flight. */
void pacer_leave(struct pacer_ticket *t);
