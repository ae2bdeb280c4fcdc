/* seat.h - a stream and its place in a hub, for stream.c and hub.c */
#pragma once

#include "base/clock.h"
#include "base/mem.h"
#include "loop/timers.h"
#include "loop/waker.h"
#include "run/machine.h"

#include <stdatomic.h>

/* A stream's place in a hub. */
struct seat {
    struct allm_hub *hub;       /* NULL before a lone stream has to wait */
    bool private;               /* the hub belongs to this stream alone */
    void *tag;
    allm_stream *next, *prev;   /* all streams of the hub */
    allm_stream *next_ready, *prev_ready;
    bool alive;                 /* has not ended: counts in the hub */
    bool ready;                 /* is in the ready list */
    uint32_t visit;             /* events delivered since the hub reported it */
    struct timer timer;
};

struct allm_stream {
    struct mem mem;
    struct clock clock;
    struct machine *machine;
    struct allm_waker waker;
    struct seat seat;
    atomic_bool cancelled;
    bool pulled, in_next, ended, free_later;
    allm_status status;         /* < 0: every later call returns it, too */
    const allm_error *error;    /* of the stream itself, static */
    uint64_t seq;
    const allm_event *borrowed;
    allm_attachments *attachments;  /* of the engine; they store idle hubs */
};
