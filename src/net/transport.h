/* transport.h - open an exchange through a transport or the HTTP client */
#pragma once

#include "allm.h"
#include "base/rope.h"

/* Does an exchange of this transport need an HTTP client?  NULL is the client
 * itself. */
bool transport_needs_http(const allm_transport *t);

/*
 * A request for the library's own HTTP client, which can read a body in pieces:
 * its view has only the length of the body.  The client recognises such a
 * request by the size of the view, so no other transport may receive it.  The
 * list of loans lives as long as the bytes of the body.
 */
struct transport_request {
    allm_http_view view;
    struct rope body;
};

/* The body of such a request, or of any other one. */
struct rope transport_body(const allm_http_view *view);

/* Open an exchange; `http` may be NULL where none is needed. */
allm_exchange *transport_open(const allm_transport *t,
                              const allm_transport *http,
                              const allm_http_view *view, allm_waker *waker,
                              const allm_error **error);
