/* Eight classes at a time; included once for each instruction set by classes.h, which says what LANES_NAME and LANES_TARGET are.
 *
 * Slots of a feature's classes follow each other, four floats w, G, N, r each. While classes learn, the slots of eight are
 * turned: eight w, eight G, eight N, eight r. Every sum has the order of the plain kernel, class by class, so that results are
 * the same bytes. */

static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(load)(const float *slots, vwl_f8 pairs[4]) {
    for (int k = 0; k < 4; k++) pairs[k] = ((const vwl_rates *)slots)[k];
}

/* The weights of eight slots as they stand in the table; lanes stand for the classes 0 2 4 6 1 3 5 7. */
static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(weights)(const vwl_f8 pairs[4], vwl_f8 *w) {
    vwl_f8 low = VWL_SHUFFLE(pairs[0], pairs[1], 0, 8, 1, 9, 4, 12, 5, 13);
    vwl_f8 high = VWL_SHUFFLE(pairs[2], pairs[3], 0, 8, 1, 9, 4, 12, 5, 13);
    *w = VWL_SHUFFLE(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
}

#define WIDE_NAME(name) LANES_NAME(name)
#define WIDE 8
#define WIDE_FLOATS vwl_f8
#define WIDE_ROW vwl_rates
#define WIDE_WORDS vwl_i8
#define WIDE_ALL LANES_ALL
#include "core/scan_lanes.h"
#define WIDE_NAME(name) LANES_NAME(name##_narrow)
#define WIDE 4
#define WIDE_FLOATS vwl_f4
#define WIDE_ROW vwl_rates4
#define WIDE_WORDS vwl_i4
#define WIDE_ALL LANES_ALL4
#include "core/scan_lanes.h"

/* raw[c] = base + sum of w x, the terms in order, of a block of classes. */
static LANES_TARGET void LANES_NAME(score)(const float *table, const uint32_t *index, const float *value, size_t n,
                                           float base, float *raw) {
    static const int class_of_lane[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    vwl_f8 sum = {base, base, base, base, base, base, base, base}, pairs[4], w;
    for (size_t i = 0; i < n; i++) {
        LANES_NAME(load)(table + 4 * (size_t)index[i], pairs);
        LANES_NAME(weights)(pairs, &w);
        sum += w * value[i];
    }
    for (int j = 0; j < 8; j++) raw[class_of_lane[j]] = sum[j];
}

/* The same where the weights follow each other: slots of nothing else (stride 1), or turned ones (stride 4). */
static LANES_TARGET void LANES_NAME(score_row)(const float *table, size_t stride, const uint32_t *index, const float *value,
                                               size_t n, float base, float *raw) {
    vwl_f8 sum = {base, base, base, base, base, base, base, base}, w;
    for (size_t i = 0; i < n; i++) {
        w = *(const vwl_rates *)(table + stride * index[i]);
        sum += w * value[i];
    }
    memcpy(raw, &sum, sizeof sum);
}

/* A term whose scales differ between the classes, that is larger than any before it, or whose square is no ordinary number. */
static __attribute__((noinline)) LANES_TARGET void LANES_NAME(scan_apart)(float *slots, float x, vwl_block *block, float *r) {
    float x2 = x * x;
    vwl_f8 g = *(vwl_rates *)(slots + 8), scale = *(vwl_rates *)(slots + 16), gradient, scale2 = scale * scale, share;
    vwl_i8 active, whole = scale2 == x2, fits;
    memcpy(&active, block->active, sizeof active);
    memcpy(&gradient, block->gradient, sizeof gradient);
    fits = (fabsf(x) <= scale) | ~active; /* classes without a loss have missed a larger x */
    if (x2 >= VWL_LEAST_SQUARE && x2 <= VWL_LARGEST && LANES_ALL(fits)) {
        g += gradient * x2;
        *(vwl_rates *)(slots + 8) = g;
        LANES_NAME(root)(&g);
        share = x2 / scale2;
        share = (vwl_f8)(((vwl_i8)share & ~whole) | ((vwl_i8)((vwl_f8){0} + 1.0f) & whole));
        g = 1.0f / g * (1.0f / scale);
        *(vwl_rates *)block->norm += share;
        *(vwl_rates *)block->reach += x2 * g;
        *(vwl_rates *)r = g;
        return;
    }
    for (int c = 0; c < 8; c++) {
        float slot[4] = {slots[c], slots[8 + c], slots[16 + c], 0};
        r[c] = 0;
        if (block->active[c]) {
            r[c] = block->scan_one(slot, x, block->gradient[c], block->reach + c, block->norm + c);
            for (int k = 0; k < 3; k++) slots[8 * k + c] = slot[k];
        }
    }
}

/* Bring G and N of a turned block up to date, add to its reach and norm, and leave every term's rates in r. The first block's
 * first r tells the last term that met the slot, since that one's rates are everybody's. */
static LANES_TARGET void LANES_NAME(scan)(float *table, const uint32_t *index, const float *value, size_t n,
                                          vwl_block *block, vwl_scale *scales, vwl_rates *r) {
    const int narrow = block->dead[4] != 0;
    for (size_t i = 0;; i++) {
        i = narrow ? LANES_NAME(scan_usual_narrow)(table, index, value, i, n, block, scales, r)
                   : LANES_NAME(scan_usual)(table, index, value, i, n, block, scales, r);
        if (i == n) return;
        float *slots = table + 4 * (size_t)index[i];
        LANES_NAME(scan_apart)(slots, value[i], block, (float *)(r + i));
        if (block->first) memcpy(slots + 24, &(uint32_t){(uint32_t)i}, 4);
    }
}

/* w += step x r for the lanes of a turned block that learn. */
static LANES_TARGET void LANES_NAME(apply)(float *table, const uint32_t *index, const float *value, size_t n,
                                           const vwl_block *block, vwl_scale *scales, const vwl_rates *r) {
    const vwl_f8 zero = -(vwl_f8){0};
    vwl_f8 step;
    vwl_i8 learns;
    memcpy(&step, block->step, sizeof step);
    memcpy(&learns, block->learns, sizeof learns);
    for (size_t i = 0; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        vwl_f8 move;
        if (block->first) memcpy(&scales[i].last, slots + 24, 4);
        move = step * (value[i] * r[scales[i].last]);
        *(vwl_rates *)slots += (vwl_f8)(((vwl_i8)move & learns) | ((vwl_i8)zero & ~learns));
    }
}
