/* LANES classes at a time, eight or sixteen; included once for each instruction set by classes.h, which says what SIMD_NAME and
 * SIMD_TARGET are.
 *
 * Slots of a feature's classes follow each other, four floats w, G, N, r each. While classes learn, the slots of a block are
 * turned: its w, its G, its N, its r. Every sum has the order of the plain kernel, class by class, so that results are the same
 * bytes. */

#define FLOATS VWL_JOIN(vwl_f, LANES)
#define WORDS VWL_JOIN(vwl_i, LANES)
#define ROW VWL_JOIN(vwl_row, LANES)
#define LANES_ALL VWL_JOIN(LANES_WHOLE, LANES)

#define SCAN_NAME(name) SIMD_NAME(name)
#define SCAN_WIDTH LANES
#include "learners/class_scan_simd.h"
#undef SCAN_NAME
#undef SCAN_WIDTH
#define SCAN_NAME(name) SIMD_NAME(name##_narrow)
#if LANES == 16
#define SCAN_WIDTH 8
#else
#define SCAN_WIDTH 4
#endif
#include "learners/class_scan_simd.h"
#undef SCAN_NAME
#undef SCAN_WIDTH

/* raw[c] = base + sum of w x, the terms in order, where weights follow each other: slots of nothing else (stride 1), or turned
 * ones (stride 4). */
static SIMD_TARGET void SIMD_NAME(score_row)(const float *table, size_t stride, const uint32_t *index, const float *value,
                                               size_t n, float base, float *raw) {
    FLOATS sum = base - (FLOATS){0};
    for (size_t i = 0; i < n; i++) sum += *(const ROW *)(table + stride * index[i]) * value[i];
    memcpy(raw, &sum, sizeof sum);
}

/* A term whose scales differ between the classes, that is larger than any before it, or whose square is no ordinary number. */
static __attribute__((noinline)) SIMD_TARGET void SIMD_NAME(scan_apart)(float *slots, float x, vwl_block *block, float *r) {
    float x2 = x * x;
    FLOATS g = *(ROW *)(slots + LANES), scale = *(ROW *)(slots + 2 * LANES), gradient, scale2 = scale * scale, share;
    WORDS active, whole = scale2 == x2, fits;
    memcpy(&active, block->active, sizeof active);
    memcpy(&gradient, block->gradient, sizeof gradient);
    fits = (fabsf(x) <= scale) | ~active; /* classes without a loss have missed a larger x */
    if (x2 >= VWL_MIN_SQUARE && x2 <= VWL_FLOAT_MAX && LANES_ALL(fits)) {
        g += gradient * x2;
        *(ROW *)(slots + LANES) = g;
        SIMD_NAME(root)(&g);
        share = x2 / scale2;
        share = (FLOATS)(((WORDS)share & ~whole) | ((WORDS)((FLOATS){0} + 1.0f) & whole));
        g = 1.0f / g * (1.0f / scale);
        *(ROW *)block->norm += share;
        *(ROW *)block->reach += x2 * g;
        *(ROW *)r = g;
        return;
    }
    for (int c = 0; c < LANES; c++) {
        float slot[4] = {slots[c], slots[LANES + c], slots[2 * LANES + c], 0};
        r[c] = 0;
        if (block->active[c]) {
            r[c] = block->scan_one(slot, x, block->gradient[c], block->reach + c, block->norm + c);
            for (int k = 0; k < 3; k++) slots[LANES * k + c] = slot[k];
        }
    }
}

/* For the first block, the divisions of all terms by the first class's N: in a loop of their own they go many at a time. Answers
 * whether all terms are usual ones, whose x was met before and has an ordinary square, and all classes have the same scales. */
static SIMD_TARGET int SIMD_NAME(find_scales)(const float *table, const uint32_t *index, const float *value, size_t n,
                                                const vwl_block *block, vwl_scales *scales) {
    float *restrict largest = scales->largest, *restrict inverse = scales->inverse, *restrict share = scales->share;
    uint32_t rare = 0;
    WORDS dead, same;
    memcpy(&dead, block->dead, sizeof dead);
    same = dead | ~dead;
    for (size_t i = 0; i < n; i++) {
        const float *scale = table + 4 * (size_t)index[i] + 2 * LANES;
        if (block->first) largest[i] = *scale;
        same &= (*(const ROW *)scale == largest[i] - (FLOATS){0}) | dead;
    }
    for (size_t i = 0; i < (block->first ? n : 0); i++) {
        const float x = value[i], x2 = x * x, scale = largest[i];
        rare |= !(x2 >= VWL_MIN_SQUARE) | !(x2 <= VWL_FLOAT_MAX) | !(fabsf(x) <= scale);
        inverse[i] = 1.0f / scale;
        share[i] = x2 / (scale * scale);
    }
    if (block->first) scales->usual = !rare;
    return scales->usual && LANES_ALL(same);
}

/* Whether no two terms share slots, as a glance tells: slots ascend, but for the last term (mostly the constant). */
static SIMD_TARGET int32_t SIMD_NAME(are_distinct)(const uint32_t *index, size_t n) {
    const uint32_t last = index[n - 1];
    uint32_t shared = 0;
    for (size_t i = 0; i + 1 < n; i++) shared |= index[i] == last;
    for (size_t i = 0; i + 2 < n; i++) shared |= index[i] >= index[i + 1];
    return !shared;
}

/* Bring G and N of a turned block up to date, add to its reach and norm, and leave every term's rates in r. The first block's
 * first r tells the last term that met the slot, since that one's rates are everybody's; where terms are distinct, it need not. */
static SIMD_TARGET void SIMD_NAME(scan)(float *table, const uint32_t *index, const float *value, size_t n,
                                          vwl_block *block, vwl_scales *scales, float *r) {
    const int narrow = block->dead[LANES / 2] != 0, usual = SIMD_NAME(find_scales)(table, index, value, n, block, scales);
    if (block->first) scales->distinct = SIMD_NAME(are_distinct)(index, n);
    if (usual && narrow) SIMD_NAME(scan_all_usual_narrow)(table, index, value, n, block, scales, r);
    else if (usual) SIMD_NAME(scan_all_usual)(table, index, value, n, block, scales, r);
    for (size_t i = usual ? n : 0; i < n; i++) {
        i = narrow ? SIMD_NAME(scan_usual_narrow)(table, index, value, i, n, block, scales, r)
                   : SIMD_NAME(scan_usual)(table, index, value, i, n, block, scales, r);
        if (i == n) return;
        float *slots = table + 4 * (size_t)index[i];
        SIMD_NAME(scan_apart)(slots, value[i], block, r + LANES * i);
        if (block->first && !scales->distinct) memcpy(slots + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
    }
}

/* w += step x r for the lanes of a turned block that learn. */
static SIMD_TARGET void SIMD_NAME(apply)(float *table, const uint32_t *index, const float *value, size_t n,
                                           const vwl_block *block, const vwl_scales *scales, const float *r) {
    const FLOATS zero = -(FLOATS){0};
    FLOATS step;
    WORDS learns;
    memcpy(&step, block->step, sizeof step);
    memcpy(&learns, block->learns, sizeof learns);
    for (size_t i = 0; i < (scales->distinct ? n : 0); i++) {
        const FLOATS move = step * (value[i] * *(const ROW *)(r + LANES * i));
        *(ROW *)(table + 4 * (size_t)index[i]) += (FLOATS)(((WORDS)move & learns) | ((WORDS)zero & ~learns));
    }
    for (size_t i = 0; i < (scales->distinct ? 0 : n); i++) {
        float *slots = table + 4 * (size_t)index[i];
        FLOATS move;
        if (block->first) memcpy(scales->last + i, slots + 3 * LANES, 4);
        move = step * (value[i] * *(const ROW *)(r + LANES * (size_t)scales->last[i]));
        *(ROW *)slots += (FLOATS)(((WORDS)move & learns) | ((WORDS)zero & ~learns));
    }
}

#undef FLOATS
#undef WORDS
#undef ROW
#undef LANES_ALL
