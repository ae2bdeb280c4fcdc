/* output.h - what a process writes, up to a limit: its beginning and its end */
#pragma once

#include "base/buf.h"
#include "base/sha256.h"

enum { OUTPUT_HEAD = 768 * 1024, OUTPUT_TAIL = 256 * 1024 };

/*
 * The first `head_max` bytes are kept and, of the rest, the last `tail_max`.
 * Memory that runs out makes it broken; bytes are then only counted.
 */
struct output {
    struct arena arena;
    struct buf head;
    char *tail;                 /* a ring; NULL: not needed yet */
    size_t tail_max, tail_at;   /* where the next byte goes */
    uint64_t total;             /* bytes so far */
    struct sha256 sum;          /* of all bytes, once the head is full */
    bool broken;
};

void output_init(struct output *o, struct mem mem, size_t head_max,
                 size_t tail_max);
void output_release(struct output *o);
void output_add(struct output *o, struct slice bytes);

/* Were bytes left out between head and tail? */
bool output_is_cut(const struct output *o);

/* All that was kept, in memory of the output, followed by a NUL.  If bytes were
 * left out between head and tail, a line says how many, and no character of
 * UTF-8 is cut in two.  ptr is NULL: out of memory. */
struct slice output_text(struct output *o);

/* The SHA-256 of all bytes, in hex. */
void output_sum(const struct output *o, char out[SHA256_HEX + 1]);
