/*
 * batch_lines.h - the lines of a batch: a file or a pipe, all or one shard
 *
 * A file is split by bytes, and a line belongs to the shard in which it begins,
 * so each shard reads only its part.  A pipe is split by line numbers.
 */
#pragma once

#include "allm.h"
#include "term/bytes.h"

enum { BATCH_LINE_LIMIT = 64 * 1024 * 1024 }; /* bytes */

enum batch_found {
    BATCH_LINE,  /* *line is set; it is borrowed until the next call */
    BATCH_LATER, /* a pipe has no more at the moment: wait for fd */
    BATCH_END,
    BATCH_FAILED /* an error was printed */
};

struct batch_line {
    const char *ptr;
    size_t len; /* without the line feed */
    uint64_t offset;
    bool too_long;
};

struct batch_lines {
    int fd;
    const char *path;   /* NULL: standard input */
    bool regular;       /* a file that is split by bytes */
    uint32_t shard, of; /* 1 of 1: all */
    uint64_t begin, end; /* lines that begin at `end` or later are not ours */
    uint64_t offset;    /* of the next line */
    uint64_t number;    /* of the next line, in a pipe */
    uint64_t size;      /* of the file; 0: unknown */
    char feed;          /* what ends a line */
    bool skipping;      /* the rest of a line that is not ours, or too long */
    bool ended, nonblocking;
    struct bytes bytes; /* read and not used yet, from `at` on */
    size_t at, scanned;
};

/* This byte is in no UTF-8 text. */
#define BATCH_LINES_NO_FEED '\xff'

/* False: it cannot be read; an error was printed. */
bool batch_lines_open(struct batch_lines *l, const char *path, uint32_t shard,
                      uint32_t of);
/* The whole input is one line. */
bool batch_lines_open_whole(struct batch_lines *l, const char *path,
                            uint32_t shard, uint32_t of);
/* Each word is a line; it must be UTF-8 text. */
void batch_lines_open_words(struct batch_lines *l, int argc, char **argv,
                            uint32_t shard, uint32_t of);
/* The bytes of this shard; 0: unknown. */
uint64_t batch_lines_size(const struct batch_lines *l);
enum batch_found batch_lines_next(struct batch_lines *l,
                                  struct batch_line *line);
void batch_lines_close(struct batch_lines *l);
