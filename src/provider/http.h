/* http.h - an HTTP request while a dialect writes it */
#pragma once

#include "allm.h"
#include "base/rope.h"

struct emit;

struct allm_http {
    struct arena *arena;
    const char *method, *url;
    const char **header;            /* name, value, ... */
    size_t header_count, header_cap;    /* in pairs */
    struct buf body;                /* without the borrowed bytes */
    struct rope_loans loans;
    struct allm_sink *sink;         /* gets the error if encode() fails */
    bool broken;                    /* out of memory */
    bool odd;                       /* a string has control characters */
};

void http_init(struct allm_http *h, struct arena *a, struct allm_sink *sink);

/* Split the call's base_url into its address and its query ("?..."); if `query`
 * is NULL, it is not split.  Returns an error if there is no base_url, else
 * NULL. */
const allm_error *http_base(struct allm_http *h, const allm_call *call,
                            struct slice *base, struct slice *query);

/* Add a text to a URL; characters other than letters, digits and those in
 * `plain` are escaped. */
void http_escape(struct buf *url, const char *text, const char *plain);

/* Set the address.  A broken buffer breaks the request. */
void http_address(struct allm_http *h, const struct buf *url);

/* Add the headers of a request with a JSON body. */
void http_headers(struct allm_http *h, const char *accept);

/* Begin to write JSON to the body.  The body borrows the bytes that are passed
 * to emit_borrowed(). */
void http_emit(struct allm_http *h, struct emit *e);

/* The request as a transport reads it, with the body in one piece or in several
 * (then the view has only the length of the body).  False: there is no address,
 * or out of memory. */
bool http_view(const struct allm_http *h, allm_http_view *out);
bool http_pieces(const struct allm_http *h, allm_http_view *out,
                 struct rope *body);
