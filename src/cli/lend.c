/*
 * lend.c - a transport that lends the bytes of a file as an answer's body
 *
 * Whatever is asked, the answer has status 200 and the file as its body, read
 * piece by piece as it is asked for.  There is one exchange at a time, and it
 * is the struct itself.
 */
#include "cli/lend.h"

#include "cli/input.h"

#include <string.h>

static allm_exchange *begin(void *self, const allm_http_view *view,
                            allm_waker *waker, const allm_error **error)
{
    (void)view;
    (void)waker;
    (void)error;
    return self;
}

/* Files of some editors begin with a mark that no server sends. */
static size_t mark(const struct lend *l, long n)
{
    return !l->begun && n >= 3 && !memcmp(l->piece, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static allm_status read_piece(void *self, allm_exchange *e, allm_chunk *chunk)
{
    static const allm_error broken = {
        .size = sizeof broken,
        .kind = ALLM_ERR_ADAPTER,
        .reason = "network_error",
        .message = "the input could not be read to its end",
    };
    struct lend *l = self;
    (void)e;
    long n = input_read(l->fd, l->path, l->piece, sizeof l->piece);
    if (n < 0) {
        l->failed = true;
        chunk->error = &broken;
        return ALLM_ERR_ADAPTER;
    }
    size_t skip = mark(l, n);
    l->begun = true;
    chunk->bytes = l->piece + skip;
    chunk->len = (size_t)n - skip;
    return n ? ALLM_EVENT : ALLM_OK;
}

static const allm_http_head *head(void *self, allm_exchange *e)
{
    static const allm_http_head ok = { .size = sizeof ok, .status = 200 };
    (void)self;
    (void)e;
    return &ok;
}

static void end(void *self, allm_exchange *e)
{
    (void)self;
    (void)e;
}

bool lend_open(struct lend *l, const char *path)
{
    l->path = path;
    l->begun = l->failed = false;
    l->fd = input_open(path);
    l->transport = (allm_transport){
        .size = sizeof l->transport,
        .self = l,
        .open = begin,
        .read = read_piece,
        .head = head,
        .close = end,
    };
    return l->fd >= 0;
}

void lend_close(struct lend *l)
{
    input_close(l->fd);
}
