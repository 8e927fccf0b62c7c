/* The usual update (adaptive, normalised, power_t 0.5) of four terms at a time, in the compiler's own vectors: their rates, in
 * the table or on copies of the slots, which are read and returned here. Results are those of scan_term in core/rates.pxd and of
 * add_step in core/descent.pxd, bit by bit: sums have the order of the terms. */
#ifndef VWLITE_RATES_LANES_H
#define VWLITE_RATES_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/bytescan.h"
#include "core/lanes.h"

#if VWL_HAS_LANES
typedef float vwl_slot __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define VWL_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VWL_MIX(a, b, ...) __builtin_shuffle(a, b, (vwl_i4){__VA_ARGS__})
#endif

/* Four slots, column by column. */
typedef struct {
    vwl_slot w, g, n, r;
} vwl_four;

static inline void vwl_read_four(const float *table, const uint32_t *index, vwl_four *four) {
    const vwl_slot *slot[4];
    vwl_f4 low, high, also_low, also_high;
    for (int k = 0; k < 4; k++) slot[k] = (const vwl_slot *)(table + 4 * (size_t)index[k]);
    low = VWL_MIX((vwl_f4)*slot[0], (vwl_f4)*slot[1], 0, 4, 1, 5); /* w w G G */
    high = VWL_MIX((vwl_f4)*slot[2], (vwl_f4)*slot[3], 0, 4, 1, 5);
    also_low = VWL_MIX((vwl_f4)*slot[0], (vwl_f4)*slot[1], 2, 6, 3, 7); /* N N r r */
    also_high = VWL_MIX((vwl_f4)*slot[2], (vwl_f4)*slot[3], 2, 6, 3, 7);
    four->w = VWL_MIX(low, high, 0, 1, 4, 5);
    four->g = VWL_MIX(low, high, 2, 3, 6, 7);
    four->n = VWL_MIX(also_low, also_high, 0, 1, 4, 5);
    four->r = VWL_MIX(also_low, also_high, 2, 3, 6, 7);
}

static inline void vwl_write_four(const vwl_four *four, float *table, const uint32_t *index) {
    vwl_f4 low = VWL_MIX((vwl_f4)four->w, (vwl_f4)four->g, 0, 4, 1, 5), high = VWL_MIX((vwl_f4)four->w, (vwl_f4)four->g, 2, 6, 3, 7);
    vwl_f4 also_low = VWL_MIX((vwl_f4)four->n, (vwl_f4)four->r, 0, 4, 1, 5);
    vwl_f4 also_high = VWL_MIX((vwl_f4)four->n, (vwl_f4)four->r, 2, 6, 3, 7);
    *(vwl_slot *)(table + 4 * (size_t)index[0]) = VWL_MIX(low, also_low, 0, 1, 4, 5);
    *(vwl_slot *)(table + 4 * (size_t)index[1]) = VWL_MIX(low, also_low, 2, 3, 6, 7);
    *(vwl_slot *)(table + 4 * (size_t)index[2]) = VWL_MIX(high, also_high, 0, 1, 4, 5);
    *(vwl_slot *)(table + 4 * (size_t)index[3]) = VWL_MIX(high, also_high, 2, 3, 6, 7);
}

/* Whether two of four terms share a slot: lanes set where one shares the next one's or the one's after that. */
static inline vwl_i4 vwl_shared(const uint32_t *index) {
    vwl_i4 place;
    memcpy(&place, index, 16);
    return (place == VWL_MIX(place, place, 1, 2, 3, 0)) | (place == VWL_MIX(place, place, 2, 3, 0, 1));
}

/* Bring four slots up to date and add to reach and norm. 0, and nothing done, where a lane of `odd` is set, an input is larger
 * than any before it, or its square is not an ordinary number. */
static inline int vwl_rate_four(vwl_four *four, const float *value, float gradient, vwl_i4 odd, float *reach, float *norm) {
    vwl_f4 x, x2, g, n = four->n, rate, share;
    memcpy(&x, value, 16);
    x2 = x * x;
    if (vwl_any(~((x2 >= 1.175494351e-38f) & (x2 <= 3.402823466e+38f) & (x <= n) & (-x <= n)) | odd)) return 0;
    g = four->g + gradient * x2;
    rate = g;
    for (int k = 0; k < 4; k++) rate[k] = sqrtf(rate[k]);
    rate = 1.0f / rate * (1.0f / n);
    share = x2 / (n * n);
    four->g = g;
    four->r = rate;
    for (int k = 0; k < 4; k++) *norm += share[k];
    share = x2 * rate;
    for (int k = 0; k < 4; k++) *reach += share[k];
    return 1;
}

/* vwl_rate_four on the table; 0, too, where two terms share a slot. */
static inline int vwl_scan_four(float *table, const uint32_t *index, const float *value, float gradient, float *reach,
                                float *norm) {
    vwl_four four;
    vwl_read_four(table, index, &four);
    if (!vwl_rate_four(&four, value, gradient, vwl_shared(index), reach, norm)) return 0;
    vwl_write_four(&four, table, index);
    return 1;
}

/* Copy four slots, leave `tag` in their last column, and add w x to sum. Returns whether one was there already. */
static inline int vwl_copy_four(float *table, const uint32_t *index, const float *value, uint32_t tag, float *copy, float *sum) {
    vwl_four *four = (vwl_four *)copy;
    vwl_f4 x;
    vwl_i4 tags = (vwl_i4){0} + (int32_t)tag, found;
    vwl_read_four(table, index, four);
    memcpy(&x, value, 16);
    memcpy(&found, &four->r, 16);
    x *= four->w;
    for (int k = 0; k < 4; k++) *sum += x[k];
    for (int k = 0; k < 4; k++) memcpy(table + 4 * (size_t)index[k] + 3, &tag, 4);
    return vwl_any((found == tags) | vwl_shared(index));
}

static inline int vwl_rate_copy(float *copy, const float *value, float gradient, float *reach, float *norm) {
    return vwl_rate_four((vwl_four *)copy, value, gradient, (vwl_i4){0}, reach, norm);
}

/* All back to the table; if it moves, w += step (x r) where x is a number. */
static inline void vwl_return_four(const float *copy, float *table, const uint32_t *index, const float *value, int moves,
                                   float step) {
    vwl_four four = *(const vwl_four *)copy;
    if (moves) {
        vwl_f4 x, moved;
        vwl_i4 keep, whole, kept;
        memcpy(&x, value, 16);
        moved = four.w + step * (x * four.r);
        keep = (x <= 3.402823466e+38f) & (-x <= 3.402823466e+38f);
        memcpy(&whole, &moved, 16);
        memcpy(&kept, &four.w, 16);
        whole = (whole & keep) | (kept & ~keep);
        memcpy(&four.w, &whole, 16);
    }
    vwl_write_four(&four, table, index);
}
#else
static inline int vwl_scan_four(float *table, const uint32_t *index, const float *value, float gradient, float *reach,
                                float *norm) {
    (void)table, (void)index, (void)value, (void)gradient, (void)reach, (void)norm;
    return 0;
}
static inline int vwl_copy_four(float *table, const uint32_t *index, const float *value, uint32_t tag, float *copy, float *sum) {
    (void)table, (void)index, (void)value, (void)tag, (void)copy, (void)sum;
    return 1;
}
static inline int vwl_rate_copy(float *copy, const float *value, float gradient, float *reach, float *norm) {
    (void)copy, (void)value, (void)gradient, (void)reach, (void)norm;
    return 0;
}
static inline void vwl_return_four(const float *copy, float *table, const uint32_t *index, const float *value, int moves,
                                   float step) {
    (void)copy, (void)table, (void)index, (void)value, (void)moves, (void)step;
}
#endif

#endif
