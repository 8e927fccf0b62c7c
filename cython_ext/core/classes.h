/* The usual update (adaptive, normalised, power_t 0.5) of eight classes at a time, in the compiler's own vectors: AVX2 where
 * the processor has it, else what the build is for. Results are those of core/descent.pxd, bit by bit. */
#ifndef VWLITE_CLASSES_H
#define VWLITE_CLASSES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/lanes.h"

/* One term of one class: brings G, N and r up to date, adds to reach and norm, answers r. */
typedef float (*vwl_scan_one)(float *slot, float x, float gradient, float *reach, float *norm);

/* A block of eight classes. */
typedef struct {
    float gradient[8];   /* squared gradient, 0 where not active */
    float reach[8];      /* how far a unit update moves the prediction */
    float norm[8];       /* sum of squared inputs, each in units of its own scale */
    float step[8];
    int32_t active[8];   /* -1 where the class has a loss */
    int32_t learns[8];   /* -1 where it has a step */
    int32_t first;       /* the block of a feature's first slots */
    int32_t dead[8];     /* -1 where there is no class */
    vwl_scan_one scan_one;
} vwl_block;

/* Of a term: what its divisions gave for the block before, for most blocks need the same; the last term with its slots. */
typedef struct {
    float largest;       /* N */
    float inverse;       /* 1 / N */
    float share;         /* x^2 / N^2 */
    uint32_t last;
} vwl_scale;

/* Eight slots of four floats, by slot or turned, by column. */
static inline void vwl_turn(float *slots) {
    float turned[32];
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 4; k++) turned[8 * k + c] = slots[4 * c + k];
    memcpy(slots, turned, sizeof turned);
}
static inline void vwl_turn_back(float *slots) {
    float turned[32];
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 4; k++) turned[4 * c + k] = slots[8 * k + c];
    memcpy(slots, turned, sizeof turned);
}

#if VWL_HAS_LANES
#define VWL_HAS_CLASSES 1
#define VWL_LEAST_SQUARE 1.175494351e-38f /* smaller squares count as this much */
#define VWL_LARGEST 3.402823466e+38f
#define VWL_NO_GRADIENT 1e-30f /* added to sums of squares that may be 0 */
typedef float vwl_f8 __attribute__((vector_size(32)));
typedef float vwl_rates __attribute__((vector_size(32), aligned(4), may_alias)); /* eight floats anywhere */
typedef int32_t vwl_i8 __attribute__((vector_size(32)));
typedef float vwl_rates4 __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define VWL_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VWL_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vwl_i8){__VA_ARGS__})
#endif

static inline int vwl_all(const vwl_i8 *x) {
    uint64_t part[4];
    memcpy(part, x, sizeof part);
    return (part[0] & part[1] & part[2] & part[3]) == ~(uint64_t)0;
}
static inline int vwl_all4(vwl_i4 x) { return !vwl_any(~x); }

#define LANES_TARGET
#define LANES_NAME(name) vwl_plain_##name
#define LANES_ALL(x) vwl_all(&(x))
#define LANES_ALL4 vwl_all4
#include "core/classes_lanes.h"
#include "core/contiguous_lanes.h"
#undef LANES_TARGET
#undef LANES_NAME
#undef LANES_ALL
#undef LANES_ALL4

#if defined(__x86_64__) && !defined(__AVX2__)
#define VWL_TWO_KINDS 1
#define LANES_TARGET __attribute__((target("avx2")))
#define LANES_NAME(name) vwl_avx2_##name
#define LANES_ALL(x) (__builtin_ia32_movmskps256((vwl_f8)(x)) == 0xff)
#define LANES_ALL4(x) (__builtin_ia32_movmskps((vwl_f4)(x)) == 0xf)
#include "core/classes_lanes.h"
#include "core/contiguous_lanes.h"
#undef LANES_TARGET
#undef LANES_NAME
#undef LANES_ALL
#undef LANES_ALL4
#define VWL_CALL(name, ...) (__builtin_cpu_supports("avx2") ? vwl_avx2_##name(__VA_ARGS__) : vwl_plain_##name(__VA_ARGS__))
#else
#define VWL_CALL(name, ...) vwl_plain_##name(__VA_ARGS__)
#endif

static inline void vwl_score(const float *table, const uint32_t *index, const float *value, size_t n, float base, float *raw) {
    VWL_CALL(score, table, index, value, n, base, raw);
}
static inline void vwl_score_row(const float *table, size_t stride, const uint32_t *index, const float *value, size_t n,
                                 float base, float *raw) {
    VWL_CALL(score_row, table, stride, index, value, n, base, raw);
}
static inline void vwl_scan(float *table, const uint32_t *index, const float *value, size_t n, vwl_block *block,
                            vwl_scale *scales, float *r) {
    VWL_CALL(scan, table, index, value, n, block, scales, (vwl_rates *)r);
}
static inline void vwl_apply(float *table, const uint32_t *index, const float *value, size_t n, const vwl_block *block,
                             vwl_scale *scales, const float *r) {
    VWL_CALL(apply, table, index, value, n, block, scales, (const vwl_rates *)r);
}
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
#else
#define VWL_HAS_CLASSES 0
static inline void vwl_score(const float *t, const uint32_t *i, const float *v, size_t n, float b, float *raw) {}
static inline void vwl_score_row(const float *t, size_t stride, const uint32_t *i, const float *v, size_t n, float b,
                                 float *raw) {}
static inline void vwl_scan(float *t, const uint32_t *i, const float *v, size_t n, vwl_block *block, vwl_scale *s, float *r) {}
static inline void vwl_apply(float *t, const uint32_t *i, const float *v, size_t n, const vwl_block *block, vwl_scale *s,
                             const float *r) {}
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
#endif

static inline int vwl_has_classes(void) { return VWL_HAS_CLASSES; }

#endif
