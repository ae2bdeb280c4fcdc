/* sse.h - server-sent events: bytes in, events out */
#pragma once

#include "wire/lines.h"

#include <stdint.h>

enum sse_kind {
    SSE_EVENT,                  /* name (or empty), data (never empty) */
    SSE_ERROR,                  /* data: the value of an "error" field */
    SSE_KEEPALIVE               /* no content: a comment (data: its text), or
                                   an event without data (name: its name) */
};

/* Borrowed until the next call; the bytes are in the input or in our memory. */
struct sse_frame {
    enum sse_kind kind;
    struct slice name, data, id;
    bool unended;               /* the input ended before its blank line */
};

/* A field of the event that is being read. */
struct sse_value {
    struct slice text;          /* in the input, in lines, or in own */
    struct buf own;
    bool given;
};

struct sse {
    struct arena arena;
    struct lines lines;
    struct sse_value name, data, error, id;
    size_t event_limit;
    int64_t retry_ms;           /* the last "retry" field; -1: none */
    size_t ending;              /* line ends that sse_end() has added */
    enum wire_result lost;      /* TOO_LONG or NOMEM, once it occurred */
    bool any;                   /* the open event has a field */
    bool complete;              /* its blank line was read: emit the rest */
    bool ended;
};

/*
 * Limits in bytes, 0 for WIRE_LIMIT: of a line without its end, and of all
 * values of an event together.  A struct sse must not be moved.
 */
void sse_init(struct sse *s, struct mem mem, size_t line_limit,
              size_t event_limit);
void sse_release(struct sse *s);

/*
 * Remove the next frame from *in.  Call it again with the rest of *in, at the
 * same address or elsewhere, until it returns WIRE_MORE; then all input is
 * used.  What was removed is not needed after the frame.
 */
enum wire_result sse_next(struct sse *s, struct slice *in,
                          struct sse_frame *frame);

/* There is no more input: an event without its blank line is emitted now.
 * Call it until it returns WIRE_END (or a failure). */
enum wire_result sse_end(struct sse *s, struct sse_frame *frame);
