/* The default update (adaptive, normalised, power_t 0.5) of one row by up to eight sets of weights at once, on copies of its slots
 * in blocks of eight lanes by column: eight w, eight G, eight N, eight r. Results equal those of scan_term in
 * learners/adaptive_rates.pxd and add_step in learners/gd_update.pxd bit by bit. */
#ifndef VWLITE_PATH_LANES_H
#define VWLITE_PATH_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "learners/adaptive_rates_simd.h"
#include "learners/class_blocks.h"

#if VWL_HAS_CLASSES
#define VWL_LANES_INLINE static inline __attribute__((always_inline))

/* Copy the slots of four lanes of the sets of weights whose numbers are `set`. */
static inline void vwl_read_lanes(const float *table, const uint32_t *slot, size_t distinct, const uint32_t *set, int lanes,
                                  float *copy) {
    for (size_t i = 0; i < distinct; i++, copy += 32)
        for (int half = 0; half < lanes; half += 4) {
            vwl_four four;
            vwl_read_four(table + 4 * (size_t)slot[i], set + half, &four);
            memcpy(copy + half, &four.w, 16);
            memcpy(copy + 8 + half, &four.g, 16);
            memcpy(copy + 16 + half, &four.n, 16);
        }
}

/* Write back the lanes whose bit is set in `taken`. */
static inline void vwl_write_lanes(const float *copy, float *table, const uint32_t *slot, size_t distinct, const uint32_t *set,
                                   uint32_t taken) {
    static const uint32_t in_order[4] = {0, 1, 2, 3};
    for (size_t i = 0; i < distinct; i++, copy += 32)
        for (int half = 0; half < 8; half += 4) {
            float slots[16];
            vwl_four four;
            if (!(taken >> half & 15)) continue;
            memcpy(&four.w, copy + half, 16);
            memcpy(&four.g, copy + 8 + half, 16);
            memcpy(&four.n, copy + 16 + half, 16);
            memcpy(&four.r, copy + 24 + half, 16);
            vwl_write_four(&four, slots, in_order);
            for (int k = 0; k < 4; k++)
                if (taken >> (half + k) & 1) memcpy(table + 4 * ((size_t)slot[i] + set[half + k]), slots + 4 * k, 16);
        }
}

VWL_LANES_INLINE int vwl_any_lane(const vwl_i8 *x) {
    uint64_t part[4];
    memcpy(part, x, sizeof part);
    return (part[0] | part[1] | part[2] | part[3]) != 0;
}

/* Whether the square of every value is normal and finite. */
static inline int vwl_usual_values(const float *value, size_t n) {
    int rare = 0;
    for (size_t i = 0; i < n; i++) {
        const float x2 = value[i] * value[i];
        rare |= !(x2 >= VWL_MIN_SQUARE) | !(x2 <= VWL_FLOAT_MAX);
    }
    return !rare;
}

/* Update G, N and r of the active lanes, rescale weights where |x| is larger than any before, find reach and norm. */
VWL_LANES_INLINE void vwl_scan_lanes_by(float *copy, const uint32_t *index, const float *value, size_t n, vwl_block *block) {
    const vwl_f8 zero = {0}, one = zero + 1.0f;
    vwl_f8 gradient, reach = zero, norm = zero;
    vwl_i8 active;
    memcpy(&gradient, block->gradient, sizeof gradient);
    memcpy(&active, block->active, sizeof active);
    for (size_t i = 0; i < n; i++) {
        float *at = copy + 4 * (size_t)index[i], root[8];
        const float x = value[i], x2 = x * x;
        const vwl_f8 size = zero + fabsf(x);
        vwl_f8 g = *(vwl_row8 *)(at + 8), scale = *(vwl_row8 *)(at + 16), share = zero + x2, rate;
        vwl_i8 larger = (size > scale) & active, other;
        if (vwl_any_lane(&larger)) {
            vwl_i8 grown = larger & (scale > zero);
            vwl_f8 ratio = scale / size;
            ratio = (vwl_f8)(((vwl_i8)ratio & grown) | ((vwl_i8)one & ~grown));
            *(vwl_row8 *)at *= ratio;
            scale = (vwl_f8)(((vwl_i8)size & larger) | ((vwl_i8)scale & ~larger));
            *(vwl_row8 *)(at + 16) = scale;
        }
        g += gradient * x2;
        *(vwl_row8 *)(at + 8) = g;
        memcpy(root, &g, sizeof root);
        for (int k = 0; k < 8; k++) root[k] = sqrtf(root[k]);
        memcpy(&rate, root, sizeof root);
        rate = one / rate;
        other = (scale != one) & active;
        if (vwl_any_lane(&other)) {
            rate *= one / scale;
            share /= scale * scale;
        }
        *(vwl_row8 *)(at + 24) = rate;
        norm += share;
        reach += x2 * rate;
    }
    memcpy(block->norm, &norm, sizeof norm);
    memcpy(block->reach, &reach, sizeof reach);
}

/* w += step (x r) of the lanes that learn; then raw[k] = initial + w x, in the order of the terms. */
VWL_LANES_INLINE void vwl_move_lanes_by(float *copy, const uint32_t *index, const float *value, size_t n, const vwl_block *block,
                                        float initial, float *raw) {
    const vwl_f8 zero = -(vwl_f8){0};
    vwl_f8 step, sum = initial - (vwl_f8){0};
    vwl_i8 learns;
    memcpy(&step, block->step, sizeof step);
    memcpy(&learns, block->learns, sizeof learns);
    for (size_t i = 0; i < n; i++) {
        float *at = copy + 4 * (size_t)index[i];
        const vwl_f8 move = step * (value[i] * *(const vwl_row8 *)(at + 24));
        *(vwl_row8 *)at += (vwl_f8)(((vwl_i8)move & learns) | ((vwl_i8)zero & ~learns));
    }
    for (size_t i = 0; i < n; i++) sum += *(const vwl_row8 *)(copy + 4 * (size_t)index[i]) * value[i];
    memcpy(raw, &sum, sizeof sum);
}

#define VWL_LANES(target, name)                                                                                              \
    static target void vwl_scan_lanes_##name(float *copy, const uint32_t *index, const float *value, size_t n,               \
                                             vwl_block *block) {                                                             \
        vwl_scan_lanes_by(copy, index, value, n, block);                                                                     \
    }                                                                                                                        \
    static target void vwl_move_lanes_##name(float *copy, const uint32_t *index, const float *value, size_t n,               \
                                             const vwl_block *block, float initial, float *raw) {                            \
        vwl_move_lanes_by(copy, index, value, n, block, initial, raw);                                                       \
    }
VWL_LANES(, baseline)
#if defined(__x86_64__)
VWL_LANES(__attribute__((target("avx2"))), avx2)
#define VWL_CALL_LANES(name, ...) \
    (__builtin_cpu_supports("avx2") ? vwl_##name##_avx2(__VA_ARGS__) : vwl_##name##_baseline(__VA_ARGS__))
#else
#define VWL_CALL_LANES(name, ...) vwl_##name##_baseline(__VA_ARGS__)
#endif

static inline void vwl_scan_lanes(float *copy, const uint32_t *index, const float *value, size_t n, vwl_block *block) {
    VWL_CALL_LANES(scan_lanes, copy, index, value, n, block);
}
static inline void vwl_move_lanes(float *copy, const uint32_t *index, const float *value, size_t n, const vwl_block *block,
                                  float initial, float *raw) {
    VWL_CALL_LANES(move_lanes, copy, index, value, n, block, initial, raw);
}
#else
static inline void vwl_read_lanes(const float *t, const uint32_t *s, size_t n, const uint32_t *set, int lanes, float *copy) {}
static inline void vwl_write_lanes(const float *c, float *t, const uint32_t *s, size_t n, const uint32_t *set, uint32_t taken) {}
static inline int vwl_usual_values(const float *v, size_t n) { return 0; }
static inline void vwl_scan_lanes(float *c, const uint32_t *i, const float *v, size_t n, vwl_block *block) {}
static inline void vwl_move_lanes(float *c, const uint32_t *i, const float *v, size_t n, const vwl_block *block, float initial,
                                  float *raw) {}
#endif

#endif
