/* sink.h - where an adapter puts its events */
#ifndef PROVIDER_SINK_H
#define PROVIDER_SINK_H

#include "allm.h"
#include "base/arena.h"

/* An event in the queue. */
struct sink_item {
    struct sink_item *next;
    allm_event event;
};

/*
 * Events wait here until they are taken, one by one; their memory is the
 * arena, which may be reset when the sink is empty and the last one taken is
 * no longer lent.
 */
struct allm_sink {
    struct arena *arena;
    struct sink_item *first, *last;
    const allm_error *failure;  /* of allm_sink_fail, in the arena */
    bool final;                 /* the failure is not to be retried */
    allm_status status;         /* MISUSE or NOMEM sticks here */
    struct arena *life;         /* of the attempt; NULL: as `arena` */
    struct skeleton *skeleton;        /* of the frames of an answer; or NULL */
    bool ended, settled, idle;  /* what the adapter said of the protocol */
};

/* Empty it; events live in the first arena, what is kept in the second. */
void sink_init(struct allm_sink *s, struct arena *arena, struct arena *life);

/* The next event, ours to number; NULL: none. */
allm_event *sink_take(struct allm_sink *s);

/* Room for one event, zeroed but for its size and type, already queued: the
 * short way for adapters of ours.  NULL: no memory. */
allm_event *sink_add(struct allm_sink *s, allm_event_type type);

/* The answer is not what the protocol allows, and asking again would not help.
 * Gives the kind of the error, or why it could not be told. */
allm_status sink_malformed(struct allm_sink *s, const char *sentence);

/* As allm_sink_parse(), for the document that a frame is.  It lives until the
 * next one is parsed. */
const allm_json *sink_parse_frame(struct allm_sink *s, struct slice data);

#endif
