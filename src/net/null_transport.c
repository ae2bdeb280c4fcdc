/* null_transport.c - replaces a recorder or player that could not be created */
#include "net/null_transport.h"

#include "base/status.h"

static allm_exchange *null_open(void *self, const allm_http_view *view,
                                allm_waker *waker, const allm_error **error)
{
    (void)self;
    (void)view;
    (void)waker;
    *error = status_nomem();
    return NULL;
}

/* Never called, since no exchange exists. */
static allm_status null_read(void *self, allm_exchange *x, allm_chunk *out)
{
    (void)self;
    (void)x;
    out->error = status_nomem();
    return ALLM_ERR_NOMEM;
}

static const allm_http_head *null_head(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
    return NULL;
}

static void null_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

const allm_transport null_transport = { .size = sizeof(allm_transport),
                                           .open = null_open,
                                           .read = null_read,
                                           .head = null_head,
                                           .close = null_close };
