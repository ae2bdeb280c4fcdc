/* stream.h - a call in progress, pulled alone or in a hub */
#ifndef RUN_STREAM_H
#define RUN_STREAM_H

#include "base/clock.h"
#include "base/mem.h"
#include "run/machine.h"

/* A stream in two steps, since its machine needs its waker.  What it waits with
 * is kept for others among the attachments (or NULL).  NULL: no memory. */
allm_stream *stream_new(struct mem mem, struct clock clock,
                        allm_attachments *attachments);
allm_waker *stream_waker(allm_stream *s);

/* The HTTP client of the stream's hub, made on first use; a stream that is in
 * no hub gets one of its own.  NULL: the client cannot be made. */
const allm_transport *stream_transport(allm_stream *s,
                                       const allm_net_opts *opts);

/* For tools: ring the waker; the threads of the loop that waits for a stream,
 * NULL: there are none. */
void stream_ring(void *waker);
struct workers *stream_workers(void *stream, bool make);

/* Run this machine, which is given away; NULL: the stream is freed, too. */
allm_stream *stream_begin(allm_stream *s, struct machine *m);

/* Put a machine around the one that a stream runs.  The outer one owns the
 * inner one from then on. */
struct machine *stream_machine(const allm_stream *s);
void stream_wrap(allm_stream *s, struct machine *outer);

#endif
