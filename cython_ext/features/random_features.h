/* Vector kernels of random features: with AVX2 where the processor has it, else with the instructions that the build targets.
 * The bytes are the same. */
#ifndef VWLITE_RANDOM_FEATURES_H
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
#include "features/random_features_simd.h"
#undef SIMD_TARGET
#undef SIMD_NAME

#if VWL_HAS_SIMD && defined(__x86_64__) && !defined(__AVX2__)
#define SIMD_TARGET __attribute__((target("avx2")))
#define SIMD_NAME(name) vwl_avx2_##name
#include "features/random_features_simd.h"
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
