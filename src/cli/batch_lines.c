/* batch_lines.c - the lines of a batch: a file or a pipe, all or one shard */
#include "cli/batch_lines.h"

#include "cli/input.h"
#include "cli/print.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 65536 };

/* The first byte of shard i of n. */
static uint64_t shard_begin(uint64_t size, uint32_t i, uint32_t n)
{
    return size / n * i + size % n * i / n;
}

/* Go to the part of a file that is ours; the line that begins before it is
 * skipped. */
static bool seek_shard(struct batch_lines *l, uint64_t size)
{
    uint64_t from = shard_begin(size, l->shard - 1, l->of);
    l->end = l->shard == l->of ? UINT64_MAX
                               : shard_begin(size, l->shard, l->of);
    l->begin = from;
    l->size = size;
    if (!from)
        return true;
    l->skipping = true; /* from the byte before: it may be a line feed */
    l->offset = from - 1;
    if (lseek(l->fd, (off_t)l->offset, SEEK_SET) >= 0)
        return true;
    return print_fault("cannot read %s: %s", l->path, strerror(errno));
}

bool batch_lines_open(struct batch_lines *l, const char *path, uint32_t shard,
                      uint32_t of)
{
    struct stat about;
    bool is_stdin = !path || !strcmp(path, "-");
    *l = (struct batch_lines){ .path = is_stdin ? NULL : path, .shard = shard,
                               .of = of, .end = UINT64_MAX, .feed = '\n' };
    l->fd = input_open(path);
    if (l->fd < 0)
        return false;
    l->regular = !is_stdin && !fstat(l->fd, &about) && S_ISREG(about.st_mode);
    return !l->regular || seek_shard(l, (uint64_t)about.st_size);
}

bool batch_lines_open_whole(struct batch_lines *l, const char *path,
                            uint32_t shard, uint32_t of)
{
    *l = (struct batch_lines){ .shard = shard, .of = of, .end = UINT64_MAX,
                               .feed = BATCH_LINES_NO_FEED };
    l->path = path && strcmp(path, "-") != 0 ? path : NULL;
    l->fd = input_open(path);
    return l->fd >= 0;
}

void batch_lines_open_words(struct batch_lines *l, int argc, char **argv,
                            uint32_t shard, uint32_t of)
{
    *l = (struct batch_lines){ .fd = -1, .shard = shard, .of = of,
                               .end = UINT64_MAX, .ended = true,
                               .feed = BATCH_LINES_NO_FEED };
    for (int i = 0; i < argc; i++) {
        bytes_text(&l->bytes, argv[i]);
        bytes_byte(&l->bytes, l->feed);
    }
}

uint64_t batch_lines_size(const struct batch_lines *l)
{
    uint64_t end = l->end < l->size ? l->end : l->size;
    return end - l->begin;
}

void batch_lines_close(struct batch_lines *l)
{
    input_close(l->fd);
    bytes_release(&l->bytes);
}

static bool has_bytes(const struct batch_lines *l)
{
    struct pollfd wait = { .fd = l->fd, .events = POLLIN };
    return l->regular || poll(&wait, 1, 0) != 0;
}

/* Read the next piece. */
static enum batch_found read_piece(struct batch_lines *l)
{
    char piece[PIECE];
    if (l->ended)
        return BATCH_END;
    if (!has_bytes(l))
        return BATCH_LATER;
    long n = input_read(l->fd, l->path, piece, sizeof piece);
    if (n < 0)
        return BATCH_FAILED;
    l->ended = n == 0;
    if (l->at) {
        bytes_skip(&l->bytes, l->at);
        l->scanned -= l->at;
        l->at = 0;
    }
    bytes_add(&l->bytes, piece, (size_t)n);
    return BATCH_LINE;
}

/* Drop the bytes of a line that is longer than the limit. */
static void drop_long(struct batch_lines *l, size_t len)
{
    l->skipping = true;
    l->at += len;
    l->offset += len;
    l->scanned = l->at;
}

/* Is the line that begins at the current offset one of this shard? */
static bool is_ours(const struct batch_lines *l)
{
    return l->regular || l->number % l->of == l->shard - 1;
}

/* Is it empty?  A line of white space is, too. */
static bool is_blank(const struct batch_lines *l, const struct batch_line *line)
{
    size_t n = 0;
    while (l->feed == '\n' && n < line->len && memchr(" \t\r", line->ptr[n], 3))
        n++;
    return n == line->len;
}

/* Take the line of `len` bytes; true: it is to be returned. */
static bool take_line(struct batch_lines *l, struct batch_line *line,
                      size_t len, bool has_feed)
{
    const char *ptr = bytes_string(&l->bytes) + l->at;
    bool skip = l->skipping || !is_ours(l);
    *line = (struct batch_line){ ptr, len, l->offset, false };
    l->skipping = false;
    l->at += len + has_feed;
    l->scanned = l->at;
    l->offset += len + has_feed;
    l->number++;
    if (len && ptr[len - 1] == '\r')
        line->len--;
    if (!line->offset && line->len >= 3 && !memcmp(ptr, "\xef\xbb\xbf", 3)) {
        line->ptr += 3; /* a byte order mark */
        line->len -= 3;
    }
    return !skip && !is_blank(l, line);
}

enum batch_found batch_lines_next(struct batch_lines *l,
                                  struct batch_line *line)
{
    for (;;) {
        const char *all = bytes_string(&l->bytes);
        size_t left = l->bytes.len - l->scanned;
        const char *feed = left ? memchr(all + l->scanned, l->feed, left)
                                : NULL;
        size_t len = (feed ? (size_t)(feed - all) : l->bytes.len) - l->at;
        if (!l->skipping && l->offset >= l->end)
            return BATCH_END;
        if (!l->skipping && len > BATCH_LINE_LIMIT) {
            *line = (struct batch_line){ NULL, 0, l->offset, true };
            bool ours = is_ours(l);
            drop_long(l, len);
            if (ours)
                return BATCH_LINE;
            continue;
        }
        if (feed || (l->ended && len)) {
            if (take_line(l, line, len, feed != NULL))
                return BATCH_LINE;
            continue;
        }
        l->scanned = l->bytes.len;
        if (l->skipping)
            drop_long(l, len);
        enum batch_found found = read_piece(l);
        if (found != BATCH_LINE)
            return found;
    }
}
