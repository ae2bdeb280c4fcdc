/* output.c - write all bytes to a descriptor, also a non-blocking one */
#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

/* Wait until write() can continue, or will return an error. */
static bool wait_for_room(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLOUT };
    return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

int output_write(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        bool full = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (n < 0 && errno != EINTR && !(full && wait_for_room(fd)))
            return errno;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}
