/* sha256.h - SHA-256 (FIPS 180-4) */
#pragma once

#include "base/slice.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t length;            /* in bytes, so far */
    unsigned char block[64];    /* not yet full */
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, struct slice bytes);
void sha256_done(struct sha256 *s, unsigned char out[SHA256_BYTES]);

/* Add blocks of 64 bytes to a state: on any processor; by the instructions of
 * this one, or NULL if it has none. */
typedef void sha256_blocks(uint32_t state[8], const unsigned char *blocks,
                           size_t count);
sha256_blocks sha256_portable;
sha256_blocks *sha256_fast(void);
extern const uint32_t sha256_constants[64];

/* The digest as lower-case hex digits and a NUL. */
void sha256_done_hex(struct sha256 *s, char out[SHA256_HEX + 1]);
void sha256_hex(struct slice bytes, char out[SHA256_HEX + 1]);
