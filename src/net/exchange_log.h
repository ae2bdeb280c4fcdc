/*
 * exchange_log.h - one exchange while it is recorded, and its text
 *
 * The bytes are kept unchanged until the end, in memory that is wiped.  Only
 * then can a key be found that was split between two chunks.
 */
#pragma once

#include "base/secret.h"
#include "net/recording.h"
#include "net/request_json.h"

/* If it is broken, by lack of memory or by its limit, the exchange continues,
 * and exchange_log_text() fails. */
struct exchange_log {
    struct mem mem;
    struct arena wiped;
    struct request_json_secret secret;
    const allm_json *request, *answer;  /* answer NULL: none came */
    int32_t status;
    int64_t connect_ms;         /* as in struct recorded */
    struct buf body;
    struct buf cuts;            /* of struct exchange_log_cut */
    enum recording_kind end;
    int64_t end_ms;
    const allm_error *refused, *error;
    bool broken;
};

/* t must not be moved: its memory refers to it. */
void exchange_log_init(struct exchange_log *t, struct mem mem);
void exchange_log_release(struct exchange_log *t);

void exchange_log_request(struct exchange_log *t, const allm_http_view *view);
void exchange_log_head(struct exchange_log *t, const allm_http_head *head);
void exchange_log_chunk(struct exchange_log *t, struct slice bytes,
                        int64_t at_ms);
/* error NULL: the transport did not say why. */
void exchange_log_refused(struct exchange_log *t, const allm_error *error);
void exchange_log_end(struct exchange_log *t, enum recording_kind kind,
                      int64_t at_ms, const allm_error *error,
                      allm_status status);

/* Append to a recording; false: broken, with out->over if it is too long. */
bool exchange_log_text(struct exchange_log *t, struct buf *out);
