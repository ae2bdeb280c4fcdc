/* play.h - play scripts of the fake provider, and write down the events */
#pragma once

#include "base/clock.h"

/* An engine whose adapter_opts are this JSON text (with '...' for "...", so
 * scripts are readable), and this clock; NULL: the real one. */
allm_engine *play_engine(const char *opts, struct clock_manual *clock);

/* An engine that uses a server on this machine, with the dialect of OpenAI and
 * the real clock. */
allm_engine *play_engine_at(int port);
allm_engine *play_engine_with(int port, const allm_net_opts *net);

/* The test clock as an allm_clock. */
allm_clock play_clock(struct clock_manual *clock);

/* A call with one message, "hi"; opts as JSON with ' for " (NULL: none). */
allm_stream *play_call(const allm_engine *e);
allm_stream *play_call_with(const allm_engine *e, const allm_call_opts *opts);

/* Parse JSON text with ' for ". */
allm_json *play_json(const char *text);

/*
 * Pull a stream to its end and write down its events, one word each:
 *
 *      started  text:hi  text=hi  call:c0/echo  args:c0/{"x  thinks:a
 *      called:c0/echo/{"x":1}/{"x":1}  thought:ab  usage:3/4  chunk:{}
 *      error:adapter/timeout  completed:hi/stop
 *
 * and how it ended: "ok", or the error's kind and reason.  The result is
 * static.  It also checks the sequence numbers.
 */
const char *play_all(allm_stream *s);

/* The events of one call of a new engine: play_all(), then free everything. */
const char *play_once(const char *opts);

/* The word for one event, valid until the next call. */
const char *play_word(const allm_event *event);

/* The error's message, or "". */
const char *play_why(const allm_stream *s);
