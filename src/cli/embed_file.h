/*
 * embed_file.h - vectors in a file of their own: --format f32 and "npy"
 *
 *      OUT         the vectors, little-endian, in "npy" after a header
 *      OUT.jsonl   the rows: the n-th one that is ok has the n-th vector
 *      OUT.json    the dims, the model and the ids, in the order of the vectors
 *
 * A vector is written before its row, so what a crash leaves behind in OUT has
 * no row, and is overwritten.  OUT.json is written when a run ends.
 */
#pragma once

#include "allm.h"

struct embed_file {
    int fd;
    const char *path; /* of OUT */
    const char *rows; /* of OUT.jsonl */
    bool npy;
    size_t dims;    /* 0: not known yet */
    uint64_t count; /* of vectors that have a row */
};

/* Open OUT, which has `count` vectors.  The paths must stay valid.  False: an
 * error was printed. */
bool embed_file_open(struct embed_file *f, uint64_t count);
/* Write the next vector, of so many bytes.  False: an error was printed. */
bool embed_file_add(struct embed_file *f, const char *bytes, size_t len);
/* Complete OUT, and write OUT.json.  False: an error was printed. */
bool embed_file_close(struct embed_file *f);
