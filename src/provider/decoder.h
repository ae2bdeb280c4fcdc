/*
 * decoder.h - bytes of a body to events: framing and dialect joined
 *
 * Feed it from a transport, a file or a test: it does no I/O.
 */
#ifndef PROVIDER_DECODER_H
#define PROVIDER_DECODER_H

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
    union {                     /* by the framing; a whole body: neither */
        struct sse sse;
        struct ndjson ndjson;
    };
    struct skeleton skeleton;         /* of its frames */
    struct arena arena;         /* a whole body */
    struct buf whole;
    size_t bytes, limit;
    size_t frames;              /* given to the dialect so far */
    bool ended;                 /* by the dialect, or a whole body is given */
    bool looked;                /* the first byte was seen */
};

/* `whole`: the body is one JSON document, whatever the dialect's framing. */
void decoder_init(struct decoding *d, struct mem mem,
                  const allm_adapter *adapter, const allm_call *call,
                  void *state, bool whole);
void decoder_release(struct decoding *d);

/* A body that is longer fails; else that limit is DECODER_BODY_LIMIT.  Before
 * the first byte. */
void decoder_limit(struct decoding *d, size_t bytes);

/*
 * Take bytes off *in until a frame has put events into the sink.  EVENT: some
 * are there.  OK: all of *in is used; *content says whether a frame (and not
 * only a keep-alive) was among it.  < 0: failed, the sink says why.
 */
allm_status decoder_feed(struct decoding *d, struct slice *in,
                         struct allm_sink *sink, bool *content);

/* More bytes will take their time: give back what only helps to be quick. */
void decoder_rest(struct decoding *d);

/* The body has ended.  EVENT: call again.  OK: that was all.  < 0: failed, as
 * a body without any frame does.  After allm_sink_end() nothing of the body is
 * looked at any more; finish is called all the same. */
allm_status decoder_end(struct decoding *d, struct allm_sink *sink);

#endif
