/*
 * sha256_fast.c - SHA-256 by the instructions of the processor
 *
 * x86 processors since 2017 have them; whether this one does is found out at
 * run time, once.  They keep the eight words of the state in the order ABEF,
 * CDGH and do two rounds at a time.
 */
#include "base/sha256.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

#define FAST __attribute__((target("sha,sse4.1")))

/* Words 16 to 19 of the schedule from words 0 to 15. */
FAST static inline __m128i next_words(__m128i w0, __m128i w4, __m128i w8,
                                      __m128i w12)
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w4),
                                _mm_alignr_epi8(w12, w8, 4));
    return _mm_sha256msg2_epu32(sum, w12);
}

FAST static inline void add_four(__m128i *abef, __m128i *cdgh, __m128i words,
                                 const uint32_t *constants)
{
    __m128i x = _mm_add_epi32(words,
                              _mm_loadu_si128((const __m128i *)constants));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, x);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(x, 0x0e));
}

FAST static inline __m128i load_words(const unsigned char *at)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b,
                                         0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)at), order);
}

FAST static void add_block(__m128i *abef, __m128i *cdgh,
                           const unsigned char *block)
{
    __m128i w0 = load_words(block), w4 = load_words(block + 16);
    __m128i w8 = load_words(block + 32), w12 = load_words(block + 48);
    const uint32_t *k = sha256_constants;
    __m128i old_abef = *abef, old_cdgh = *cdgh;
    for (int i = 0; i < 64; i += 16, k += 16) {
        if (i) {
            w0 = next_words(w0, w4, w8, w12);
            w4 = next_words(w4, w8, w12, w0);
            w8 = next_words(w8, w12, w0, w4);
            w12 = next_words(w12, w0, w4, w8);
        }
        add_four(abef, cdgh, w0, k);
        add_four(abef, cdgh, w4, k + 4);
        add_four(abef, cdgh, w8, k + 8);
        add_four(abef, cdgh, w12, k + 12);
    }
    *abef = _mm_add_epi32(*abef, old_abef);
    *cdgh = _mm_add_epi32(*cdgh, old_cdgh);
}

FAST static void add_blocks(uint32_t state[8], const unsigned char *blocks,
                            size_t count)
{
    __m128i low = _mm_loadu_si128((const __m128i *)state);
    __m128i high = _mm_loadu_si128((const __m128i *)(state + 4));
    low = _mm_shuffle_epi32(low, 0xb1);
    high = _mm_shuffle_epi32(high, 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (size_t i = 0; i < count; i++)
        add_block(&abef, &cdgh, blocks + 64 * i);
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

/* SSSE3, SSE4.1 and SHA. */
static bool has_instructions(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) ||
        !(c & bit_SSE4_1))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

sha256_blocks *sha256_fast(void)
{
    static atomic_int known;    /* 0: not yet */
    int has = atomic_load_explicit(&known, memory_order_relaxed);
    if (!has) {
        has = has_instructions() ? 1 : -1;
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has > 0 ? add_blocks : NULL;
}
#else
sha256_blocks *sha256_fast(void)
{
    return NULL;
}
#endif
