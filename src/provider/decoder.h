/*
 * decoder.h - decode the bytes of a body into events
 *
 * It splits the body into frames and passes them to the dialect.  It does no
 * I/O: the caller feeds it from a transport, a file or a test.
 */
#pragma once

#include "provider/sink.h"
#include "wire/ndjson.h"
#include "wire/sse.h"
#include "json/skeleton.h"

enum { DECODER_BODY_LIMIT = 256 * 1024 * 1024 };

/* One body being decoded.  Must not be moved. */
struct decoding {
    const allm_adapter *adapter;
    const allm_call *call;
    void *state;                /* the dialect's */
    allm_framing framing;
    union {                     /* by the framing; unused for a whole body */
        struct sse sse;
        struct ndjson ndjson;
    };
    struct skeleton skeleton;         /* of its frames */
    struct arena arena;         /* a whole body */
    struct buf whole;
    size_t bytes, limit;
    size_t frames;              /* passed to the dialect so far */
    bool ended;                 /* by the dialect, or after a whole body */
    bool looked;                /* the first byte was seen */
};

/* `whole`: the body is one JSON document, whatever the dialect's framing. */
void decoder_init(struct decoding *d, struct mem mem,
                  const allm_adapter *adapter, const allm_call *call,
                  void *state, bool whole);
void decoder_release(struct decoding *d);

/* Set the maximum length of the body; the default is DECODER_BODY_LIMIT.  Call
 * it before the first byte. */
void decoder_limit(struct decoding *d, size_t bytes);

/*
 * Decode bytes of *in until a frame puts events into the sink.  EVENT: it has
 * events.  OK: all of *in is decoded; *content says whether a frame (and not
 * only a keep-alive) was among it.  < 0: failed, the sink says why.
 */
allm_status decoder_feed(struct decoding *d, struct slice *in,
                         struct allm_sink *sink, bool *content);

/* No bytes are expected soon: free the memory that only makes it faster. */
void decoder_rest(struct decoding *d);

/* The body has ended.  EVENT: call again.  OK: there are no more events.  < 0:
 * it failed; a body without any frame fails.  After allm_sink_end() the rest of
 * the body is ignored, but the dialect's finish() is called. */
allm_status decoder_end(struct decoding *d, struct allm_sink *sink);
