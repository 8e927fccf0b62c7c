/* Parser of runs of features like `160:0.3882`, whose name is a number and whose value is a short decimal. The ends of names
 * and values are found for a window of 64 bytes at a time, so that the parts of several features are parsed in parallel.
 * Results equal those of read_simple_block in text/vw_parser.pyx, which parses one feature after the other. */
#ifndef VWLITE_DECIMALS_H
#define VWLITE_DECIMALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_scan.h"

enum { VWL_FEATURES_IN_WINDOW = 4 }; /* features parsed per window; a fixed number, so that the loop's branches are predicted */

static inline uint64_t vwl_window_of_nondigits(const char *p) {
    return (uint64_t)vwl_nondigits(p) | (uint64_t)vwl_nondigits(p + 16) << 16 | (uint64_t)vwl_nondigits(p + 32) << 32 |
           (uint64_t)vwl_nondigits(p + 48) << 48;
}

/* Parse features from the name at p on as long as the name has at most eight digits and the value one digit, a point and one to
 * seven digits. Hashes and values are appended at *count while they fit into `capacity`; values of 0 are dropped. Returns the
 * end of the last feature parsed, or NULL if there is none; the caller parses what follows. Not inlined, so that the caller's
 * loop over other features keeps its registers. */
static VWL_NOINLINE const char *vwl_read_decimals_scalar(const char *p, const char *end, uint32_t seed, const float *powers,
                                                         uint32_t *hash, float *value, size_t capacity, size_t *count) {
    const char *last = NULL;
    size_t n = *count, at = 1;
    while (at && n + VWL_FEATURES_IN_WINDOW <= capacity) {
        uint64_t ends = vwl_window_of_nondigits(p); /* bit i: p[i] is no digit; from the end of a name on */
        at = 0;
        for (int k = 0; k < VWL_FEATURES_IN_WINDOW; k++) {
            uint64_t points = ends & (ends - 1), stops = points & (points - 1);
            size_t name, point, stop, decimals;
            int32_t mantissa;
            if (stops == 0) break;
            name = (size_t)vwl_first_bit64(ends), point = (size_t)vwl_first_bit64(points);
            stop = (size_t)vwl_first_bit64(stops);
            decimals = stop - point - 1;
            if (VWL_UNLIKELY(name - at - 1 > 7 || point != name + 2 || decimals - 1 > 6 || p[name] != ':' || p[point] != '.' ||
                             !(p[stop] == ' ' || p + stop == end)))
                goto done;
            mantissa = (int32_t)vwl_digits(p + point + 1,
                                           (int)decimals) + (p[name + 1] - '0') * (int32_t)vwl_integer_powers[decimals];
            if (VWL_UNLIKELY(mantissa > 16777160)) goto done;
            hash[n] = (uint32_t)vwl_digits(p + at, (int)(name - at)) + seed;
            value[n] = (float)mantissa * powers[128 - decimals];
            n += mantissa != 0;
            last = p + stop;
            if (last == end) goto done;
            at = stop + 1;
            ends = stops & (stops - 1);
        }
        p += at;
    }
done:
    *count = n;
    return last;
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(VWLITE_SCALAR)
/* vwl_read_decimals with AVX-512 (VBMI2): all the features of a window are parsed at once, five at most. */

#include <immintrin.h>

#define VWL_VBMI2 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))
#define VWL_VBMI2_INLINE static inline __attribute__((always_inline)) VWL_VBMI2

enum {
    VWL_FEATURE_ENDS = 0x4924, /* of the positions of non-digits, every third is the end of a feature */
    VWL_NAME_ENDS = 0x1249,    /* ... and these are the ends of names */
    VWL_EXACT = 16777160,      /* integers up to here are exact as float */
    VWL_STORED = 8             /* hashes and values written at a time, of which at most five are meant */
};

static inline int vwl_has_avx512_decimals(void) {
    return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}

/* In each 64-bit lane: byte which[lane] of `bytes`, eight times. */
VWL_VBMI2_INLINE __m512i vwl_spread(const uint8_t which[8], __m512i bytes) {
    const __m512i lanes = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)which));
    return _mm512_permutexvar_epi8(_mm512_shuffle_epi8(lanes, _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0)), bytes);
}

/* In each lane the integer spelled by the digits after position `from` and before position `to` of the window, at most eight. */
VWL_VBMI2_INLINE __m256i vwl_digits_between(__m512i digits, __m512i from, __m512i to) {
    const __m512i position = _mm512_add_epi8(to, _mm512_set1_epi64((long long)0xfffefdfcfbfaf9f8ull));
    __m512i x = _mm512_maskz_permutexvar_epi8(_mm512_cmpgt_epi8_mask(position, from), position, digits);
    x = _mm512_maddubs_epi16(x, _mm512_set1_epi16(0x010a));
    x = _mm512_madd_epi16(x, _mm512_set1_epi32(0x00010064));
    x = _mm512_add_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(10000)), _mm512_srli_epi64(x, 32));
    return _mm512_cvtepi64_epi32(x);
}

/* In each lane the decimal of one digit at name + 1, a point, and the digits between `point` and `end`: returns its digits
 * without the point as an integer, and sets `value` to the decimal. `scales` are the powers of ten from -7 to 0. */
VWL_VBMI2_INLINE __m256i vwl_decimals_between(__m512i digits, __m512i name, __m512i point, __m512i end, __m256 scales,
                                              __m256 *value) {
    const __m512i first = _mm512_add_epi8(name, _mm512_set1_epi8(1));
    const __m512i after = _mm512_sub_epi8(_mm512_sub_epi8(end, point), _mm512_set1_epi8(1));
    const __m256i length = _mm512_cvtepi64_epi32(_mm512_and_si512(after, _mm512_set1_epi64(0xff)));
    const __m256i power = _mm256_permutexvar_epi32(length, _mm256_loadu_si256((const __m256i *)vwl_integer_powers));
    const __m256i integer_part = _mm512_cvtepi64_epi32(_mm512_maskz_permutexvar_epi8(0x0101010101010101, first, digits));
    const __m256i number = _mm256_add_epi32(vwl_digits_between(digits, point, end), _mm256_mullo_epi32(integer_part, power));
    *value = _mm256_mul_ps(_mm256_cvtepi32_ps(number),
                           _mm256_permutexvar_ps(_mm256_sub_epi32(_mm256_set1_epi32(7), length), scales));
    return number;
}

/* The number of features at the start of the window that have the form parsed here. Their names end at the positions `name`, the
 * digits before the point at `point`, the features at `stop`; `end` is the position of the end of the line. */
VWL_VBMI2_INLINE uint32_t vwl_count_decimals(__m512i window, __m128i positions, __m128i name, __m128i point, __m128i stop,
                                             int end) {
    const __m128i parts = _mm_setr_epi8(':', '.', ' ', ':', '.', ' ', ':', '.', ' ', ':', '.', ' ', ':', '.', ' ', 0);
    const __m128i before = _mm_or_si128(_mm_slli_si128(stop, 1), _mm_cvtsi32_si128(0xff)), two = _mm_set1_epi8(2);
    const __m128i found = _mm512_castsi512_si128(_mm512_permutexvar_epi8(_mm512_castsi128_si512(positions), window));
    const __m128i last = _mm_set1_epi8((char)end);
    uint32_t fits = _mm_cmpeq_epi8_mask(found, parts) | (_mm_cmpeq_epi8_mask(positions, last) & VWL_FEATURE_ENDS);
    fits = _pext_u32(fits & fits >> 1 & fits >> 2, VWL_NAME_ENDS) & _mm_cmpeq_epi8_mask(_mm_sub_epi8(point, name), two);
    fits &= _mm_cmple_epu8_mask(_mm_sub_epi8(_mm_sub_epi8(name, before), two), _mm_set1_epi8(7));
    fits &= _mm_cmple_epu8_mask(_mm_sub_epi8(_mm_sub_epi8(stop, point), two), _mm_set1_epi8(6));
    fits &= _mm_cmple_epi8_mask(stop, last);
    return (uint32_t)__builtin_ctz(~fits);
}

static VWL_NOINLINE VWL_VBMI2 const char *vwl_read_decimals_avx512(const char *p, const char *end, uint32_t seed,
                                                                   const float *powers, uint32_t *hash, float *value,
                                                                   size_t capacity, size_t *count) {
    static const uint8_t identity[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                                    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    static const uint8_t names[16] = {0, 3, 6, 9, 12}, points[16] = {1, 4, 7, 10, 13}, stops[16] = {2, 5, 8, 11, 14};
    const __m256i seeds = _mm256_set1_epi32((int)seed);
    const __m256 scales = _mm256_loadu_ps(powers + 121);
    const char *last = NULL;
    size_t n = *count;
    while (n + VWL_STORED <= capacity) {
        const __m512i window = _mm512_loadu_si512(p), digits = _mm512_sub_epi8(window, _mm512_set1_epi8('0'));
        const uint64_t ends = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
        const size_t fifth = (size_t)_tzcnt_u64(_pdep_u64(1 << 14, ends)); /* found early, so that windows overlap */
        const __m512i positions = _mm512_maskz_compress_epi8(ends, _mm512_loadu_si512(identity));
        const __m128i few = _mm512_castsi512_si128(positions), stop = _mm_shuffle_epi8(few,
                                                                                       _mm_loadu_si128((const __m128i *)stops));
        const uint32_t c = vwl_count_decimals(window, few, _mm_shuffle_epi8(few, _mm_loadu_si128((const __m128i *)names)),
                                              _mm_shuffle_epi8(few, _mm_loadu_si128((const __m128i *)points)), stop,
                                              end - p < 127 ? (int)(end - p) : 127);
        const __m512i name = vwl_spread(names, positions), point = vwl_spread(points, positions), behind = vwl_spread(stops,
                                                                                                                      positions);
        const __m512i before = _mm512_alignr_epi64(behind, _mm512_set1_epi64(-1), 7);
        __m256 found;
        const __m256i number = vwl_decimals_between(digits, name, point, behind, scales, &found);
        const __m256i hashes = _mm256_add_epi32(vwl_digits_between(digits, before, name), seeds);
        const uint32_t large = _mm256_cmpgt_epi32_mask(number, _mm256_set1_epi32(VWL_EXACT)), used = (1u << c) - 1;
        const uint32_t kept = _mm256_test_epi32_mask(number, number) & used;
        if (VWL_UNLIKELY(large & used)) break;
        if (VWL_UNLIKELY(kept != 0x1f)) {
            _mm256_storeu_si256((__m256i *)(hash + n), _mm256_maskz_compress_epi32((__mmask8)kept, hashes));
            _mm256_storeu_ps(value + n, _mm256_maskz_compress_ps((__mmask8)kept, found));
            n += (size_t)__builtin_popcount(kept);
            if (c == 0) break;
            last = p + ((uint64_t)_mm_cvtsi128_si64(stop) >> 8 * (c - 1) & 0xff);
        } else {
            _mm256_storeu_si256((__m256i *)(hash + n), hashes);
            _mm256_storeu_ps(value + n, found);
            n += 5;
            last = p + fifth;
        }
        if (last == end) break;
        p = last + 1;
    }
    *count = n;
    return last;
}

static inline const char *vwl_read_decimals(const char *p, const char *end, uint32_t seed, const float *powers, uint32_t *hash,
                                            float *value, size_t capacity, size_t *count) {
    return (vwl_has_avx512_decimals() ? vwl_read_decimals_avx512 : vwl_read_decimals_scalar)(p, end, seed, powers, hash, value,
                                                                                             capacity,
                                                                                         count);
}
#else
static inline const char *vwl_read_decimals(const char *p, const char *end, uint32_t seed, const float *powers, uint32_t *hash,
                                            float *value, size_t capacity, size_t *count) {
    return vwl_read_decimals_scalar(p, end, seed, powers, hash, value, capacity, count);
}
#endif

#endif
