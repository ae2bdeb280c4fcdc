/*
 * ndjson.c - newline-delimited JSON: bytes in, lines out
 *
 * A line that is complete in the input is not copied.  When the input ends
 * with a line end, we own no memory.
 */
#include "wire/ndjson.h"

void ndjson_init(struct ndjson *n, struct mem mem, size_t line_limit)
{
    *n = (struct ndjson){ .ended = false };
    arena_init(&n->arena, mem);
    lines_init(&n->lines, &n->arena, LINES_LF, line_limit);
}

void ndjson_release(struct ndjson *n)
{
    arena_release(&n->arena);
    lines_forget(&n->lines);
}

/* Without the CR of a CRLF; NULL, 0 if it contains only white space. */
static struct slice trim_line(struct slice line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (c != ' ' && c != '\t' && c != '\r')
            return line;
    }
    return (struct slice){ NULL, 0 };
}

/* A fast path for a line that is complete in the input.  False: it is not, and
 * nothing has changed. */
static bool take_plain(struct ndjson *n, struct slice *in, struct slice *line)
{
    if (!lines_plain(&n->lines, *in) || !in->len || *in->ptr != '{')
        return false;
    const char *end = memchr(in->ptr, '\n', in->len);
    size_t len = end ? (size_t)(end - in->ptr) : 0;
    if (!len || len > n->lines.piece.limit)
        return false;
    *line = trim_line((struct slice){ in->ptr, len });
    *in = slice_skip(*in, len + 1);
    lines_passed(&n->lines, *in);
    return true;
}

static enum wire_result take_line(struct ndjson *n, struct slice *in,
                                  struct slice *line)
{
    enum wire_result result;
    if (take_plain(n, in, line))
        return WIRE_FRAME;
    while ((result = lines_next(&n->lines, in, line)) == WIRE_FRAME) {
        *line = trim_line(*line);
        if (line->len)
            return WIRE_FRAME;
    }
    if (result == WIRE_MORE)
        result = lines_keep(&n->lines, in);
    if (result == WIRE_MORE && lines_empty(&n->lines))
        ndjson_release(n);
    return result;
}

/* A lost stream stays lost. */
static enum wire_result next_line(struct ndjson *n, struct slice *in,
                                  struct slice *line)
{
    *line = (struct slice){ NULL, 0 };
    if (n->lost)
        return n->lost;
    enum wire_result result = take_line(n, in, line);
    if (result == WIRE_TOO_LONG || result == WIRE_NOMEM)
        n->lost = result;
    return result;
}

enum wire_result ndjson_next(struct ndjson *n, struct slice *in,
                             struct slice *line)
{
    if (!n->ended)
        return next_line(n, in, line);
    *line = (struct slice){ NULL, 0 };
    return n->lost ? n->lost : WIRE_END;
}

enum wire_result ndjson_end(struct ndjson *n, struct slice *line)
{
    struct slice in = n->ended ? SLICE("") : SLICE("\n");
    n->ended = true;
    enum wire_result result = next_line(n, &in, line);
    return result == WIRE_MORE ? WIRE_END : result;
}
