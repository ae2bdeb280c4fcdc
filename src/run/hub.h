/* hub.h - many streams behind one descriptor: the only place that waits */
#ifndef RUN_HUB_H
#define RUN_HUB_H

#include "run/seat.h"

enum { HUB_VISIT = 64 };            /* events a stream may give in a row */

/* Put a stream that waits alone into a hub of its own.  NULL, or why not. */
const allm_error *hub_adopt(allm_stream *s);

/* Wait until the stream of a private hub has news or again_ns has come.  NULL,
 * or why it cannot wait. */
const allm_error *hub_await(allm_stream *s, int64_t again_ns);

/* The threads of the hub of a stream; NULL: there are none, and `make` was not
 * said. */
struct workers *hub_workers(allm_stream *s, bool make);

/* The HTTP client of the hub of a stream, made when it is first asked for.
 * NULL: it cannot be made. */
const allm_transport *hub_transport(allm_stream *s, const allm_net_opts *opts);

/* The stream said AGAIN: it has nothing before again_ns, or until it is woken;
 * `more`: it has, but others come first. */
void hub_rest(allm_stream *s, int64_t again_ns, bool more);

/* Is the stream held, and neither cancelled nor failed?  Then it is not to be
 * pulled or named before *again_ns, or until it is woken. */
bool hub_holds(const allm_stream *s, int64_t *again_ns);

/* It is held from now on, or not any more. */
void hub_hold(allm_stream *s);

/* The stream has ended; it stays known to the hub, since others may still
 * ring for it, until it goes. */
void hub_done(allm_stream *s);
void hub_leave(allm_stream *s);

#endif
