/* Kernels for blocks of LANES classes, eight or sixteen. class_blocks.h includes this file once for each instruction set and
 * defines LANES, SIMD_NAME, SIMD_TARGET and VECTOR, the lanes of a register.
 *
 * The slots of a feature's classes are contiguous, four floats w, G, N, r each. While classes learn, the slots of a block are
 * transposed: all w, all G, all N, all r. Each class's sums are taken in the same order as in the scalar kernel, so results are
 * the same bytes. */

#define FLOATS VWL_JOIN(vwl_f, LANES)
#define WORDS VWL_JOIN(vwl_i, LANES)
#define ROW VWL_JOIN(vwl_row, LANES)
#define ALL_LANES_SET VWL_JOIN(ALL_SET, LANES)
#define PARTS (LANES / VECTOR) /* of a row of lanes: GCC keeps a vector of two registers in memory */
#define PART VWL_JOIN(vwl_f, VECTOR)
#define PART_WORDS VWL_JOIN(vwl_i, VECTOR)
#define PART_ROW VWL_JOIN(vwl_row, VECTOR)

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

#if LANES == 16
#define EVERY_FOURTH(a, b, k) \
    VWL_SHUFFLE16(a, b, k, k + 4, k + 8, k + 12, k + 16, k + 20, k + 24, k + 28, k + 1, k + 5, k + 9, k + 13, k + 17, k + 21, \
                  k + 25, k + 29)
#define HALVES(a, b, k) \
    VWL_SHUFFLE16(a, b, k, k + 1, k + 2, k + 3, k + 4, k + 5, k + 6, k + 7, k + 16, k + 17, k + 18, k + 19, k + 20, k + 21, \
                  k + 22, k + 23)
#define IN_TURN(a, b, k) \
    VWL_SHUFFLE16(a, b, k, k + 8, k + 16, k + 24, k + 1, k + 9, k + 17, k + 25, k + 2, k + 10, k + 18, k + 26, k + 3, k + 11, \
                  k + 19, k + 27)
#else
#define EVERY_FOURTH(a, b, k) VWL_SHUFFLE(a, b, k, k + 4, k + 8, k + 12, k + 1, k + 5, k + 9, k + 13)
#define HALVES(a, b, k) VWL_SHUFFLE(a, b, k, k + 1, k + 2, k + 3, k + 8, k + 9, k + 10, k + 11)
#define IN_TURN(a, b, k) VWL_SHUFFLE(a, b, k, k + 4, k + 8, k + 12, k + 1, k + 5, k + 9, k + 13)
#endif

/* From order by slot to order by column, and back. The vectors between hold two columns of half the slots each. */
static SIMD_TARGET void SIMD_NAME(transpose)(float *slots) {
    ROW *row = (ROW *)slots;
    FLOATS pair[4];
    for (int k = 0; k < 2; k++) {
        pair[k] = EVERY_FOURTH((FLOATS)row[2 * k], (FLOATS)row[2 * k + 1], 0);
        pair[2 + k] = EVERY_FOURTH((FLOATS)row[2 * k], (FLOATS)row[2 * k + 1], 2);
    }
    for (int k = 0; k < 2; k++) {
        row[2 * k] = HALVES(pair[2 * k], pair[2 * k + 1], 0);
        row[2 * k + 1] = HALVES(pair[2 * k], pair[2 * k + 1], LANES / 2);
    }
}

static SIMD_TARGET void SIMD_NAME(transpose_back)(float *slots) {
    ROW *row = (ROW *)slots;
    FLOATS pair[4];
    for (int k = 0; k < 2; k++) {
        pair[k] = HALVES((FLOATS)row[2 * k], (FLOATS)row[2 * k + 1], 0);
        pair[2 + k] = HALVES((FLOATS)row[2 * k], (FLOATS)row[2 * k + 1], LANES / 2);
    }
    for (int k = 0; k < 2; k++) {
        row[2 * k] = IN_TURN(pair[2 * k], pair[2 * k + 1], 0);
        row[2 * k + 1] = IN_TURN(pair[2 * k], pair[2 * k + 1], LANES / 4);
    }
}

#undef EVERY_FOURTH
#undef HALVES
#undef IN_TURN

/* raw[c] = initial + w x, in the order of the terms, where the weights of a block are contiguous: slots of one
 * weight (stride 1), or transposed ones (stride 4). */
static SIMD_TARGET void SIMD_NAME(score_row)(const float *table, size_t stride, const uint32_t *index, const float *value,
                                             size_t n, float initial, float *raw) {
    PART sum[PARTS];
    for (int p = 0; p < PARTS; p++) sum[p] = initial - (PART){0};
    for (size_t i = 0; i < n; i++)
        for (int p = 0; p < PARTS; p++) sum[p] += *(const PART_ROW *)(table + stride * index[i] + VECTOR * p) * value[i];
    memcpy(raw, sum, sizeof sum);
}

static inline __attribute__((always_inline)) SIMD_TARGET void SIMD_NAME(roots)(FLOATS *x) {
    PART part[PARTS];
    memcpy(part, x, sizeof part);
    for (int p = 0; p < PARTS; p++) SIMD_NAME(root)(part + p);
    memcpy(x, part, sizeof part);
}

/* Scan a term whose scales differ between the classes, whose |x| is larger than any before, or whose square is subnormal or not
 * finite. */
static __attribute__((noinline)) SIMD_TARGET void SIMD_NAME(scan_unusual)(float *slots, float x, vwl_block *block, float *r) {
    float x2 = x * x;
    FLOATS g = *(ROW *)(slots + LANES), scale = *(ROW *)(slots + 2 * LANES), gradient, scale2 = scale * scale, share;
    WORDS active, whole = scale2 == x2, fits;
    memcpy(&active, block->active, sizeof active);
    memcpy(&gradient, block->gradient, sizeof gradient);
    fits = (fabsf(x) <= scale) | ~active; /* classes without a loss may not have seen the largest |x| */
    if (x2 >= VWL_MIN_SQUARE && x2 <= VWL_FLOAT_MAX && ALL_LANES_SET(fits)) {
        g += gradient * x2;
        *(ROW *)(slots + LANES) = g;
        SIMD_NAME(roots)(&g);
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

/* For the first block, divide by the first class's N for all terms, in a loop that is vectorised. Returns whether all terms are
 * usual, which means that |x| is not larger than any before and its square is normal, and all classes have the same scales. */
static SIMD_TARGET int SIMD_NAME(find_scales)(const float *table, const uint32_t *index, const float *value, size_t n,
                                              const vwl_block *block, vwl_scales *scales) {
    float *restrict largest = scales->largest, *restrict inverse = scales->inverse, *restrict share = scales->share;
    uint32_t rare = 0;
    PART_WORDS unused[PARTS], same[PARTS];
    memcpy(unused, block->unused, sizeof unused);
    for (int p = 0; p < PARTS; p++) same[p] = unused[p] | ~unused[p];
    for (size_t i = 0; i < n; i++) {
        const float *scale = table + 4 * (size_t)index[i] + 2 * LANES;
        if (block->first) largest[i] = *scale;
        for (int p = 0; p < PARTS; p++)
            same[p] &= (*(const PART_ROW *)(scale + VECTOR * p) == largest[i] - (PART){0}) | unused[p];
    }
    for (int p = 1; p < PARTS; p++) same[0] &= same[p];
    for (size_t i = 0; i < (block->first ? n : 0); i++) {
        const float x = value[i], x2 = x * x, scale = largest[i];
        rare |= !(x2 >= VWL_MIN_SQUARE) | !(x2 <= VWL_FLOAT_MAX) | !(fabsf(x) <= scale);
        inverse[i] = 1.0f / scale;
        share[i] = x2 / (scale * scale);
    }
    if (block->first) scales->usual = !rare;
    return scales->usual && VWL_JOIN(ALL_SET, VECTOR)(same[0]);
}

/* Whether no two terms share slots, by a quick test: all slots but the last (mostly the constant's) ascend. May be 0 wrongly. */
static SIMD_TARGET int32_t SIMD_NAME(are_distinct)(const uint32_t *index, size_t n) {
    const uint32_t last = index[n - 1];
    uint32_t shared = 0;
    for (size_t i = 0; i + 1 < n; i++) shared |= index[i] == last;
    for (size_t i = 0; i + 2 < n; i++) shared |= index[i] >= index[i + 1];
    return !shared;
}

/* Update G and N of a transposed block, add to its reach and norm, and store the rates of every term in r. Terms that share a
 * slot all use the rates of the last one, whose number is kept in the first r of the first block, unless terms are distinct. */
static SIMD_TARGET void SIMD_NAME(scan)(float *table, const uint32_t *index, const float *value, size_t n,
                                        vwl_block *block, vwl_scales *scales, float *r) {
    const int narrow = block->unused[LANES / 2] != 0, usual = SIMD_NAME(find_scales)(table, index, value, n, block, scales);
    if (block->first) scales->distinct = SIMD_NAME(are_distinct)(index, n);
    if (usual && narrow) SIMD_NAME(scan_all_usual_narrow)(table, index, value, n, block, scales, r);
    else if (usual) SIMD_NAME(scan_all_usual)(table, index, value, n, block, scales, r);
    for (size_t i = usual ? n : 0; i < n; i++) {
        i = narrow ? SIMD_NAME(scan_usual_narrow)(table, index, value, i, n, block, scales, r)
                   : SIMD_NAME(scan_usual)(table, index, value, i, n, block, scales, r);
        if (i == n) return;
        float *slots = table + 4 * (size_t)index[i];
        SIMD_NAME(scan_unusual)(slots, value[i], block, r + LANES * i);
        if (block->first && !scales->distinct) memcpy(slots + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
    }
}

/* w += step x r for the classes of a transposed block that learn. */
static SIMD_TARGET void SIMD_NAME(apply)(float *table, const uint32_t *index, const float *value, size_t n,
                                         const vwl_block *block, const vwl_scales *scales, const float *r) {
    const PART zero = -(PART){0};
    PART step[PARTS];
    PART_WORDS learns[PARTS];
    memcpy(step, block->step, sizeof step);
    memcpy(learns, block->learns, sizeof learns);
    for (size_t i = 0; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        const float *rates = r + LANES * i;
        if (!scales->distinct) {
            if (block->first) memcpy(scales->last + i, slots + 3 * LANES, 4);
            rates = r + LANES * (size_t)scales->last[i];
        }
        for (int p = 0; p < PARTS; p++) {
            const PART move = step[p] * (value[i] * *(const PART_ROW *)(rates + VECTOR * p));
            *(PART_ROW *)(slots + VECTOR * p) += (PART)(((PART_WORDS)move & learns[p]) | ((PART_WORDS)zero & ~learns[p]));
        }
    }
}

#undef PARTS
#undef PART
#undef PART_WORDS
#undef PART_ROW
#undef FLOATS
#undef WORDS
#undef ROW
#undef ALL_LANES_SET
