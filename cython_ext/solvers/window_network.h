/* Vector kernels of the network that scores windows of words: with AVX2 where the processor has it, else with the instructions
 * that the build targets. The bytes are the same. */
#ifndef VWLITE_WINDOW_NETWORK_H
#define VWLITE_WINDOW_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float vwl_f8 __attribute__((vector_size(32)));
typedef uint32_t vwl_u8 __attribute__((vector_size(32)));
typedef float vwl_row8 __attribute__((vector_size(32), aligned(4), may_alias));

#define SIMD_TARGET
#define SIMD_NAME(name) vwl_baseline_##name
#include "solvers/window_network_simd.h"
#undef SIMD_TARGET
#undef SIMD_NAME

#if defined(__x86_64__) && !defined(__AVX2__)
#define SIMD_TARGET __attribute__((target("avx2")))
#define SIMD_NAME(name) vwl_avx2_##name
#include "solvers/window_network_simd.h"
#undef SIMD_TARGET
#undef SIMD_NAME
#define VWL_CALL(name, ...) (__builtin_cpu_supports("avx2") ? vwl_avx2_##name(__VA_ARGS__) : vwl_baseline_##name(__VA_ARGS__))
#else
#define VWL_CALL(name, ...) vwl_baseline_##name(__VA_ARGS__)
#endif

static inline void vwl_add_inputs(const float *rows, const float *x, size_t inputs, size_t width, float *out) {
    VWL_CALL(add_inputs, rows, x, inputs, width, out);
}
static inline void vwl_squash(float *x, size_t width) { VWL_CALL(squash, x, width); }
static inline float vwl_product(const float *a, const float *b, size_t width) { return VWL_CALL(product, a, b, width); }
static inline void vwl_learn_inputs(float *rows, const float *x, const float *d, float step, size_t inputs, size_t width,
                                    float *slope) {
    VWL_CALL(learn_inputs, rows, x, d, step, inputs, width, slope);
}
static inline void vwl_learn_two(float *rows, const float *x, const float *y, const float *d, const float *e, float step,
                                 size_t inputs, size_t width, float *slope, float *slope_y) {
    VWL_CALL(learn_two, rows, x, y, d, e, step, inputs, width, slope, slope_y);
}

#endif
