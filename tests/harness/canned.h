/*
 * canned.h - a transport that plays canned replies, for calls through a dialect
 *
 * The bytes arrive in pieces of a few bytes; the clock advances by itself.
 */
#pragma once

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
    size_t step;                /* bytes per piece; 0: 7 */
    size_t at;                  /* in the body */
    allm_http_head head;
    char asked[32768];          /* address, secret header and body */
    char first[512];            /* the same of the first request, cut */
    const char *error_id;       /* the request_id of the error, if there is one;
                                   valid until the next call */
    const char *metadata;       /* of the response, as JSON; valid likewise */
};

/* For the caller's own engines; `s` must outlive them. */
allm_transport canned_transport(struct canned *s);

/* Call the model with the key "sk-secret-42" and the message "hi".  Returns the
 * events, as play_all() writes them, valid until the next call. */
const char *canned_call(struct canned *s, const char *model,
                        struct clock_manual *clock);

/* An engine that uses this transport; the caller frees it before `s`. */
allm_engine *canned_engine(struct canned *s, const char *model,
                           struct clock_manual *clock);
