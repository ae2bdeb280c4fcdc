/*
 * sha256.c - SHA-256 (FIPS 180-4)
 *
 * Written here because libcrypto is only an indirect dependency, through
 * libcurl, which may be built with another TLS library.
 */
#include "base/sha256.h"

#include "allm_base.h"

static const uint32_t round_constants[64] = {
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

static void add_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], v[8];
    expand_block(block, w);
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choice + round_constants[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += v[i];
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
        size_t n = sizeof s->block - filled;
        if (n > bytes.len)
            n = bytes.len;
        if (n == sizeof s->block) {     /* a whole block needs no copy */
            add_block(s->state, (const unsigned char *)bytes.ptr);
        } else {
            memcpy(s->block + filled, bytes.ptr, n);
            if (filled + n == sizeof s->block)
                add_block(s->state, s->block);
        }
        filled = (filled + n) % sizeof s->block;
        bytes = slice_skip(bytes, n);
    }
}

void sha256_done(struct sha256 *s, unsigned char out[SHA256_BYTES])
{
    static const char padding[64] = { (char)0x80 };
    uint64_t bits = s->length * 8;
    size_t used = (size_t)(s->length % 64);
    size_t fill = (used < 56 ? 56 : 120) - used;
    char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (char)(bits >> (56 - 8 * i));
    sha256_add(s, (struct slice){ padding, fill });
    sha256_add(s, (struct slice){ length, sizeof length });
    for (int i = 0; i < SHA256_BYTES; i++)
        out[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_done_hex(struct sha256 *s, char out[SHA256_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[SHA256_BYTES];
    sha256_done(s, bytes);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
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
