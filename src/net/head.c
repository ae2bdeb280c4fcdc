/* head.c - the head of a response, line by line */
#include "net/head.h"

#include <string.h>

/* "HTTP/1.1 200 OK": 200; 0 if there is no status. */
static int32_t parse_status(struct slice line)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    int32_t status = 0;
    if (!space || (size_t)(line.ptr + line.len - space) < 4)
        return 0;
    for (int i = 1; i <= 3; i++) {
        if (space[i] < '0' || space[i] > '9')
            return 0;
        status = status * 10 + (space[i] - '0');
    }
    return status;
}

static bool reserve_header(struct head *h, struct arena *a)
{
    size_t count = h->view.header_count;
    if (count < h->cap)
        return true;
    size_t cap = count ? count * 2 : 16;
    const char **more = arena_resize(a, h->header, count * 2 * sizeof *more,
                                     cap * 2 * sizeof *more);
    if (!more)
        return false;
    h->view.header = h->header = more;
    h->cap = cap;
    return true;
}

/* False: no memory. */
static bool add_header(struct head *h, struct arena *a, struct slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || colon == line.ptr || slice_space(*line.ptr))
        return true;
    struct slice name = { line.ptr, (size_t)(colon - line.ptr) };
    struct slice value = slice_strip(slice_skip(line, name.len + 1));
    char *mine[2] = { NULL, NULL };
    if (!reserve_header(h, a))
        return false;
    mine[0] = arena_copy(a, slice_strip(name));
    mine[1] = arena_copy(a, value);
    if (!mine[0] || !mine[1])
        return false;
    h->header[2 * h->view.header_count] = mine[0];
    h->header[2 * h->view.header_count + 1] = mine[1];
    h->view.header_count++;
    return true;
}

bool head_add(struct head *h, struct arena *a, struct slice line)
{
    h->bytes += line.len;
    if (h->done)
        return true;
    h->over = h->bytes > HEAD_LIMIT;
    if (h->over)
        return false;
    if (slice_starts(line, SLICE("HTTP/"))) {
        h->view.status = parse_status(line);
        h->view.header_count = 0;
        h->http1 = slice_starts(line, SLICE("HTTP/1"));
        return true;
    }
    if (slice_strip(line).len)
        return add_header(h, a, line);
    h->done = h->view.status >= 200;
    return true;
}
