/*
 * sha256.c - SHA-256 (FIPS 180-4)
 *
 * Written here because libcrypto is only an indirect dependency, through
 * libcurl, which may be built with another TLS library.  Processors that have
 * instructions for it use them (sha256_fast.c).
 */
#include "base/sha256.h"

#include "allm_base.h"

const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return (x >> n) | (x << (32 - n));
}

static uint32_t load_word(const unsigned char *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) |
           ((uint32_t)p[2] << 8) | p[3];
}

/* The message schedule of one block. */
static void expand_block(const unsigned char *block, uint32_t w[64])
{
    for (size_t i = 0; i < 16; i++)
        w[i] = load_word(block + 4 * i);
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3);
        uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

/* One round; v[at] plays the part of "a", the others follow it. */
static inline void add_round(uint32_t v[8], size_t at, uint32_t word)
{
    uint32_t a = v[at % 8], e = v[(at + 4) % 8];
    uint32_t b = v[(at + 1) % 8], c = v[(at + 2) % 8];
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t choice = (e & v[(at + 5) % 8]) ^ (~e & v[(at + 6) % 8]);
    uint32_t t1 = v[(at + 7) % 8] + s1 + choice + word;
    uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    v[(at + 3) % 8] += t1;
    v[(at + 7) % 8] = t1 + s0 + majority;
}

static void add_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], v[8];
    expand_block(block, w);
    for (size_t i = 0; i < 64; i++)
        w[i] += sha256_constants[i];
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < 64; i += 8) {    /* constant places: in registers */
        add_round(v, 8, w[i]);
        add_round(v, 7, w[i + 1]);
        add_round(v, 6, w[i + 2]);
        add_round(v, 5, w[i + 3]);
        add_round(v, 4, w[i + 4]);
        add_round(v, 3, w[i + 5]);
        add_round(v, 2, w[i + 6]);
        add_round(v, 1, w[i + 7]);
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_portable(uint32_t state[8], const unsigned char *blocks,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_block(state, blocks + 64 * i);
}

static void add_blocks(struct sha256 *s, const void *blocks, size_t count)
{
    sha256_blocks *fast = sha256_fast();
    if (fast)
        fast(s->state, blocks, count);
    else
        sha256_portable(s->state, blocks, count);
}

void sha256_init(struct sha256 *s)
{
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    memcpy(s->state, start, sizeof start);
    s->length = 0;
}

void sha256_add(struct sha256 *s, struct slice bytes)
{
    size_t filled = (size_t)(s->length % sizeof s->block);
    s->length += bytes.len;
    while (bytes.len) {
        size_t whole = filled ? 0 : bytes.len / sizeof s->block;
        size_t n = sizeof s->block - filled;
        if (n > bytes.len)
            n = bytes.len;
        if (whole) {                    /* they need no copy */
            n = whole * sizeof s->block;
            add_blocks(s, bytes.ptr, whole);
        } else {
            memcpy(s->block + filled, bytes.ptr, n);
            if (filled + n == sizeof s->block)
                add_blocks(s, s->block, 1);
        }
        filled = (filled + n) % sizeof s->block;
        bytes = slice_skip(bytes, n);
    }
}

/* Add the padding and the length. */
static void add_end(struct sha256 *s)
{
    uint64_t bits = s->length * 8;
    size_t used = (size_t)(s->length % 64);
    s->block[used++] = 0x80;
    if (used > 56) {
        memset(s->block + used, 0, 64 - used);
        add_blocks(s, s->block, 1);
        used = 0;
    }
    memset(s->block + used, 0, 56 - used);
    for (int i = 0; i < 8; i++)
        s->block[56 + i] = (unsigned char)(bits >> (56 - 8 * i));
    add_blocks(s, s->block, 1);
}

void sha256_done(struct sha256 *s, unsigned char out[SHA256_BYTES])
{
    add_end(s);
    for (int i = 0; i < SHA256_BYTES; i++)
        out[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* A word as eight digits, all at once: one digit in each byte. */
static void put_digits(char out[8], uint32_t word)
{
    uint64_t x = word;
    x = ((x & 0xffff0000u) << 16) | (x & 0xffff);
    x = ((x & 0x0000ff000000ff00u) << 8) | (x & 0x000000ff000000ffu);
    x = ((x & 0x00f000f000f000f0u) << 4) | (x & 0x000f000f000f000fu);
    uint64_t letters = ((x + 0x0606060606060606u) >> 4) & 0x0101010101010101u;
    x += 0x3030303030303030u + letters * ('a' - '0' - 10);
    out[0] = (char)(x >> 56);       /* not a loop: compilers make it a store */
    out[1] = (char)(x >> 48);
    out[2] = (char)(x >> 40);
    out[3] = (char)(x >> 32);
    out[4] = (char)(x >> 24);
    out[5] = (char)(x >> 16);
    out[6] = (char)(x >> 8);
    out[7] = (char)x;
}

void sha256_done_hex(struct sha256 *s, char out[SHA256_HEX + 1])
{
    add_end(s);
    for (size_t i = 0; i < 8; i++)
        put_digits(out + 8 * i, s->state[i]);
    out[SHA256_HEX] = '\0';
}

void sha256_hex(struct slice bytes, char out[SHA256_HEX + 1])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, bytes);
    sha256_done_hex(&s, out);
}

void allm_sha256(const void *bytes, size_t len, char hex[SHA256_HEX + 1])
{
    sha256_hex((struct slice){ bytes, bytes ? len : 0 }, hex);
}
