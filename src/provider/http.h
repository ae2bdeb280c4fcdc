/* http.h - an HTTP request being written by a dialect */
#ifndef PROVIDER_HTTP_H
#define PROVIDER_HTTP_H

#include "allm.h"
#include "base/rope.h"

struct emit;

struct allm_http {
    struct arena *arena;
    const char *method, *url;
    const char **header;            /* name, value, ... */
    size_t header_count, header_cap;    /* in pairs */
    struct buf body;                /* without what it borrows */
    struct rope_loans loans;
    struct allm_sink *sink;         /* where encode() tells why it fails */
    bool broken;                    /* memory ran out */
    bool odd;                       /* a text would break out of its line */
};

void http_init(struct allm_http *h, struct arena *a, struct allm_sink *sink);

/* The call's base_url, and the query at its end, which is left in the base if
 * `query` is NULL.  NULL, or an error: there is no base_url. */
const allm_error *http_base(struct allm_http *h, const allm_call *call,
                            struct slice *base, struct slice *query);

/* The address; a broken buffer breaks the request. */
void http_address(struct allm_http *h, const struct buf *url);

/* The headers of a request with a JSON body. */
void http_headers(struct allm_http *h, const char *accept);

/* Write JSON to the body, which borrows what emit_borrowed() is passed. */
void http_emit(struct allm_http *h, struct emit *e);

/* What a transport reads, the body in one piece or in several (the view then
 * has only its length).  False: something is missing or memory ran out. */
bool http_view(const struct allm_http *h, allm_http_view *out);
bool http_pieces(const struct allm_http *h, allm_http_view *out,
                 struct rope *body);

#endif
