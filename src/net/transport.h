/* transport.h - open an exchange through a transport or the HTTP client */
#ifndef NET_TRANSPORT_H
#define NET_TRANSPORT_H

#include "allm.h"

/* Does an exchange of this transport need an HTTP client?  NULL is the client
 * itself. */
bool transport_needs_http(const allm_transport *t);

/* Open an exchange; `http` may be NULL where none is needed. */
allm_exchange *transport_open(const allm_transport *t,
                              const allm_transport *http,
                              const allm_http_view *view, allm_waker *waker,
                              const allm_error **error);

#endif
