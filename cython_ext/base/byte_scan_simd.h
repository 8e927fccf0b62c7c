/* The part of classes_lanes.h that comes in two widths: of all lanes, and of half of them for a block of few classes. */

#define WIDE_FLOATS VWL_JOIN(vwl_f, WIDE)
#define WIDE_WORDS VWL_JOIN(vwl_i, WIDE)
#define WIDE_ROW VWL_JOIN(vwl_row, WIDE)
#define WIDE_ALL VWL_JOIN(LANES_WHOLE, WIDE)

static inline __attribute__((always_inline)) LANES_TARGET void WIDE_NAME(root)(WIDE_FLOATS *x) {
#if WIDE == 16
    *x = (vwl_f16)_mm512_sqrt_ps((__m512)*x);
#else
    float lanes[WIDE];
    memcpy(lanes, x, sizeof lanes);
    for (int j = 0; j < WIDE; j++) lanes[j] = sqrtf(lanes[j]);
    memcpy(x, lanes, sizeof lanes);
#endif
}

/* scan from term i on, as far as terms are usual ones; returns where that ends. Sums stay in registers. */
static inline __attribute__((always_inline)) LANES_TARGET size_t WIDE_NAME(scan_usual)(
    float *table, const uint32_t *index, const float *value, size_t i, size_t n, vwl_block *block, const vwl_scales *scales,
    float *r) {
    WIDE_FLOATS gradient, reach = *(WIDE_ROW *)block->reach, norm = *(WIDE_ROW *)block->norm;
    WIDE_WORDS dead;
    const int tells = block->first && !scales->distinct;
    memcpy(&gradient, block->gradient, sizeof gradient);
    memcpy(&dead, block->dead, sizeof dead);
    for (; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        float x = value[i], x2 = x * x, largest = slots[2 * LANES];
        WIDE_FLOATS g = *(WIDE_ROW *)(slots + LANES), scale = *(WIDE_ROW *)(slots + 2 * LANES);
        WIDE_WORDS same = (scale == largest - (WIDE_FLOATS){0}) | dead;
        if (!(x2 >= VWL_LEAST_SQUARE && x2 <= VWL_LARGEST && fabsf(x) <= largest && WIDE_ALL(same))) break;
        g += gradient * x2;
        *(WIDE_ROW *)(slots + LANES) = g;
        if (tells) memcpy(slots + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
        WIDE_NAME(root)(&g);
        if (scales->largest[i] != largest) {
            scales->largest[i] = largest;
            scales->inverse[i] = 1.0f / largest;
            scales->share[i] = x2 / (largest * largest);
        }
        g = 1.0f / g * scales->inverse[i];
        norm += scales->share[i];
        reach += x2 * g;
        *(WIDE_ROW *)(r + LANES * i) = g;
    }
    *(WIDE_ROW *)block->reach = reach;
    *(WIDE_ROW *)block->norm = norm;
    return i;
}

/* scan where all terms are usual ones and the block's scales are those of `scales`. */
static LANES_TARGET void WIDE_NAME(scan_all_usual)(float *table, const uint32_t *restrict index, const float *restrict value,
                                                   size_t n, vwl_block *block, const vwl_scales *scales, float *restrict r) {
    const float *restrict inverse = scales->inverse, *restrict share = scales->share;
    WIDE_FLOATS gradient, reach = *(WIDE_ROW *)block->reach, norm = *(WIDE_ROW *)block->norm;
    memcpy(&gradient, block->gradient, sizeof gradient);
    for (size_t i = 0; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i], x2 = value[i] * value[i];
        WIDE_FLOATS g = *(WIDE_ROW *)(slots + LANES) + gradient * x2;
        *(WIDE_ROW *)(slots + LANES) = g;
        WIDE_NAME(root)(&g);
        g = 1.0f / g * inverse[i];
        norm += share[i];
        reach += x2 * g;
        *(WIDE_ROW *)(r + LANES * i) = g;
    }
    for (size_t i = 0; i < (block->first && !scales->distinct ? n : 0); i++)
        memcpy(table + 4 * (size_t)index[i] + 3 * LANES, &(uint32_t){(uint32_t)i}, 4);
    *(WIDE_ROW *)block->reach = reach;
    *(WIDE_ROW *)block->norm = norm;
}

#undef WIDE_FLOATS
#undef WIDE_WORDS
#undef WIDE_ROW
#undef WIDE_ALL
