/* The scans of class_blocks_simd.h, included there twice: with SCAN_WIDTH = LANES, and with half of that for blocks of few
 * classes. SCAN_NAME gives the functions of each width names of their own. */

#define SCAN_FLOATS VWL_JOIN(vwl_f, SCAN_WIDTH)
#define SCAN_WORDS VWL_JOIN(vwl_i, SCAN_WIDTH)
#define SCAN_ROW VWL_JOIN(vwl_row, SCAN_WIDTH)
#define ALL_SCANNED_SET VWL_JOIN(ALL_SET, SCAN_WIDTH)

static inline __attribute__((always_inline)) SIMD_TARGET void SCAN_NAME(root)(SCAN_FLOATS *x) {
#if SCAN_WIDTH == 16
    *x = (vwl_f16)_mm512_sqrt_ps((__m512)*x);
#else
    float lanes[SCAN_WIDTH];
    memcpy(lanes, x, sizeof lanes);
    for (int j = 0; j < SCAN_WIDTH; j++) lanes[j] = sqrtf(lanes[j]);
    memcpy(x, lanes, sizeof lanes);
#endif
}

/* Scan from term i on up to the first unusual term, whose number is returned. Sums stay in registers. */
static inline __attribute__((always_inline)) SIMD_TARGET size_t SCAN_NAME(scan_usual)(
    float *table, const uint32_t *index, const float *value, size_t i, size_t n, vwl_block *block, const vwl_scales *scales,
    float *r) {
    SCAN_FLOATS gradient, reach = *(SCAN_ROW *)block->reach, norm = *(SCAN_ROW *)block->norm;
    SCAN_WORDS unused;
    const int record_last = block->first && !scales->distinct;
    memcpy(&gradient, block->gradient, sizeof gradient);
    memcpy(&unused, block->unused, sizeof unused);
    for (; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        float x = value[i], x2 = x * x, largest = slots[2 * LANES];
        SCAN_FLOATS g = *(SCAN_ROW *)(slots + LANES), scale = *(SCAN_ROW *)(slots + 2 * LANES);
        SCAN_WORDS same = (scale == largest - (SCAN_FLOATS){0}) | unused;
        if (!(x2 >= VWL_MIN_SQUARE && x2 <= VWL_FLOAT_MAX && fabsf(x) <= largest && ALL_SCANNED_SET(same))) break;
        g += gradient * x2;
        *(SCAN_ROW *)(slots + LANES) = g;
        if (record_last) memcpy(slots + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
        SCAN_NAME(root)(&g);
        if (scales->largest[i] != largest) {
            scales->largest[i] = largest;
            scales->inverse[i] = 1.0f / largest;
            scales->share[i] = x2 / (largest * largest);
        }
        g = 1.0f / g * scales->inverse[i];
        norm += scales->share[i];
        reach += x2 * g;
        *(SCAN_ROW *)(r + LANES * i) = g;
    }
    *(SCAN_ROW *)block->reach = reach;
    *(SCAN_ROW *)block->norm = norm;
    return i;
}

/* Scan where all terms are usual and the block's scales are those of `scales`. */
static SIMD_TARGET void SCAN_NAME(scan_all_usual)(float *table, const uint32_t *restrict index, const float *restrict value,
                                                  size_t n, vwl_block *block, const vwl_scales *scales, float *restrict r) {
    const float *restrict inverse = scales->inverse, *restrict share = scales->share;
    SCAN_FLOATS gradient, reach = *(SCAN_ROW *)block->reach, norm = *(SCAN_ROW *)block->norm;
    memcpy(&gradient, block->gradient, sizeof gradient);
    for (size_t i = 0; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i], x2 = value[i] * value[i];
        SCAN_FLOATS g = *(SCAN_ROW *)(slots + LANES) + gradient * x2;
        *(SCAN_ROW *)(slots + LANES) = g;
        SCAN_NAME(root)(&g);
        g = 1.0f / g * inverse[i];
        norm += share[i];
        reach += x2 * g;
        *(SCAN_ROW *)(r + LANES * i) = g;
    }
    for (size_t i = 0; i < (block->first && !scales->distinct ? n : 0); i++)
        memcpy(table + 4 * (size_t)index[i] + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
    *(SCAN_ROW *)block->reach = reach;
    *(SCAN_ROW *)block->norm = norm;
}

#undef SCAN_FLOATS
#undef SCAN_WORDS
#undef SCAN_ROW
#undef ALL_SCANNED_SET
