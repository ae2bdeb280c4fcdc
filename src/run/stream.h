/* stream.h - a call in progress, pulled alone or in a hub */
#pragma once

#include "base/clock.h"
#include "base/mem.h"
#include "run/machine.h"

/* Create a stream without a machine, since the machine needs its waker.  The
 * stream gets idle hubs from the attachments and returns them there;
 * attachments may be NULL.  NULL: out of memory. */
allm_stream *stream_new(struct mem mem, struct clock clock,
                        allm_attachments *attachments);
/* The same for a call with this engine; NULL: without one. */
allm_stream *stream_for(const allm_engine *e);
allm_waker *stream_waker(allm_stream *s);

/* The HTTP client of the stream's hub, made on first use.  A stream in no hub
 * gets a private hub.  NULL: the client cannot be made. */
const allm_transport *stream_transport(allm_stream *s,
                                       const allm_net_opts *opts);

/* Do so many streams share the hub that each keeps as little as it can? */
bool stream_is_one_of_many(const allm_stream *s);

/* For tools: ring the waker; get the worker threads of the hub, or NULL if
 * there are none. */
void stream_ring(void *waker);
struct workers *stream_workers(void *stream, bool make);

/* Run this machine; the stream owns it.  If it is NULL, the stream is freed and
 * NULL returned. */
allm_stream *stream_begin(allm_stream *s, struct machine *m);

/* Wrap the machine of a stream in another one.  The outer machine owns the
 * inner one from then on. */
struct machine *stream_machine(const allm_stream *s);
void stream_wrap(allm_stream *s, struct machine *outer);
