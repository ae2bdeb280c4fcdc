/*
 * file_transport.c - a transport that answers with the bytes of a file
 *
 * The answer to every request has status 200 and the file as its body, which
 * is read piece by piece.  There is one exchange at a time; the struct itself
 * is its handle.
 */
#include "cli/file_transport.h"

#include "cli/input.h"

#include <string.h>

static allm_exchange *open_file_exchange(void *self, const allm_http_view *view,
                                         allm_waker *waker,
                                         const allm_error **error)
{
    (void)view;
    (void)waker;
    (void)error;
    return self;
}

/* The length of a byte order mark: some editors write one, servers do not. */
static size_t bom_length(const struct file_transport *t, long n)
{
    return !t->begun && n >= 3 && !memcmp(t->piece, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static allm_status read_piece(void *self, allm_exchange *e, allm_chunk *chunk)
{
    static const allm_error broken = {
        .size = sizeof broken,
        .kind = ALLM_ERR_ADAPTER,
        .reason = "network_error",
        .message = "cannot read the input to its end",
    };
    struct file_transport *t = self;
    (void)e;
    long n = input_read(t->fd, t->path, t->piece, sizeof t->piece);
    if (n < 0) {
        t->failed = true;
        chunk->error = &broken;
        return ALLM_ERR_ADAPTER;
    }
    size_t skip = bom_length(t, n);
    t->begun = true;
    chunk->bytes = t->piece + skip;
    chunk->len = (size_t)n - skip;
    return n ? ALLM_EVENT : ALLM_OK;
}

static const allm_http_head *get_head(void *self, allm_exchange *e)
{
    static const allm_http_head ok = { .size = sizeof ok, .status = 200 };
    (void)self;
    (void)e;
    return &ok;
}

static void close_file_exchange(void *self, allm_exchange *e)
{
    (void)self;
    (void)e;
}

bool file_transport_open(struct file_transport *t, const char *path)
{
    t->path = path;
    t->begun = t->failed = false;
    t->fd = input_open(path);
    t->transport = (allm_transport){
        .size = sizeof t->transport,
        .self = t,
        .open = open_file_exchange,
        .read = read_piece,
        .head = get_head,
        .close = close_file_exchange,
    };
    return t->fd >= 0;
}

void file_transport_close(struct file_transport *t)
{
    input_close(t->fd);
}
