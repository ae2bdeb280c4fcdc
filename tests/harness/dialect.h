/*
 * dialect.h - a small dialect for tests that reaches every path of a feed
 *
 * A frame of the body is one of
 *
 *      {"text": "a"}           a piece of text
 *      {"texts": ["a", "b"]}   two events of one frame
 *      {"finish": "stop"}      the answer is complete: settled
 *      {"finish": "stop", "quiet": true}       the same in an idle frame
 *      end                     the protocol's end
 *      =a                      a text that points into the frame, and the end
 *      {"ping": true}          keeps the connection alive, no content
 *      {"busy": true}          content without an event
 *      {"error": "why"}        the call fails
 *      {"tells": "why"}        an error as an event
 *      {"sulk": true}          it fails without an error
 *      {"hides": "why"}        it sets an error, but returns ALLM_OK
 *      {"text": "a", "finish": "stop"}         a whole document
 *
 * The name of a frame ("error") has precedence.  An end without finish is
 * truncated.  Requests go to base_url/talk; the call's option "encode" makes
 * encode() fail: "fails", "sulks", "nowhere", "header", "late"; or, as "long",
 * write a mebibyte.
 *
 * The body {"why": "..."} of an HTTP error becomes content_filter with that
 * message, {"later": ms} rate_limited with a time; a body that begins with "!"
 * is the message itself.
 */
#pragma once

#include "allm.h"
#include "base/clock.h"
#include "harness/scripted.h"

#include <stdatomic.h>

extern const allm_adapter dialect_sse, dialect_ndjson, dialect_whole;

/* Calls of finish() so far; tests set it to 0. */
extern atomic_size_t dialect_finished;

/* The fixture of a feed's test.  Set the members that differ from the
 * default. */
struct dialect_set {
    const struct scripted_step *steps;
    const allm_adapter *adapter;        /* NULL: dialect_sse */
    const allm_keys *keys;
    const allm_json *retry, *adapter_opts;
    const allm_allocator *allocator;
    const char *model;                  /* NULL: "test:m" */
    bool real_time;
    bool blind;                         /* the transport has no ready() */
    allm_trace_fn trace;
    void *trace_ud;

    struct clock_manual clock;          /* set by the set-up from here on */
    struct scripted play;
    allm_transport transport;
    allm_engine *engine;
};

void dialect_set_up(struct dialect_set *d);
void dialect_tear_down(struct dialect_set *d);

/* Play one call of the steps to its end; returns its events. */
const char *dialect_play(const struct scripted_step *steps,
                         const allm_call_opts *opts);
