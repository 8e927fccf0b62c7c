/* Vector kernels of random features: with AVX2 where the processor has it, else with the instructions that the build targets.
 * The file includes itself once for each instruction set, with SIMD_NAME and SIMD_TARGET defined. Every number is made by the
 * same operations in the same order, whatever the width of vectors, so that the bytes are the same. */
#ifdef SIMD_NAME

/* The Walsh-Hadamard transform in natural order, in place and not normalised; n is a power of two, 8 or more. */
static SIMD_TARGET void SIMD_NAME(hadamard)(float *x, size_t n) {
    size_t half = 8;
#if VWL_HAS_SIMD
    const vwl_f8 ones = {1, -1, 1, -1, 1, -1, 1, -1}, twos = {1, 1, -1, -1, 1, 1, -1, -1}, fours = {1, 1, 1, 1, -1, -1, -1, -1};
    for (size_t i = 0; i < n; i += 8) {
        vwl_f8 v = *(const vwl_row8 *)(x + i);
        v = VWL_SHUFFLE(v, v, 1, 0, 3, 2, 5, 4, 7, 6) + v * ones;
        v = VWL_SHUFFLE(v, v, 2, 3, 0, 1, 6, 7, 4, 5) + v * twos;
        v = VWL_SHUFFLE(v, v, 4, 5, 6, 7, 0, 1, 2, 3) + v * fours;
        *(vwl_row8 *)(x + i) = v;
    }
#else
    half = 1;
#endif
    for (; 4 * half <= n; half *= 4) /* two levels at a time */
        for (size_t begin = 0; begin < n; begin += 4 * half) {
            float *restrict a = x + begin, *restrict b = a + half, *restrict c = b + half, *restrict d = c + half;
            for (size_t i = 0; i < half; i++) {
                const float sum = a[i] + b[i], more = c[i] + d[i], gap = a[i] - b[i], less = c[i] - d[i];
                a[i] = sum + more, b[i] = gap + less, c[i] = sum - more, d[i] = gap - less;
            }
        }
    if (half < n)
        for (size_t i = 0; i < half; i++) {
            const float first = x[i], second = x[half + i];
            x[i] = first + second, x[half + i] = first - second;
        }
}

/* x *= factor, n numbers each. */
static SIMD_TARGET void SIMD_NAME(multiply)(float *restrict x, const float *restrict factor, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] *= factor[i];
}

/* sum += value * row, n numbers each. */
static SIMD_TARGET void SIMD_NAME(add_multiple)(float *restrict sum, const float *restrict row, float value, size_t n) {
    for (size_t i = 0; i < n; i++) sum[i] += value * row[i];
}

/* x = size cos(2 pi (scale x + phase)), by the Taylor series of the sine up to degree 11: an error below 1e-7 size. */
static SIMD_TARGET void SIMD_NAME(cosines)(float *restrict x, const float *restrict phase, float scale, float size, size_t n) {
    const float whole = 12582912.0f; /* 1.5 * 2^23: added and subtracted it rounds to the nearest integer */
    for (size_t i = 0; i < n; i++) {
        const float turns = x[i] * scale + phase[i], part = fabsf(turns - ((turns + whole) - whole));
        const float u = 0.25f - (part <= 0.5f ? part : 0.5f), u2 = u * u;
        const float high = 81.605249276f + u2 * (-76.705859753f + u2 * (42.058693945f + u2 * -15.094642577f));
        x[i] = size * (u * (6.2831853072f + u2 * (-41.341702240f + u2 * high)));
    }
}

/* size max(0, x). */
static SIMD_TARGET void SIMD_NAME(rectified)(float *restrict out, const float *restrict x, float size, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = x[i] > 0 ? size * x[i] : 0;
}

/* size x. */
static SIMD_TARGET void SIMD_NAME(scaled)(float *restrict out, const float *restrict x, float size, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = size * x[i];
}

#elif !defined(VWLITE_RANDOM_FEATURES_H)
#define VWLITE_RANDOM_FEATURES_H

#include <math.h>
#include <stddef.h>

#include "base/simd.h"

#if VWL_HAS_SIMD
typedef float vwl_row8 __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define VWL_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VWL_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vwl_i8){__VA_ARGS__})
#endif
#endif

#define SIMD_TARGET
#define SIMD_NAME(name) vwl_baseline_##name
#include "features/random_features.h"
#undef SIMD_TARGET
#undef SIMD_NAME

#if VWL_HAS_SIMD && defined(__x86_64__) && !defined(__AVX2__)
#define SIMD_TARGET __attribute__((target("avx2")))
#define SIMD_NAME(name) vwl_avx2_##name
#include "features/random_features.h"
#undef SIMD_TARGET
#undef SIMD_NAME
#define VWL_CALL(name, ...) (__builtin_cpu_supports("avx2") ? vwl_avx2_##name(__VA_ARGS__) : vwl_baseline_##name(__VA_ARGS__))
#else
#define VWL_CALL(name, ...) vwl_baseline_##name(__VA_ARGS__)
#endif

static inline void vwl_hadamard(float *x, size_t n) { VWL_CALL(hadamard, x, n); }
static inline void vwl_multiply(float *x, const float *factor, size_t n) { VWL_CALL(multiply, x, factor, n); }
static inline void vwl_add_multiple(float *sum, const float *row, float value, size_t n) {
    VWL_CALL(add_multiple, sum, row, value, n);
}
static inline void vwl_cosines(float *x, const float *phase, float scale, float size, size_t n) {
    VWL_CALL(cosines, x, phase, scale, size, n);
}
static inline void vwl_rectified(float *out, const float *x, float size, size_t n) { VWL_CALL(rectified, out, x, size, n); }
static inline void vwl_scaled(float *out, const float *x, float size, size_t n) { VWL_CALL(scaled, out, x, size, n); }

#endif
