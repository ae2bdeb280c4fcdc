/*
 * taken.h - one exchange being written down, and its text in a recording
 *
 * What passes is kept as it is until the end, in memory that is wiped; only
 * then can a key be found that was cut in two by the network.
 */
#ifndef NET_TAKEN_H
#define NET_TAKEN_H

#include "base/secret.h"
#include "net/asked.h"
#include "net/recording.h"

/* Broken by lack of memory, or by its limit: what passes is not disturbed, and
 * taken_text() fails. */
struct taken {
    struct mem mem;
    struct arena wiped;
    struct asked_secret secret;
    const allm_json *request, *answer;  /* answer NULL: none came */
    int32_t status;
    int64_t connect_ms;         /* as in struct recorded */
    struct buf body;
    struct buf cuts;            /* of struct taken_cut */
    enum recording_kind end;
    int64_t end_ms;
    const allm_error *refused, *error;
    bool broken;
};

/* The place of t may not change: its memory looks into it. */
void taken_init(struct taken *t, struct mem mem);
void taken_release(struct taken *t);

void taken_request(struct taken *t, const allm_http_view *view);
void taken_head(struct taken *t, const allm_http_head *head);
void taken_chunk(struct taken *t, struct slice bytes, int64_t at_ms);
/* error NULL: the transport did not say why. */
void taken_refused(struct taken *t, const allm_error *error);
void taken_end(struct taken *t, enum recording_kind kind, int64_t at_ms,
               const allm_error *error, allm_status status);

/* Append to a recording; false: broken, with out->over if it is too long. */
bool taken_text(struct taken *t, struct buf *out);

#endif
