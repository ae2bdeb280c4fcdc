/* transport.c - open an exchange through a transport or the HTTP client */
#include "net/transport.h"

bool transport_needs_http(const allm_transport *t)
{
    return !t || t->open_over;
}

allm_exchange *transport_open(const allm_transport *t,
                              const allm_transport *http,
                              const allm_http_view *view, allm_waker *waker,
                              const allm_error **error)
{
    if (!t)
        t = http;
    return t->open_over ? t->open_over(t->self, http, view, waker, error)
                        : t->open(t->self, view, waker, error);
}
