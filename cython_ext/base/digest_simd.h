/* Eight running sums of 64-bit words, as in XXH3 (Collet 2019). For each word x and its key k, the two 32-bit halves of x ^ k are
 * multiplied and added to the word's sum; x itself is added to the neighbour's sum, so that a product of 0 does not hide the
 * word. A round is 16 stripes of 64 bytes; the sums are scrambled at its end. */
#ifndef VWLITE_DIGEST_SIMD_H
#define VWLITE_DIGEST_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(VWLITE_SCALAR)
#include <emmintrin.h>
#endif

#define VWL_SUMS 8
#define VWL_STRIPE 64
#define VWL_STRIPES 16 /* in a round; stripe s of a round uses the keys s to s + 7 */
#define VWL_SCRAMBLE 0x9E3779B1u

#if defined(__SSE2__) && !defined(VWLITE_SCALAR)
static inline void vwl_sum_stripe(uint64_t *sums, const uint8_t *p, const uint64_t *keys) {
    for (int i = 0; i < VWL_SUMS; i += 2) {
        __m128i sum = _mm_loadu_si128((const __m128i *)(sums + i)), x = _mm_loadu_si128((const __m128i *)(p + 8 * i));
        __m128i y = _mm_xor_si128(x, _mm_loadu_si128((const __m128i *)(keys + i)));
        __m128i product = _mm_mul_epu32(y, _mm_shuffle_epi32(y, 0x31));
        sum = _mm_add_epi64(sum, _mm_add_epi64(product, _mm_shuffle_epi32(x, 0x4E)));
        _mm_storeu_si128((__m128i *)(sums + i), sum);
    }
}
#else
static inline void vwl_sum_stripe(uint64_t *sums, const uint8_t *p, const uint64_t *keys) {
    uint64_t x[VWL_SUMS];
    memcpy(x, p, VWL_STRIPE);
    for (int i = 0; i < VWL_SUMS; i++) {
        uint64_t y = x[i] ^ keys[i];
        sums[i ^ 1] += x[i];
        sums[i] += (y & 0xFFFFFFFFu) * (y >> 32);
    }
}
#endif

/* Add `stripes` stripes to the sums. `done` is the number of stripes already added in the current round; returns that number
 * afterwards. */
static inline int vwl_sum_stripes(uint64_t *sums, const uint8_t *p, size_t stripes, int done, const uint64_t *keys) {
    uint64_t local[VWL_SUMS];
    memcpy(local, sums, sizeof local);
    while (stripes) {
        size_t end = (size_t)(VWL_STRIPES - done) < stripes ? (size_t)(VWL_STRIPES - done) : stripes;
        for (size_t s = 0; s < end; s++) vwl_sum_stripe(local, p + VWL_STRIPE * s, keys + done + s);
        p += VWL_STRIPE * end, stripes -= end, done += (int)end;
        if (done == VWL_STRIPES) {
            done = 0;
            for (int i = 0; i < VWL_SUMS; i++)
                local[i] = (local[i] ^ local[i] >> 47 ^ keys[VWL_STRIPES + i]) * VWL_SCRAMBLE;
        }
    }
    memcpy(sums, local, sizeof local);
    return done;
}

#endif
