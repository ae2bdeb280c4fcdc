/* transport.c - open an exchange through a transport or the HTTP client */
#include "net/transport.h"

bool transport_needs_http(const allm_transport *t)
{
    return !t || t->open_over;
}

struct rope transport_body(const allm_http_view *view)
{
    if (view->size == sizeof(struct transport_request))
        return ((const struct transport_request *)view)->body;
    return rope_of_slice((struct slice){ view->body, view->body_len });
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
