/* hub.h - many streams behind one descriptor: the only place that waits */
#pragma once

#include "run/seat.h"

enum { HUB_VISIT = 64 };            /* events of a stream before others come */

/* Give a stream that is pulled alone its own hub.  NULL, or why it failed. */
const allm_error *hub_adopt(allm_stream *s);

/* Wait until the stream of a private hub is ready or again_ns has passed.
 * NULL, or why it cannot wait. */
const allm_error *hub_await(allm_stream *s, int64_t again_ns);

/* The threads of a stream's hub.  NULL: there are none, and `make` is false. */
struct workers *hub_workers(allm_stream *s, bool make);

/* The HTTP client of a stream's hub, made by the first call.  NULL: it cannot
 * be made. */
const allm_transport *hub_transport(allm_stream *s, const allm_net_opts *opts);

/* The stream answers AGAIN: it has no event before again_ns or a ring.  `more`:
 * it has events, but others come first. */
void hub_rest(allm_stream *s, int64_t again_ns, bool more);

/* Is the stream held, and neither cancelled nor failed?  Then it is not pulled
 * or returned before *again_ns or a ring. */
bool hub_holds(const allm_stream *s, int64_t *again_ns);

/* Whether it is held has changed. */
void hub_hold(allm_stream *s);

/* The stream has ended.  It stays in the hub until hub_leave(), since threads
 * may still ring for it. */
void hub_done(allm_stream *s);
void hub_leave(allm_stream *s);
