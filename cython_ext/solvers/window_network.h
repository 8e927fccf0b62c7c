/* Vector kernels of the network that scores windows of words: with AVX2 where the processor has it, else with the instructions
 * that the build targets. The file includes itself once for each instruction set, with SIMD_NAME and SIMD_TARGET defined. Rows
 * have `width` floats, a multiple of eight; sums over a row are those of eight lanes, added in a fixed order. Every number is
 * made by the same operations in the same order, whatever the width of vectors, so that the bytes are the same. */
#ifdef SIMD_NAME

#define VWL_ROW(p) (*(vwl_row8 *)(p))
#define VWL_CONST_ROW(p) (*(const vwl_row8 *)(p))

/* out[k] += x[i] rows[i][k], i ascending. */
static SIMD_TARGET void SIMD_NAME(add_inputs)(const float *rows, const float *x, size_t inputs, size_t width, float *out) {
    size_t k = 0;
    for (; k + 56 <= width; k += 56) { /* as many sums as registers hold */
        vwl_f8 a = VWL_ROW(out + k), b = VWL_ROW(out + k + 8), c = VWL_ROW(out + k + 16), d = VWL_ROW(out + k + 24);
        vwl_f8 e = VWL_ROW(out + k + 32), f = VWL_ROW(out + k + 40), g = VWL_ROW(out + k + 48);
        const float *row = rows + k;
        for (size_t i = 0; i < inputs; i++, row += width) {
            a += VWL_CONST_ROW(row) * x[i], b += VWL_CONST_ROW(row + 8) * x[i], c += VWL_CONST_ROW(row + 16) * x[i];
            d += VWL_CONST_ROW(row + 24) * x[i], e += VWL_CONST_ROW(row + 32) * x[i], f += VWL_CONST_ROW(row + 40) * x[i];
            g += VWL_CONST_ROW(row + 48) * x[i];
        }
        VWL_ROW(out + k) = a, VWL_ROW(out + k + 8) = b, VWL_ROW(out + k + 16) = c, VWL_ROW(out + k + 24) = d;
        VWL_ROW(out + k + 32) = e, VWL_ROW(out + k + 40) = f, VWL_ROW(out + k + 48) = g;
    }
    for (; k + 16 <= width; k += 16) {
        vwl_f8 a = VWL_ROW(out + k), b = VWL_ROW(out + k + 8);
        const float *row = rows + k;
        for (size_t i = 0; i < inputs; i++, row += width) a += VWL_CONST_ROW(row) * x[i], b += VWL_CONST_ROW(row + 8) * x[i];
        VWL_ROW(out + k) = a, VWL_ROW(out + k + 8) = b;
    }
    if (k < width) {
        vwl_f8 a = VWL_ROW(out + k);
        const float *row = rows + k;
        for (size_t i = 0; i < inputs; i++, row += width) a += VWL_CONST_ROW(row) * x[i];
        VWL_ROW(out + k) = a;
    }
}

/* x = tanh(x) = 1 - 2 / (1 + exp(2 x)), exp(2 x) by the nearest power of two and a series: an error below 2e-6. 0 stays 0. */
static SIMD_TARGET void SIMD_NAME(squash)(float *x, size_t width) {
    for (size_t k = 0; k < width; k += 8) {
        float *row = x + k;
        for (int j = 0; j < 8; j++) row[j] = row[j] > 10 ? 10 : row[j] < -10 ? -10 : row[j];
        const vwl_f8 halves = VWL_CONST_ROW(row) * 2.8853900818f, turns = halves + 12582912.0f; /* 2 / ln(2); 1.5 * 2^23 */
        const vwl_f8 r = (halves - (turns - 12582912.0f)) * 0.69314718056f;
        const vwl_f8 power = (vwl_f8)(((vwl_u8)turns << 23) + 0x3f800000u);
        const vwl_f8 high = 0.16666667163f + r * (0.04166666791f + r * (0.00833333377f + r * 0.00138888892f));
        VWL_ROW(row) = 1.0f - 2.0f / (1.0f + power * (1.0f + r * (1.0f + r * (0.5f + r * high))));
    }
}

static inline SIMD_TARGET float SIMD_NAME(of_lanes)(const float *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static SIMD_TARGET float SIMD_NAME(product)(const float *a, const float *b, size_t width) {
    float lane[8];
    vwl_f8 sum = {0};
    for (size_t k = 0; k < width; k += 8) sum += VWL_CONST_ROW(a + k) * VWL_CONST_ROW(b + k);
    memcpy(lane, &sum, sizeof lane);
    return SIMD_NAME(of_lanes)(lane);
}

/* slope[i] = rows[i] . d; then rows[i] += step x[i] d. */
static SIMD_TARGET void SIMD_NAME(learn_inputs)(float *rows, const float *x, const float *d, float step, size_t inputs,
                                                size_t width, float *slope) {
    for (size_t i = 0; i < inputs; i++) {
        float *row = rows + i * width, lane[8];
        const float value = step * x[i];
        vwl_f8 sum = {0};
        for (size_t k = 0; k < width; k += 8) {
            const vwl_f8 w = VWL_CONST_ROW(row + k), of = VWL_CONST_ROW(d + k);
            sum += w * of;
            VWL_ROW(row + k) = w + of * value;
        }
        memcpy(lane, &sum, sizeof lane);
        slope[i] = SIMD_NAME(of_lanes)(lane);
    }
}

/* The same for inputs x and y with slopes d and e at once: rows[i] += step x[i] d + step y[i] e. */
static SIMD_TARGET void SIMD_NAME(learn_two)(float *rows, const float *x, const float *y, const float *d, const float *e,
                                             float step, size_t inputs, size_t width, float *slope, float *slope_y) {
    for (size_t i = 0; i < inputs; i++) {
        float *row = rows + i * width, lane[8];
        const float value = step * x[i], value_y = step * y[i];
        vwl_f8 sum = {0}, sum_y = {0};
        for (size_t k = 0; k < width; k += 8) {
            const vwl_f8 w = VWL_CONST_ROW(row + k), of = VWL_CONST_ROW(d + k), of_y = VWL_CONST_ROW(e + k);
            sum += w * of, sum_y += w * of_y;
            VWL_ROW(row + k) = w + (of * value + of_y * value_y);
        }
        memcpy(lane, &sum, sizeof lane);
        slope[i] = SIMD_NAME(of_lanes)(lane);
        memcpy(lane, &sum_y, sizeof lane);
        slope_y[i] = SIMD_NAME(of_lanes)(lane);
    }
}

#undef VWL_ROW
#undef VWL_CONST_ROW

#elif !defined(VWLITE_WINDOW_NETWORK_H)
#define VWLITE_WINDOW_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float vwl_f8 __attribute__((vector_size(32)));
typedef uint32_t vwl_u8 __attribute__((vector_size(32)));
typedef float vwl_row8 __attribute__((vector_size(32), aligned(4), may_alias));

#define SIMD_TARGET
#define SIMD_NAME(name) vwl_baseline_##name
#include "solvers/window_network.h"
#undef SIMD_TARGET
#undef SIMD_NAME

#if defined(__x86_64__) && !defined(__AVX2__)
#define SIMD_TARGET __attribute__((target("avx2")))
#define SIMD_NAME(name) vwl_avx2_##name
#include "solvers/window_network.h"
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
