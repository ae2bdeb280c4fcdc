/* batch_shard.h - which part of a batch this process has: --shard */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_shard {
    uint32_t number, of; /* 1 of 1: all */
};

/* Read "I/N", or "auto": from the variables of Slurm, Kubernetes or GNU
 * parallel.  NULL: all.  False: an error was printed. */
bool batch_shard_read(struct batch_shard *s, const char *text);

/* The name of a file, in which "%s" becomes "I-of-N".  False: it is too long;
 * an error was printed. */
bool batch_shard_name(const struct batch_shard *s, const char *path, char *out,
                      size_t size);
