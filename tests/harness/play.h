/* play.h - play scripts of the fake, and write down what a stream tells */
#ifndef HARNESS_PLAY_H
#define HARNESS_PLAY_H

#include "base/clock.h"

/* An engine whose adapter_opts are this JSON text ('...' for "..." so that
 * scripts stay readable); with a clock that moves by itself, or the real one
 * for NULL. */
allm_engine *play_engine(const char *opts, struct clock_manual *clock);

/* One that asks a server on this machine, by the dialect of OpenAI, on the real
 * clock. */
allm_engine *play_engine_at(int port);

/* A clock of tests, as engines and hubs take it. */
allm_clock play_clock(struct clock_manual *clock);

/* A call with one message, "hi"; opts as for engines (NULL: none). */
allm_stream *play_call(const allm_engine *e);
allm_stream *play_call_with(const allm_engine *e, const allm_call_opts *opts);

/* A JSON text with ' for ". */
allm_json *play_json(const char *text);

/*
 * Pull a stream to its end and write down its events, one word each:
 *
 *      started  text:hi  text=hi  call:c0/echo  args:c0/{"x  thinks:a
 *      called:c0/echo/{"x":1}/{"x":1}  thought:ab  usage:3/4  chunk:{}
 *      error:adapter/timeout  completed:hi/stop
 *
 * and how it ended: "ok", or the error's kind and reason.  The text is static.
 * Sequence numbers are checked on the way.
 */
const char *play_all(allm_stream *s);

/* The events of one call of a new engine: play_all() and free all. */
const char *play_once(const char *opts);

/* The word for one event, static until the next call. */
const char *play_word(const allm_event *event);

/* The error's message, or "". */
const char *play_why(const allm_stream *s);

#endif
