/* http.h - an HTTP request being written by a dialect */
#ifndef PROVIDER_HTTP_H
#define PROVIDER_HTTP_H

#include "allm.h"
#include "base/buf.h"

struct allm_http {
    struct arena *arena;
    const char *method, *url;
    const char **header;            /* name, value, ... */
    size_t header_count, header_cap;    /* in pairs */
    struct buf body;
    struct allm_sink *sink;         /* where encode() tells why it fails */
    bool broken;                    /* memory ran out */
    bool odd;                       /* a text would break out of its line */
};

void http_init(struct allm_http *h, struct arena *a, struct allm_sink *sink);

/* What a transport reads; false: something is missing or memory ran out. */
bool http_view(const struct allm_http *h, allm_http_view *out);

#endif
