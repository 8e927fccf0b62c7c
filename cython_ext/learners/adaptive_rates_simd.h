/* The default update (adaptive, normalised, power_t 0.5) of four terms at a time, by the vector extensions of GCC and Clang:
 * rates computed in the table or on copies of the slots, and the loads and stores of these copies. Results equal those of
 * scan_term in learners/adaptive_rates.pxd and add_step in learners/gd_update.pxd bit by bit, as sums are taken in the order of
 * the terms. */
#ifndef VWLITE_ADAPTIVE_RATES_SIMD_H
#define VWLITE_ADAPTIVE_RATES_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/byte_scan.h"
#include "base/simd.h"

#if VWL_HAS_SIMD
typedef float vwl_slot __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define VWL_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VWL_MIX(a, b, ...) __builtin_shuffle(a, b, (vwl_i4){__VA_ARGS__})
#endif

/* Four slots, stored by column. */
typedef struct {
    vwl_slot w, g, n, r;
} vwl_four;

/* Load four slots in pairs: w w G G of the first two slots, of the last two, then N N r r of the same. */
static inline void vwl_read_pairs(const float *table, const uint32_t *index, vwl_f4 pair[4]) {
    vwl_f4 slot[4];
    for (int k = 0; k < 4; k++) slot[k] = *(const vwl_slot *)(table + 4 * (size_t)index[k]);
    for (int k = 0; k < 2; k++) {
        pair[k] = VWL_MIX(slot[2 * k], slot[2 * k + 1], 0, 4, 1, 5);
        pair[2 + k] = VWL_MIX(slot[2 * k], slot[2 * k + 1], 2, 6, 3, 7);
    }
}

/* Store four slots from pairs: w G w G of the first two slots, of the last two, then N r N r of the same. */
static inline void vwl_write_pairs(const vwl_f4 pair[4], float *table, const uint32_t *index) {
    for (int k = 0; k < 2; k++) {
        *(vwl_slot *)(table + 4 * (size_t)index[2 * k]) = VWL_MIX(pair[k], pair[2 + k], 0, 1, 4, 5);
        *(vwl_slot *)(table + 4 * (size_t)index[2 * k + 1]) = VWL_MIX(pair[k], pair[2 + k], 2, 3, 6, 7);
    }
}

static inline void vwl_read_four(const float *table, const uint32_t *index, vwl_four *four) {
    vwl_f4 pair[4];
    vwl_read_pairs(table, index, pair);
    four->w = VWL_MIX(pair[0], pair[1], 0, 1, 4, 5);
    four->g = VWL_MIX(pair[0], pair[1], 2, 3, 6, 7);
    four->n = VWL_MIX(pair[2], pair[3], 0, 1, 4, 5);
    four->r = VWL_MIX(pair[2], pair[3], 2, 3, 6, 7);
}

static inline void vwl_write_four(const vwl_four *four, float *table, const uint32_t *index) {
    const vwl_f4 w = four->w, g = four->g, n = four->n, r = four->r;
    const vwl_f4 pair[4] = {VWL_MIX(w, g, 0, 4, 1, 5), VWL_MIX(w, g, 2, 6, 3, 7),
                            VWL_MIX(n, r, 0, 4, 1, 5), VWL_MIX(n, r, 2, 6, 3, 7)};
    vwl_write_pairs(pair, table, index);
}

/* A mask of the terms of four that share a slot with one of the two terms after them, cyclically: 0 if all slots are distinct. */
static inline vwl_i4 vwl_shared(const uint32_t *index) {
    vwl_i4 slots;
    memcpy(&slots, index, 16);
    return (slots == VWL_MIX(slots, slots, 1, 2, 3, 0)) | (slots == VWL_MIX(slots, slots, 2, 3, 0, 1));
}

/* Update G and N, compute r, and add to reach and norm. Returns 0 and changes nothing where a lane of `odd` is set or a term is
 * unusual: its |x| is larger than any before, or its square is subnormal or not finite. */
static inline int vwl_rate_four(vwl_f4 *g, vwl_f4 *largest, vwl_f4 *r, const float *value, float gradient, vwl_i4 odd,
                                float *reach, float *norm) {
    vwl_f4 x, x2, n = *largest, rate, share;
    vwl_i4 fresh = n == 0.0f, size, kept; /* slots not seen before */
    memcpy(&x, value, 16);
    memcpy(&size, value, 16);
    memcpy(&kept, &n, 16);
    kept |= size & fresh & 0x7fffffff;
    memcpy(&n, &kept, 16);
    x2 = x * x;
    if (vwl_any(~((x2 >= VWL_MIN_SQUARE) & (x2 <= VWL_FLOAT_MAX) & (x <= n) & (-x <= n)) | odd)) return 0;
    *g += gradient * x2;
    rate = *g;
    for (int k = 0; k < 4; k++) rate[k] = sqrtf(rate[k]);
    rate = 1.0f / rate;
    share = x2;
    if (vwl_any(n != 1.0f)) { /* categorical features have N = 1, and dividing by it changes nothing */
        rate *= 1.0f / n;
        share /= n * n;
    }
    *largest = n;
    *r = rate;
    for (int k = 0; k < 4; k++) *norm += share[k];
    share = x2 * rate;
    for (int k = 0; k < 4; k++) *reach += share[k];
    return 1;
}

/* vwl_rate_four on four slots of the table. Returns 0 also where two terms share a slot. Weights are not changed. */
static inline int vwl_scan_four(float *table, const uint32_t *index, const float *value, float gradient, float *reach,
                                float *norm) {
    vwl_f4 pair[4], g, n, r;
    vwl_read_pairs(table, index, pair);
    g = VWL_MIX(pair[0], pair[1], 2, 3, 6, 7);
    n = VWL_MIX(pair[2], pair[3], 0, 1, 4, 5);
    if (!vwl_rate_four(&g, &n, &r, value, gradient, vwl_shared(index), reach, norm)) return 0;
    pair[0] = VWL_MIX(pair[0], g, 0, 4, 1, 5);
    pair[1] = VWL_MIX(pair[1], g, 0, 6, 1, 7);
    pair[2] = VWL_MIX(n, r, 0, 4, 1, 5);
    pair[3] = VWL_MIX(n, r, 2, 6, 3, 7);
    vwl_write_pairs(pair, table, index);
    return 1;
}

/* Copy four slots, store `tag` in their last column, and add w x to sum. Returns whether a slot had the tag already or is
 * repeated. */
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
    vwl_four *four = (vwl_four *)copy;
    vwl_f4 g = four->g, n = four->n, r;
    if (!vwl_rate_four(&g, &n, &r, value, gradient, (vwl_i4){0}, reach, norm)) return 0;
    four->g = g;
    four->n = n;
    four->r = r;
    return 1;
}

/* Store the copies back to the table; if `moves`, with w += step (x r) where x is finite. */
static inline void vwl_write_back_four(const float *copy, float *table, const uint32_t *index, const float *value, int moves,
                                       float step) {
    vwl_four four = *(const vwl_four *)copy;
    if (moves) {
        vwl_f4 x, moved;
        vwl_i4 keep, bits, kept;
        memcpy(&x, value, 16);
        moved = four.w + step * (x * four.r);
        keep = (x <= VWL_FLOAT_MAX) & (-x <= VWL_FLOAT_MAX);
        memcpy(&bits, &moved, 16);
        memcpy(&kept, &four.w, 16);
        bits = (bits & keep) | (kept & ~keep);
        memcpy(&four.w, &bits, 16);
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
static inline void vwl_write_back_four(const float *copy, float *table, const uint32_t *index, const float *value, int moves,
                                       float step) {
    (void)copy, (void)table, (void)index, (void)value, (void)moves, (void)step;
}
#endif

#endif
