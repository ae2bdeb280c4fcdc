/* sink.h - the queue of events that an adapter fills */
#pragma once

#include "allm.h"
#include "base/arena.h"

struct json_view;

/* An event in the queue. */
struct sink_item {
    struct sink_item *next;
    bool lasting;               /* see sink_last() */
    allm_event event;
};

/*
 * Events wait here until they are taken, one by one.  They are in the arena,
 * which may be reset when the sink is empty and no caller borrows the event
 * taken last.
 */
struct allm_sink {
    struct arena *arena;
    struct sink_item *first, *last;
    const allm_error *failure;  /* from allm_sink_fail, in the arena */
    bool final;                 /* the failure must not be retried */
    allm_status status;         /* OK until the first MISUSE or NOMEM */
    struct arena *life;         /* as long as the attempt; NULL: `arena` */
    struct skeleton *skeleton;  /* speeds up the parsing of frames; or NULL */
    bool ended, settled, idle;  /* set by the adapter, as by allm_sink_end() */
};

/* Initialize an empty sink; `life` is for data that lives as long as the
 * attempt. */
void sink_init(struct allm_sink *s, struct arena *arena, struct arena *life);

/* Remove the next event; the caller numbers it.  NULL: none. */
allm_event *sink_take(struct allm_sink *s);

/* Queue an event and return it for the caller to fill; only its size and type
 * are set.  For our own adapters: nothing is checked.  NULL: out of memory. */
allm_event *sink_add(struct allm_sink *s, allm_event_type type);

/* The values of this event, which is in a sink, live as long as the attempt. */
void sink_last(allm_event *event);
bool sink_lasts(const allm_event *event);

/* A value as JSON text, in the arena of the events.  If memory runs out, the
 * status says so. */
struct slice sink_json(struct allm_sink *s, const allm_json *v);

/* Fail because the response violates the protocol; a retry would not help.
 * Returns the kind of the error, or the sink's status if it cannot be
 * stored. */
allm_status sink_malformed(struct allm_sink *s, const char *message);

/* As allm_sink_parse(), for the document of a frame.  It is valid until the
 * next one is parsed. */
const allm_json *sink_parse_frame(struct allm_sink *s, struct slice data);

/*
 * A frame that is like the last one, but for one text.  sink_watch() names it,
 * and the values that do not matter (false: there are other differences);
 * sink_watched() finds it in the next frame (false: parse the frame).  Only if
 * sink_fits() can the next one be like the last.  See json/skeleton.
 */
bool sink_fits(const struct allm_sink *s);
bool sink_watch(struct allm_sink *s, const allm_json *text,
                const allm_json *const *others, size_t count);
bool sink_watched(struct allm_sink *s, struct slice data, struct slice *text);

/* Like json_view_init(), but faster for an object of the frame that
 * sink_parse_frame() parsed last. */
void sink_view(struct allm_sink *s, const allm_json *object,
               struct json_view *out);
