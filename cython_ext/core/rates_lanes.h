/* The usual update's rates (adaptive, normalised, power_t 0.5) of four terms at a time, in the compiler's own vectors.
 * Results are those of scan_term in core/rates.pxd, bit by bit: sums have the order of the terms. */
#ifndef VWLITE_RATES_LANES_H
#define VWLITE_RATES_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/lanes.h"

#if VWL_HAS_LANES
typedef float vwl_slot __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define VWL_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VWL_MIX(a, b, ...) __builtin_shuffle(a, b, (vwl_i4){__VA_ARGS__})
#endif

/* Bring four slots up to date and add to reach and norm. 0, and nothing done, where two terms share a slot, an input is larger
 * than any before it, or its square is not an ordinary number. */
static inline int vwl_scan_four(float *table, const uint32_t *index, const float *value, float gradient, float *reach,
                                float *norm) {
    vwl_slot *slot[4];
    vwl_i4 place;
    vwl_f4 x, x2, low, high, also_low, also_high, g, n, rate, share;
    memcpy(&place, index, 16);
    memcpy(&x, value, 16);
    for (int k = 0; k < 4; k++) slot[k] = (vwl_slot *)(table + 4 * (size_t)index[k]);
    low = VWL_MIX((vwl_f4)*slot[0], (vwl_f4)*slot[1], 0, 4, 1, 5); /* w w G G */
    high = VWL_MIX((vwl_f4)*slot[2], (vwl_f4)*slot[3], 0, 4, 1, 5);
    also_low = VWL_MIX((vwl_f4)*slot[0], (vwl_f4)*slot[1], 2, 6, 3, 7); /* N N r r */
    also_high = VWL_MIX((vwl_f4)*slot[2], (vwl_f4)*slot[3], 2, 6, 3, 7);
    g = VWL_MIX(low, high, 2, 3, 6, 7);
    n = VWL_MIX(also_low, also_high, 0, 1, 4, 5);
    x2 = x * x;
    if (vwl_any(~((x2 >= 1.175494351e-38f) & (x2 <= 3.402823466e+38f) & (x <= n) & (-x <= n)) |
                (place == VWL_MIX(place, place, 1, 2, 3, 0)) | (place == VWL_MIX(place, place, 2, 3, 0, 1))))
        return 0;
    g += gradient * x2;
    rate = g;
    for (int k = 0; k < 4; k++) rate[k] = sqrtf(rate[k]);
    rate = 1.0f / rate * (1.0f / n);
    share = x2 / (n * n);
    low = VWL_MIX(low, g, 0, 4, 1, 5); /* w G w G of the first two; the lanes of w keep their order */
    high = VWL_MIX(high, g, 0, 6, 1, 7);
    also_low = VWL_MIX(n, rate, 0, 4, 1, 5);
    also_high = VWL_MIX(n, rate, 2, 6, 3, 7);
    *slot[0] = VWL_MIX(low, also_low, 0, 1, 4, 5);
    *slot[1] = VWL_MIX(low, also_low, 2, 3, 6, 7);
    *slot[2] = VWL_MIX(high, also_high, 0, 1, 4, 5);
    *slot[3] = VWL_MIX(high, also_high, 2, 3, 6, 7);
    for (int k = 0; k < 4; k++) *norm += share[k];
    share = x2 * rate;
    for (int k = 0; k < 4; k++) *reach += share[k];
    return 1;
}
#else
static inline int vwl_scan_four(float *table, const uint32_t *index, const float *value, float gradient, float *reach,
                                float *norm) {
    (void)table, (void)index, (void)value, (void)gradient, (void)reach, (void)norm;
    return 0;
}
#endif

#endif
