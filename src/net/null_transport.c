/* null_transport.c - stands for a recorder or player without memory */
#include "net/null_transport.h"

#include "base/status.h"

static allm_exchange *nowhere_open(void *self, const allm_http_view *view,
                                   allm_waker *waker, const allm_error **error)
{
    (void)self;
    (void)view;
    (void)waker;
    *error = status_nomem();
    return NULL;
}

/* Of an exchange that nobody has. */
static allm_status nowhere_read(void *self, allm_exchange *x, allm_chunk *out)
{
    (void)self;
    (void)x;
    out->error = status_nomem();
    return ALLM_ERR_NOMEM;
}

static const allm_http_head *nowhere_head(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
    return NULL;
}

static void nowhere_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

const allm_transport null_transport = { .size = sizeof(allm_transport),
                                           .open = nowhere_open,
                                           .read = nowhere_read,
                                           .head = nowhere_head,
                                           .close = nowhere_close };
