/* Classification of 16 bytes at a time (SSE2 on x86-64, NEON on 64-bit ARM, words of 64 bits elsewhere), digits to integers,
 * prefetches and branch hints. A function that classifies bytes reads p[0..15] and returns a mask whose bit i says whether p[i] is
 * in the class. */
#ifndef VWLITE_BYTE_SCAN_H
#define VWLITE_BYTE_SCAN_H

#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
static inline int vwl_first_bit(uint32_t mask) { unsigned long i; _BitScanForward(&i, mask); return (int)i; }
static inline int vwl_first_bit64(uint64_t mask) { unsigned long i; _BitScanForward64(&i, mask); return (int)i; }
#define VWL_PREFETCH(address) ((void)0)
#define VWL_PREFETCH_L2(address) ((void)0)
#define VWL_LIKELY(x) (x)
#define VWL_UNLIKELY(x) (x)
#define VWL_NOINLINE __declspec(noinline)
#else
static inline int vwl_first_bit(uint32_t mask) { return __builtin_ctz(mask); }
static inline int vwl_first_bit64(uint64_t mask) { return __builtin_ctzll(mask); }
#define VWL_PREFETCH(address) __builtin_prefetch(address)
#define VWL_PREFETCH_L2(address) __builtin_prefetch(address, 0, 2)
#define VWL_LIKELY(x) __builtin_expect(!!(x), 1)
#define VWL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define VWL_NOINLINE __attribute__((noinline))
#endif

static inline void vwl_prefetch(const void *address) { VWL_PREFETCH(address); }
static inline void vwl_prefetch_l2(const void *address) { VWL_PREFETCH_L2(address); }
static inline int vwl_likely(int x) { return VWL_LIKELY(x); }
static inline int vwl_unlikely(int x) { return VWL_UNLIKELY(x); }

/* Eight bytes as a word whose lowest byte is the first. */
static inline uint64_t vwl_word(const char *p) {
    uint64_t x;
    memcpy(&x, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

#define VWL_EACH(c) (0x0101010101010101ull * (uint8_t)(c)) /* a byte eight times */

/* Comparisons of the bytes of a word, whose results are the highest bits of each byte: whether it is `limit` or more,
 * 1 <= limit <= 128, and whether it is another than c. No carry leaves a byte, as the highest bits are not added. */
static inline uint64_t vwl_at_least(uint64_t x, int limit) { return ((x & VWL_EACH(127)) + VWL_EACH(128 - limit)) | x; }
static inline uint64_t vwl_differs(uint64_t x, char c) { return vwl_at_least(x ^ VWL_EACH(c), 1); }

/* The highest bits of the bytes of two words. */
static inline uint32_t vwl_high_bits(uint64_t low, uint64_t high) {
    low = (low >> 7 & VWL_EACH(1)) * 0x0102040810204080ull >> 56;
    high = (high >> 7 & VWL_EACH(1)) * 0x0102040810204080ull >> 56;
    return (uint32_t)(low | high << 8);
}

static inline uint32_t vwl_delimiters_scalar(const char *p) {
    uint64_t other[2];
    for (int k = 0; k < 2; k++) {
        const uint64_t x = vwl_word(p + 8 * k);
        other[k] = vwl_differs(x, ' ') & vwl_differs(x, ':') & vwl_differs(x, '|') & vwl_differs(x, '\n') & vwl_differs(x, '\t') &
                   vwl_differs(x, '\r');
    }
    return vwl_high_bits(~other[0], ~other[1]);
}

/* Bytes that end a name: blanks and control characters, colon, bar. */
static inline uint32_t vwl_breaks_scalar(const char *p) {
    uint64_t other[2];
    for (int k = 0; k < 2; k++) {
        const uint64_t x = vwl_word(p + 8 * k);
        other[k] = vwl_at_least(x, ' ' + 1) & vwl_differs(x, ':') & vwl_differs(x, '|');
    }
    return vwl_high_bits(~other[0], ~other[1]);
}

static inline uint32_t vwl_nondigits_scalar(const char *p) {
    return vwl_high_bits(vwl_at_least(vwl_word(p) ^ VWL_EACH('0'), 10), vwl_at_least(vwl_word(p + 8) ^ VWL_EACH('0'), 10));
}

static inline uint32_t vwl_either_scalar(const char *p, char a, char b) {
    const uint64_t x = vwl_word(p), y = vwl_word(p + 8);
    return vwl_high_bits(~(vwl_differs(x, a) & vwl_differs(x, b)), ~(vwl_differs(y, a) & vwl_differs(y, b)));
}

/* The integer that the n digits at p spell, 1 <= n <= 8. Reads 8 bytes. */
static inline uint64_t vwl_digits(const char *p, int n) {
    uint64_t x = (vwl_word(p) << (64 - 8 * n)) & VWL_EACH(15); /* combine digits into pairs, pairs into fours, fours into eight */
    x = x * 2561 >> 8;
    x = (x & 0x00ff00ff00ff00ffull) * 6553601 >> 16;
    return (x & 0x0000ffff0000ffffull) * 42949672960001ull >> 32;
}

static const uint32_t vwl_integer_powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

#if !defined(VWLITE_SCALAR) && defined(__SSE2__)
#include <emmintrin.h>

static inline uint32_t vwl_delimiters(const char *p) {
    const __m128i x = _mm_loadu_si128((const __m128i *)p);
#define VWL_IS(c) _mm_cmpeq_epi8(x, _mm_set1_epi8(c))
    const __m128i hit = _mm_or_si128(_mm_or_si128(_mm_or_si128(VWL_IS(' '), VWL_IS(':')), VWL_IS('|')),
                                     _mm_or_si128(_mm_or_si128(VWL_IS('\n'), VWL_IS('\t')), VWL_IS('\r')));
#undef VWL_IS
    return (uint32_t)_mm_movemask_epi8(hit);
}

static inline uint32_t vwl_breaks(const char *p) {
    const __m128i x = _mm_loadu_si128((const __m128i *)p);
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x);
    const __m128i other = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(':')), _mm_cmpeq_epi8(x, _mm_set1_epi8('|')));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, other));
}

static inline uint32_t vwl_nondigits(const char *p) {
    const __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
    const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(9)), x);
    return (uint32_t)_mm_movemask_epi8(digit) ^ 0xffffu;
}

static inline uint32_t vwl_either(const char *p, char a, char b) {
    const __m128i x = _mm_loadu_si128((const __m128i *)p);
    const __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(a)), _mm_cmpeq_epi8(x, _mm_set1_epi8(b)));
    return (uint32_t)_mm_movemask_epi8(hit);
}

#elif !defined(VWLITE_SCALAR) && defined(__aarch64__)
#include <arm_neon.h>

static inline uint32_t vwl_bits(uint8x16_t hit) {
    static const uint8_t weight[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vandq_u8(hit, vld1q_u8(weight));
    return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

static inline uint32_t vwl_delimiters(const char *p) {
    const uint8x16_t x = vld1q_u8((const uint8_t *)p);
#define VWL_IS(c) vceqq_u8(x, vdupq_n_u8(c))
    const uint8x16_t hit = vorrq_u8(vorrq_u8(vorrq_u8(VWL_IS(' '), VWL_IS(':')), VWL_IS('|')),
                                    vorrq_u8(vorrq_u8(VWL_IS('\n'), VWL_IS('\t')), VWL_IS('\r')));
#undef VWL_IS
    return vwl_bits(hit);
}

static inline uint32_t vwl_breaks(const char *p) {
    const uint8x16_t x = vld1q_u8((const uint8_t *)p);
    const uint8x16_t other = vorrq_u8(vceqq_u8(x, vdupq_n_u8(':')), vceqq_u8(x, vdupq_n_u8('|')));
    return vwl_bits(vorrq_u8(vcleq_u8(x, vdupq_n_u8(' ')), other));
}

static inline uint32_t vwl_nondigits(const char *p) {
    return vwl_bits(vcgtq_u8(vsubq_u8(vld1q_u8((const uint8_t *)p), vdupq_n_u8('0')), vdupq_n_u8(9)));
}

static inline uint32_t vwl_either(const char *p, char a, char b) {
    const uint8x16_t x = vld1q_u8((const uint8_t *)p);
    return vwl_bits(vorrq_u8(vceqq_u8(x, vdupq_n_u8((uint8_t)a)), vceqq_u8(x, vdupq_n_u8((uint8_t)b))));
}

#else
static inline uint32_t vwl_delimiters(const char *p) { return vwl_delimiters_scalar(p); }
static inline uint32_t vwl_breaks(const char *p) { return vwl_breaks_scalar(p); }
static inline uint32_t vwl_nondigits(const char *p) { return vwl_nondigits_scalar(p); }
static inline uint32_t vwl_either(const char *p, char a, char b) { return vwl_either_scalar(p, a, b); }
#endif

#endif
