/* The default update (adaptive, normalised, power_t 0.5) of a block of classes at a time, by the vector extensions of GCC and
 * Clang: sixteen classes with AVX-512, eight with AVX2, else eight with the instructions that the build targets. Results equal
 * those of learners/gd_update.pxd bit by bit. */
#ifndef VWLITE_CLASS_BLOCKS_H
#define VWLITE_CLASS_BLOCKS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "losses/exponentials.h"
#include "base/simd.h"

enum { VWL_MAX_WIDTH = 16 }; /* classes of a block at most */

/* Scan one term of one class: updates G, N and r, adds to reach and norm, returns r. */
typedef float (*vwl_scan_one)(float *slot, float x, float gradient, float *reach, float *norm);

/* A block of eight or sixteen classes. */
typedef struct {
    float gradient[VWL_MAX_WIDTH]; /* squared gradient, 0 where not active */
    float reach[VWL_MAX_WIDTH];    /* change of the prediction per unit of update */
    float norm[VWL_MAX_WIDTH];     /* sum of squared inputs, each divided by its own squared scale */
    float step[VWL_MAX_WIDTH];
    int32_t active[VWL_MAX_WIDTH]; /* -1 where the class has a loss */
    int32_t learns[VWL_MAX_WIDTH]; /* -1 where it has a step */
    int32_t unused[VWL_MAX_WIDTH];   /* -1 where the block has no class */
    float score[VWL_MAX_WIDTH];    /* predictions */
    float sign[VWL_MAX_WIDTH];     /* labels, 1 or -1 */
    float odds[VWL_MAX_WIDTH];     /* logistic loss: exp(margin), kept for the steps */
    int32_t first;            /* whether this is a feature's first block */
    int32_t width;            /* classes of the block, eight or sixteen */
    vwl_scan_one scan_one;
} vwl_block;

/* Per term: results of divisions for the first block, which most other blocks reuse, and the last term of the row with the same
 * slots, which is not filled in where terms are distinct. */
typedef struct {
    float *largest;      /* N */
    float *inverse;      /* 1 / N */
    float *share;        /* x^2 / N^2 */
    uint32_t *last;      /* the last term with the same slots */
    int32_t distinct;    /* whether no two terms share slots */
    int32_t usual;       /* whether all terms are usual, see find_scales */
} vwl_scales;

#if VWL_HAS_SIMD
#define VWL_HAS_CLASSES 1
#define VWL_NO_GRADIENT 1e-30f /* added to sums of squares that may be 0 */
typedef float vwl_f16 __attribute__((vector_size(64)));
typedef int32_t vwl_i16 __attribute__((vector_size(64)));
/* unaligned vectors */
typedef float vwl_row4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float vwl_row8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double vwl_row4_float64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float vwl_row16 __attribute__((vector_size(64), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define VWL_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define VWL_SHUFFLE16 VWL_SHUFFLE
#else
#define VWL_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vwl_i8){__VA_ARGS__})
#define VWL_SHUFFLE16(a, b, ...) __builtin_shuffle(a, b, (vwl_i16){__VA_ARGS__})
#endif

static inline int vwl_all(const vwl_i8 *x) {
    uint64_t part[4];
    memcpy(part, x, sizeof part);
    return (part[0] & part[1] & part[2] & part[3]) == ~(uint64_t)0;
}

/* Eight classes at a time, with the instructions that the build targets. */
#define LANES 8
#if defined(__AVX2__)
#define VECTOR 8
#else
#define VECTOR 4
#endif
#define SIMD_TARGET
#define SIMD_NAME(name) vwl_baseline_##name
#define ALL_SET4(x) (!vwl_any(~(x)))
#define ALL_SET8(x) vwl_all(&(x))
#define VWL_WIDEN(row) __builtin_convertvector(*(const vwl_row4 *)(row), vwl_row4_float64)
#include "learners/class_blocks_simd.h"
#include "learners/contiguous_simd.h"
#include "losses/logistic_simd.h"
#undef SIMD_TARGET
#undef SIMD_NAME
#undef ALL_SET4
#undef ALL_SET8
#undef VECTOR
#undef VWL_WIDEN

#if defined(__x86_64__)
#define VECTOR 8
#define ALL_SET4(x) (__builtin_ia32_movmskps((vwl_f4)(x)) == 0xf)
#define ALL_SET8(x) (__builtin_ia32_movmskps256((vwl_f8)(x)) == 0xff)
#define ALL_SET16(x) (_mm512_movepi32_mask((__m512i)(x)) == 0xffff)
#if !defined(__AVX2__)
#define SIMD_TARGET __attribute__((target("avx2")))
#define SIMD_NAME(name) vwl_avx2_##name
#define VWL_WIDEN(row) ((vwl_row4_float64)_mm256_cvtps_pd(_mm_loadu_ps(row)))
#include "learners/class_blocks_simd.h"
#include "learners/contiguous_simd.h"
#include "losses/logistic_simd.h"
#undef SIMD_TARGET
#undef SIMD_NAME
#undef VWL_WIDEN
#define VWL_CALL(name, ...) (__builtin_cpu_supports("avx2") ? vwl_avx2_##name(__VA_ARGS__) : vwl_baseline_##name(__VA_ARGS__))
#endif
#undef LANES
#undef VECTOR
#define LANES 16
#define VECTOR 16
#define SIMD_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define SIMD_NAME(name) vwl_avx512_##name
#include "learners/class_blocks_simd.h"
#include "losses/logistic_simd.h"
#undef SIMD_TARGET
#undef SIMD_NAME
#undef ALL_SET4
#undef ALL_SET8
#undef ALL_SET16
#undef VECTOR
#define VWL_CALL_WIDTH(width, name, ...) ((width) == 16 ? vwl_avx512_##name(__VA_ARGS__) : VWL_CALL(name, __VA_ARGS__))
#else
#define VWL_CALL_WIDTH(width, name, ...) VWL_CALL(name, __VA_ARGS__)
#endif
#undef LANES
#ifndef VWL_CALL
#define VWL_CALL(name, ...) vwl_baseline_##name(__VA_ARGS__)
#endif

/* The number of classes in the widest blocks that this processor supports. */
static inline int vwl_widest(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return 16;
#endif
    return 8;
}

/* Transpose the slots of a block, four floats each, from order by slot to order by column, and back. */
static inline void vwl_transpose(float *slots, int width) { VWL_CALL_WIDTH(width, transpose, slots); }
static inline void vwl_transpose_back(float *slots, int width) { VWL_CALL_WIDTH(width, transpose_back, slots); }
static inline void vwl_score(const float *table, const uint32_t *index, const float *value, size_t n,
                             float initial, float *raw) {
    VWL_CALL(score, table, index, value, n, initial, raw);
}
static inline void vwl_score_row(const float *table, size_t stride, int width, const uint32_t *index, const float *value,
                                 size_t n,
                                 float initial, float *raw) {
    VWL_CALL_WIDTH(width, score_row, table, stride, index, value, n, initial, raw);
}
static inline void vwl_scan(float *table, const uint32_t *index, const float *value, size_t n, vwl_block *block,
                            vwl_scales *scales, float *r) {
    VWL_CALL_WIDTH(block->width, scan, table, index, value, n, block, scales, r);
}
static inline void vwl_apply(float *table, const uint32_t *index, const float *value, size_t n, const vwl_block *block,
                             const vwl_scales *scales, const float *r) {
    VWL_CALL_WIDTH(block->width, apply, table, index, value, n, block, scales, r);
}
static inline int32_t vwl_find_gradients(vwl_block *block, float weight) {
    return VWL_CALL_WIDTH(block->width, find_gradients, block, weight);
}
static inline void vwl_find_steps(vwl_block *block, float u) { VWL_CALL_WIDTH(block->width, find_steps, block, u); }
static inline void vwl_score_rows(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, float *s) {
    VWL_CALL(score_rows, w, index, value, n, width, s);
}
static inline void vwl_scan_rows(float *g, const uint32_t *index, const float *value, const float *inverse, size_t n,
                                 size_t width, const float *gradient, float *reach, float *r) {
    VWL_CALL(scan_rows, g, index, value, inverse, n, width, gradient, reach, r);
}
static inline void vwl_apply_rows(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                  const float *step, const float *r) {
    VWL_CALL(apply_rows, w, index, value, n, width, step, r);
}
static inline void vwl_step_rows(float *w, const uint32_t *index, const float *value, size_t n, size_t width, const float *step) {
    VWL_CALL(step_rows, w, index, value, n, width, step);
}
static inline void vwl_sum_rows(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, double *z) {
    VWL_CALL(sum_rows, w, index, value, n, width, z);
}
static inline void vwl_sum_rows_float64(const double *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                        double *z) {
    VWL_CALL(sum_rows_float64, w, index, value, n, width, z);
}
static inline void vwl_add_rows(double *w, const uint32_t *index, const float *value, size_t n, size_t width, const double *step,
                                double weight, int squared) {
    VWL_CALL(add_rows, w, index, value, n, width, step, weight, squared);
}
#else
#define VWL_HAS_CLASSES 0
static inline int vwl_widest(void) { return 8; }
static inline void vwl_transpose(float *slots, int width) {}
static inline void vwl_transpose_back(float *slots, int width) {}
static inline void vwl_score(const float *t, const uint32_t *i, const float *v, size_t n, float b, float *raw) {}
static inline void vwl_score_row(const float *t, size_t stride, int width, const uint32_t *i, const float *v, size_t n, float b,
                                 float *raw) {}
static inline void vwl_scan(float *t, const uint32_t *i, const float *v, size_t n, vwl_block *block, vwl_scales *s, float *r) {}
static inline void vwl_apply(float *t, const uint32_t *i, const float *v, size_t n, const vwl_block *block, const vwl_scales *s,
                             const float *r) {}
static inline int32_t vwl_find_gradients(vwl_block *block, float weight) { return 0; }
static inline void vwl_find_steps(vwl_block *block, float u) {}
static inline void vwl_score_rows(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, float *s) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) s[c] += w[index[i] * width + c] * value[i];
}
static inline void vwl_scan_rows(float *g, const uint32_t *index, const float *value, const float *inverse, size_t n,
                                 size_t width, const float *gradient, float *reach, float *r) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) {
            float *square = g + index[i] * width + c, x2 = value[i] * value[i];
            *square += gradient[c] * x2;
            r[i * width + c] = inverse[i] / sqrtf(*square + 1e-30f);
            reach[c] += r[i * width + c] * x2;
        }
}
static inline void vwl_apply_rows(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                  const float *step, const float *r) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) w[index[i] * width + c] += step[c] * r[i * width + c] * value[i];
}
static inline void vwl_step_rows(float *w, const uint32_t *index, const float *value, size_t n, size_t width, const float *step) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) w[index[i] * width + c] += step[c] * value[i];
}
static inline void vwl_sum_rows(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, double *z) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) z[c] += w[index[i] * width + c] * (double)value[i];
}
static inline void vwl_sum_rows_float64(const double *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                        double *z) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) z[c] += w[index[i] * width + c] * value[i];
}
static inline void vwl_add_rows(double *w, const uint32_t *index, const float *value, size_t n, size_t width, const double *step,
                                double weight, int squared) {
    for (size_t i = 0; i < n; i++) {
        double own = value[i], x = weight * (squared ? own * own : own);
        for (size_t c = 0; c < width; c++) w[index[i] * width + c] += step[c] * x;
    }
}
#endif

static inline int vwl_has_classes(void) { return VWL_HAS_CLASSES; }

#endif
