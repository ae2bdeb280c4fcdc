/*
 * canned.h - a transport that plays replies, for calls through a dialect
 *
 * The bytes come in pieces of a few bytes each; the clock moves by itself.
 */
#ifndef HARNESS_CANNED_H
#define HARNESS_CANNED_H

#include "allm.h"
#include "base/clock.h"

enum canned_ending { SERVER_ENDS, SERVER_STAYS_OPEN, SERVER_BREAKS };

struct canned_reply {
    int32_t status;
    const char *body;
    size_t len;                 /* 0: up to the NUL */
    enum canned_ending ending;
    const char *header[4];      /* name, value, ...; NULL ends it */
};

struct canned {
    const struct canned_reply *reply;
    size_t count, opened;
    const allm_keys *keys;      /* of the engine; or NULL */
    bool no_key;                /* the call has none */
    const char *adapter_opts;   /* JSON of the engine's; or NULL */
    size_t step;                /* bytes at once; 0: 7 */
    size_t at;                  /* in the body */
    allm_http_head head;
    char asked[32768];          /* address, secret header and body */
    char first[512];            /* the same of the first request, cut */
    const char *error_id;       /* the request_id of the error, if it ended so;
                                   lent until the next call */
    const char *metadata;       /* of the response, as JSON; lent likewise */
};

/* For engines of one's own; `s` must live as long as they do. */
allm_transport canned_transport(struct canned *s);

/* Ask the model with the key "sk-secret-42" and the message "hi": the events,
 * as play_all() writes them, lent until the next call. */
const char *canned_call(struct canned *s, const char *model,
                        struct clock_manual *clock);

/* An engine whose calls are answered so; freed by the caller before `s` goes. */
allm_engine *canned_engine(struct canned *s, const char *model,
                           struct clock_manual *clock);

#endif
