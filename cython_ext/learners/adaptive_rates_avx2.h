/* The scan of a row's terms, eight at a time where the processor has AVX2, else four by vwl_scan_four of adaptive_rates_simd.h.
 * Results are the same bit by bit. */
#ifndef VWLITE_ADAPTIVE_RATES_AVX2_H
#define VWLITE_ADAPTIVE_RATES_AVX2_H

#include <stddef.h>
#include <stdint.h>

#include "learners/slot_prefetch.h"
#include "learners/adaptive_rates_simd.h"

#if VWL_HAS_SIMD && defined(__x86_64__)
#include <immintrin.h>

#define VWL_AVX2 __attribute__((target("avx2")))
#define VWL_AVX2_INLINE static inline __attribute__((always_inline)) VWL_AVX2

/* Load eight slots and interleave them in pairs: w w G G of slots 0 1 and 4 5, of 2 3 and 6 7, then N N r r of the same. */
VWL_AVX2_INLINE void vwl_read_eight(const float *table, const uint32_t *index, __m256 pair[4]) {
    __m256 slot[4];
    for (int k = 0; k < 4; k++) {
        slot[k] = _mm256_castps128_ps256(_mm_loadu_ps(table + 4 * (size_t)index[k]));
        slot[k] = _mm256_insertf128_ps(slot[k], _mm_loadu_ps(table + 4 * (size_t)index[k + 4]), 1);
    }
    for (int k = 0; k < 2; k++) {
        pair[k] = _mm256_unpacklo_ps(slot[2 * k], slot[2 * k + 1]);
        pair[2 + k] = _mm256_unpackhi_ps(slot[2 * k], slot[2 * k + 1]);
    }
}

/* Store eight slots: the weights as loaded, and new G, N and r. */
VWL_AVX2_INLINE void vwl_write_eight(const __m256 pair[4], __m256 g, __m256 n, __m256 r, float *table, const uint32_t *index) {
    const __m256 wg[2] = {_mm256_unpacklo_ps(pair[0], g), _mm256_unpacklo_ps(pair[1], _mm256_permute_ps(g, 0xee))};
    const __m256 nr[2] = {_mm256_unpacklo_ps(n, r), _mm256_unpackhi_ps(n, r)};
    for (int k = 0; k < 4; k++) {
        __m256 slot = k & 1 ? _mm256_shuffle_ps(wg[k / 2], nr[k / 2], 0xee) : _mm256_shuffle_ps(wg[k / 2], nr[k / 2], 0x44);
        _mm_storeu_ps(table + 4 * (size_t)index[k], _mm256_castps256_ps128(slot));
        _mm_storeu_ps(table + 4 * (size_t)index[k + 4], _mm256_extractf128_ps(slot, 1));
    }
}

/* A mask of the terms of eight that share a slot with one of the four terms after them, cyclically: 0 if all slots are
 * distinct. */
VWL_AVX2_INLINE __m256i vwl_shared_eight(const uint32_t *index) {
    const __m256i slots = _mm256_loadu_si256((const __m256i *)index), next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    __m256i rotated = slots, shared = _mm256_setzero_si256();
    for (int k = 0; k < 4; k++) {
        rotated = _mm256_permutevar8x32_epi32(rotated, next);
        shared = _mm256_or_si256(shared, _mm256_cmpeq_epi32(slots, rotated));
    }
    return shared;
}

/* Add eight numbers to a sum in their order. They are added from memory, which takes fewer instructions than to take each out of
 * the register. */
VWL_AVX2_INLINE float vwl_add_eight(float sum, __m256 x) {
    float lane[8];
    _mm256_storeu_ps(lane, x);
    __asm__("" : "+m"(lane));
    for (int k = 0; k < 8; k++) sum += lane[k];
    return sum;
}

/* vwl_scan_four for eight terms. */
VWL_AVX2_INLINE int vwl_scan_eight(float *table, const uint32_t *index, const float *value, float gradient, float *reach,
                                   float *norm) {
    const __m256 one = _mm256_set1_ps(1), x = _mm256_loadu_ps(value), x2 = _mm256_mul_ps(x, x);
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
    __m256 usual = _mm256_cmp_ps(x2, _mm256_set1_ps(VWL_MIN_SQUARE), _CMP_GE_OQ), share = x2, pair[4], g, n, r;
    usual = _mm256_and_ps(usual, _mm256_cmp_ps(x2, _mm256_set1_ps(VWL_FLOAT_MAX), _CMP_LE_OQ));
    usual = _mm256_andnot_ps(_mm256_castsi256_ps(vwl_shared_eight(index)), usual);
    if (_mm256_movemask_ps(usual) != 0xff) return 0;
    vwl_read_eight(table, index, pair);
    g = _mm256_shuffle_ps(pair[0], pair[1], 0xee);
    n = _mm256_shuffle_ps(pair[2], pair[3], 0x44);
    n = _mm256_blendv_ps(n, size, _mm256_cmp_ps(n, _mm256_setzero_ps(), _CMP_EQ_OQ)); /* not seen before */
    if (_mm256_movemask_ps(_mm256_cmp_ps(size, n, _CMP_LE_OQ)) != 0xff) return 0;
    g = _mm256_add_ps(g, _mm256_mul_ps(_mm256_set1_ps(gradient), x2));
    r = _mm256_div_ps(one, _mm256_sqrt_ps(g));
    if (_mm256_movemask_ps(_mm256_cmp_ps(n, one, _CMP_NEQ_UQ))) {
        r = _mm256_mul_ps(r, _mm256_div_ps(one, n));
        share = _mm256_div_ps(x2, _mm256_mul_ps(n, n));
    }
    vwl_write_eight(pair, g, n, r, table, index);
    *norm = vwl_add_eight(*norm, share);
    *reach = vwl_add_eight(*reach, _mm256_mul_ps(x2, r));
    return 1;
}

static VWL_AVX2 size_t vwl_scan_avx2(float *table, const uint32_t *index, const float *value, size_t n, float gradient,
                                     float *reach, float *norm, vwl_ahead *ahead) {
    float reached = *reach, normed = *norm; /* locals stay in registers: the pointers might alias the table */
    size_t i = 0;
    for (;;) {
        for (; i + 8 <= n && vwl_scan_eight(table, index + i, value + i, gradient, &reached, &normed); i += 8)
            vwl_prefetch_ahead(ahead, table, 4, 8, n - i);
        if (i + 4 > n || !vwl_scan_four(table, index + i, value + i, gradient, &reached, &normed)) break;
        vwl_prefetch_ahead(ahead, table, 4, 4, n - i);
        i += 4;
    }
    *reach = reached;
    *norm = normed;
    return i;
}
#endif

/* Scan terms up to the first unusual one (see vwl_rate_four), or until fewer than four are left, at most `simd_width` at a time.
 * Returns the number of terms scanned. */
static inline size_t vwl_scan_usual(float *table, const uint32_t *index, const float *value, size_t n, int simd_width,
                                    float gradient,
                                    float *reach, float *norm, vwl_ahead *ahead) {
    size_t i = 0;
#if VWL_HAS_SIMD && defined(__x86_64__)
    if (simd_width >= 8 && __builtin_cpu_supports("avx2")) return vwl_scan_avx2(table, index, value, n, gradient, reach, norm,
                                                                                ahead);
#endif
    for (; simd_width >= 4 && i + 4 <= n && vwl_scan_four(table, index + i, value + i, gradient, reach, norm); i += 4)
        vwl_prefetch_ahead(ahead, table, 4, 4, n - i);
    return i;
}

#endif
