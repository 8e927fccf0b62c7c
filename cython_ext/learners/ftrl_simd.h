/* FTRL-proximal updates of a row's terms, eight at a time where the processor has AVX2, else four by the vector extensions of GCC
 * and Clang. Results equal those of update_term in learners/ftrl.pxd bit by bit. */
#ifndef VWLITE_FTRL_SIMD_H
#define VWLITE_FTRL_SIMD_H

#include "learners/adaptive_rates_avx2.h"

typedef struct {
    float slope; /* of the loss, times the importance */
    float alpha, beta, l1, l2;
} vwl_ftrl;

#if VWL_HAS_SIMD
#define LANES 4
#define SIMD_TARGET
#define ALL_SET(x) (!vwl_any(~(x)))
#include "learners/ftrl_lanes.h"
#undef LANES
#undef SIMD_TARGET
#undef ALL_SET

/* Returns 0 and changes nothing where two terms share a slot or a new weight is not finite. */
static inline int vwl_ftrl_four(float *table, const uint32_t *index, const float *value, const vwl_ftrl *rule) {
    vwl_four four;
    if (vwl_any(vwl_shared(index))) return 0;
    vwl_read_four(table, index, &four);
    if (!vwl_ftrl_update4(&four.w, &four.g, &four.n, value, rule)) return 0;
    vwl_write_four(&four, table, index);
    return 1;
}

#if defined(__x86_64__)
#define LANES 8
#define SIMD_TARGET VWL_AVX2
#define ALL_SET(x) (_mm256_movemask_ps((__m256)(x)) == 0xff)
#include "learners/ftrl_lanes.h"
#undef LANES
#undef SIMD_TARGET
#undef ALL_SET

VWL_AVX2_INLINE int vwl_ftrl_eight(float *table, const uint32_t *index, const float *value, const vwl_ftrl *rule) {
    const __m256i shared = vwl_shared_eight(index);
    __m256 pair[4], w, z, n;
    if (!_mm256_testz_si256(shared, shared)) return 0;
    vwl_read_eight(table, index, pair);
    w = _mm256_shuffle_ps(pair[0], pair[1], 0x44);
    z = _mm256_shuffle_ps(pair[0], pair[1], 0xee);
    n = _mm256_shuffle_ps(pair[2], pair[3], 0x44);
    if (!vwl_ftrl_update8((vwl_f8 *)&w, (vwl_f8 *)&z, (vwl_f8 *)&n, value, rule)) return 0;
    pair[0] = w;
    pair[1] = _mm256_permute_ps(w, 0xee);
    vwl_write_eight(pair, z, n, _mm256_shuffle_ps(pair[2], pair[3], 0xee), table, index);
    return 1;
}

static VWL_AVX2 size_t vwl_ftrl_avx2(float *table, const uint32_t *index, const float *value, size_t n, const vwl_ftrl *rule,
                                     vwl_ahead *ahead) {
    size_t i = 0;
    for (;;) {
        for (; i + 8 <= n && vwl_ftrl_eight(table, index + i, value + i, rule); i += 8)
            vwl_prefetch_ahead(ahead, table, 4, 8, n - i);
        if (i + 4 > n || !vwl_ftrl_four(table, index + i, value + i, rule)) return i;
        vwl_prefetch_ahead(ahead, table, 4, 4, n - i);
        i += 4;
    }
}
#endif
#endif

/* Update terms up to the first four of which two share a slot or a new weight is not finite, or until fewer than four are left, at
 * most `simd_width` at a time. Returns the number of terms updated. */
static inline size_t vwl_ftrl_usual(float *table, const uint32_t *index, const float *value, size_t n, int simd_width,
                                    const vwl_ftrl *rule, vwl_ahead *ahead) {
    size_t i = 0;
#if VWL_HAS_SIMD
#if defined(__x86_64__)
    if (simd_width >= 8 && __builtin_cpu_supports("avx2")) return vwl_ftrl_avx2(table, index, value, n, rule, ahead);
#endif
    for (; simd_width >= 4 && i + 4 <= n && vwl_ftrl_four(table, index + i, value + i, rule); i += 4)
        vwl_prefetch_ahead(ahead, table, 4, 4, n - i);
#else
    (void)table, (void)index, (void)value, (void)n, (void)simd_width, (void)rule, (void)ahead;
#endif
    return i;
}

#endif
