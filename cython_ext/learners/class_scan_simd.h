/* The scans of class_blocks_simd.h, included there twice: with SCAN_WIDTH = LANES, and with half of that for blocks of few
 * classes. SCAN_NAME gives the functions of each width names of their own. Where a register holds fewer lanes (VECTOR), a row of
 * lanes is computed in parts. */

#if SCAN_WIDTH < VECTOR
#define SCAN_VECTOR SCAN_WIDTH
#else
#define SCAN_VECTOR VECTOR
#endif
#define SCAN_PARTS (SCAN_WIDTH / SCAN_VECTOR)
#define SCAN_FLOATS VWL_JOIN(vwl_f, SCAN_VECTOR)
#define SCAN_WORDS VWL_JOIN(vwl_i, SCAN_VECTOR)
#define SCAN_ROW VWL_JOIN(vwl_row, SCAN_VECTOR)
#define ALL_SCANNED_SET VWL_JOIN(ALL_SET, SCAN_VECTOR)

static inline __attribute__((always_inline)) SIMD_TARGET void SCAN_NAME(root)(SCAN_FLOATS *x) {
#if SCAN_VECTOR == 16
    *x = (vwl_f16)_mm512_sqrt_ps((__m512)*x);
#else
    float lanes[SCAN_VECTOR];
    memcpy(lanes, x, sizeof lanes);
    for (int j = 0; j < SCAN_VECTOR; j++) lanes[j] = sqrtf(lanes[j]);
    memcpy(x, lanes, sizeof lanes);
#endif
}

/* Scan from term i on up to the first unusual term, whose number is returned. Sums stay in registers. */
static inline __attribute__((always_inline)) SIMD_TARGET size_t SCAN_NAME(scan_usual)(
    float *table, const uint32_t *index, const float *value, size_t i, size_t n, vwl_block *block, const vwl_scales *scales,
    float *r) {
    SCAN_FLOATS gradient[SCAN_PARTS], reach[SCAN_PARTS], norm[SCAN_PARTS];
    SCAN_WORDS unused[SCAN_PARTS];
    const int record_last = block->first && !scales->distinct;
    memcpy(gradient, block->gradient, sizeof gradient);
    memcpy(unused, block->unused, sizeof unused);
    memcpy(reach, block->reach, sizeof reach);
    memcpy(norm, block->norm, sizeof norm);
    for (; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        float x = value[i], x2 = x * x, largest = slots[2 * LANES];
        SCAN_WORDS same = (*(SCAN_ROW *)(slots + 2 * LANES) == largest - (SCAN_FLOATS){0}) | unused[0];
        for (int p = 1; p < SCAN_PARTS; p++)
            same &= (*(SCAN_ROW *)(slots + 2 * LANES + SCAN_VECTOR * p) == largest - (SCAN_FLOATS){0}) | unused[p];
        if (!(x2 >= VWL_MIN_SQUARE && x2 <= VWL_FLOAT_MAX && fabsf(x) <= largest && ALL_SCANNED_SET(same))) break;
        if (scales->largest[i] != largest) {
            scales->largest[i] = largest;
            scales->inverse[i] = 1.0f / largest;
            scales->share[i] = x2 / (largest * largest);
        }
        for (int p = 0; p < SCAN_PARTS; p++) {
            SCAN_ROW *squares = (SCAN_ROW *)(slots + LANES + SCAN_VECTOR * p);
            SCAN_FLOATS g = *squares + gradient[p] * x2;
            *squares = g;
            SCAN_NAME(root)(&g);
            g = 1.0f / g * scales->inverse[i];
            norm[p] += scales->share[i];
            reach[p] += x2 * g;
            *(SCAN_ROW *)(r + LANES * i + SCAN_VECTOR * p) = g;
        }
        if (record_last) memcpy(slots + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
    }
    memcpy(block->reach, reach, sizeof reach);
    memcpy(block->norm, norm, sizeof norm);
    return i;
}

/* Scan where all terms are usual and the block's scales are those of `scales`. */
static SIMD_TARGET void SCAN_NAME(scan_all_usual)(float *table, const uint32_t *restrict index, const float *restrict value,
                                                  size_t n, vwl_block *block, const vwl_scales *scales, float *restrict r) {
    const float *restrict inverse = scales->inverse, *restrict share = scales->share;
    SCAN_FLOATS gradient[SCAN_PARTS], reach[SCAN_PARTS], norm[SCAN_PARTS];
    memcpy(gradient, block->gradient, sizeof gradient);
    memcpy(reach, block->reach, sizeof reach);
    memcpy(norm, block->norm, sizeof norm);
    for (size_t i = 0; i < n; i++) {
        const float x2 = value[i] * value[i];
        for (int p = 0; p < SCAN_PARTS; p++) {
            SCAN_ROW *squares = (SCAN_ROW *)(table + 4 * (size_t)index[i] + LANES + SCAN_VECTOR * p);
            SCAN_FLOATS g = *squares + gradient[p] * x2;
            *squares = g;
            SCAN_NAME(root)(&g);
            g = 1.0f / g * inverse[i];
            norm[p] += share[i];
            reach[p] += x2 * g;
            *(SCAN_ROW *)(r + LANES * i + SCAN_VECTOR * p) = g;
        }
    }
    for (size_t i = 0; i < (block->first && !scales->distinct ? n : 0); i++)
        memcpy(table + 4 * (size_t)index[i] + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
    memcpy(block->reach, reach, sizeof reach);
    memcpy(block->norm, norm, sizeof norm);
}

#undef SCAN_VECTOR
#undef SCAN_PARTS
#undef SCAN_FLOATS
#undef SCAN_WORDS
#undef SCAN_ROW
#undef ALL_SCANNED_SET
