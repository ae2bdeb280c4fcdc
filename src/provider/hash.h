/* hash.h - FNV-1a hashes, for the keys of tables and for ids */
#pragma once

#include "base/slice.h"

#include <stdint.h>

#define HASH_START 0xCBF29CE484222325u

/* The hash of all bytes so far, followed by these bytes. */
static inline uint64_t hash_add(uint64_t h, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        h = (h ^ (unsigned char)bytes.ptr[i]) * 0x100000001B3u;
    return h;
}
