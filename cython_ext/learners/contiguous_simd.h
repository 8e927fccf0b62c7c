/* Kernels of eight lanes: scores from slots that are not transposed, and the rows of learners/softmax.pyx and outputs.pyx, `width`
 * numbers each, a multiple of eight. class_blocks.h includes this file once for each instruction set. */

static inline __attribute__((always_inline)) SIMD_TARGET void SIMD_NAME(load)(const float *slots, vwl_f8 pairs[4]) {
    for (int k = 0; k < 4; k++) pairs[k] = ((const vwl_row8 *)slots)[k];
}

/* The weights of eight slots that are not transposed; the lanes hold the classes 0 2 4 6 1 3 5 7. */
static inline __attribute__((always_inline)) SIMD_TARGET void SIMD_NAME(weights)(const vwl_f8 pairs[4], vwl_f8 *w) {
    vwl_f8 low = VWL_SHUFFLE(pairs[0], pairs[1], 0, 8, 1, 9, 4, 12, 5, 13);
    vwl_f8 high = VWL_SHUFFLE(pairs[2], pairs[3], 0, 8, 1, 9, 4, 12, 5, 13);
    *w = VWL_SHUFFLE(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
}

/* raw[c] = initial + sum of w x, in the order of the terms, for a block of classes. */
static SIMD_TARGET void SIMD_NAME(score)(const float *table, const uint32_t *index, const float *value, size_t n,
                                         float initial, float *raw) {
    static const int class_of_lane[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    vwl_f8 sum = {initial, initial, initial, initial, initial, initial, initial, initial}, pairs[4], w;
    for (size_t i = 0; i < n; i++) {
        SIMD_NAME(load)(table + 4 * (size_t)index[i], pairs);
        SIMD_NAME(weights)(pairs, &w);
        sum += w * value[i];
    }
    for (int j = 0; j < 8; j++) raw[class_of_lane[j]] = sum[j];
}

/* s[c] += w x for all classes; the weights of term i are row index[i]. */
static SIMD_TARGET void SIMD_NAME(score_rows)(const float *w, const uint32_t *index, const float *value, size_t n,
                                              size_t width, float *s) {
    for (size_t i = 0; i < n; i++) {
        const float *row = w + index[i] * width;
        for (size_t c = 0; c < width; c += 8) {
            vwl_f8 sum = *(const vwl_row8 *)(s + c) + *(const vwl_row8 *)(row + c) * value[i];
            *(vwl_row8 *)(s + c) = sum;
        }
    }
}

/* G += gradient x^2; r = 1 / (N sqrt(G)); reach[c] += x^2 r. */
static SIMD_TARGET void SIMD_NAME(scan_rows)(float *g, const uint32_t *index, const float *value, const float *inverse,
                                             size_t n, size_t width, const float *gradient, float *reach, float *r) {
    for (size_t i = 0; i < n; i++) {
        float *row = g + index[i] * width, x2 = value[i] * value[i];
        for (size_t c = 0; c < width; c += 8) {
            vwl_f8 squares = *(vwl_row8 *)(row + c) + *(const vwl_row8 *)(gradient + c) * x2;
            *(vwl_row8 *)(row + c) = squares;
            squares += VWL_NO_GRADIENT;
            SIMD_NAME(roots)(&squares);
            squares = inverse[i] / squares;
            *(vwl_row8 *)(r + i * width + c) = squares;
            *(vwl_row8 *)(reach + c) += squares * x2;
        }
    }
}

/* w += step x r. */
static SIMD_TARGET void SIMD_NAME(apply_rows)(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                              const float *step, const float *r) {
    for (size_t i = 0; i < n; i++) {
        float *row = w + index[i] * width;
        for (size_t c = 0; c < width; c += 8)
            *(vwl_row8 *)(row + c) += *(const vwl_row8 *)(step + c) * *(const vwl_row8 *)(r + i * width + c) * value[i];
    }
}

/* w += step x. */
static SIMD_TARGET void SIMD_NAME(step_rows)(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                             const float *step) {
    for (size_t i = 0; i < n; i++) {
        float *row = w + index[i] * width;
        for (size_t c = 0; c < width; c += 8) *(vwl_row8 *)(row + c) += *(const vwl_row8 *)(step + c) * value[i];
    }
}

/* z[c] += w x in double precision, for 8 or 16 classes at a time, whose sums stay in registers. */
#define VWL_WIDE(row) (*(const vwl_row4_float64 *)(row))
#define SUM_LANES(name, number, LOAD)                                                                                      \
    static inline __attribute__((always_inline)) SIMD_TARGET void SIMD_NAME(name##_lanes)(                                 \
        const number *w, const uint32_t *index, const float *value, size_t n, size_t width, double *z, const int lanes) {  \
        vwl_row4_float64 sum[4];                                                                                           \
        for (int k = 0; k < lanes / 4; k++) sum[k] = ((const vwl_row4_float64 *)z)[k];                                     \
        for (size_t i = 0; i < n; i++) {                                                                                   \
            const number *row = w + index[i] * width;                                                                      \
            const double x = value[i];                                                                                     \
            for (int k = 0; k < lanes / 4; k++) sum[k] += LOAD(row + 4 * k) * x;                                           \
        }                                                                                                                  \
        for (int k = 0; k < lanes / 4; k++) ((vwl_row4_float64 *)z)[k] = sum[k];                                           \
    }                                                                                                                      \
    static SIMD_TARGET void SIMD_NAME(name)(const number *w, const uint32_t *index, const float *value, size_t n,          \
                                            size_t width, double *z) {                                                     \
        size_t c = 0;                                                                                                      \
        for (; c + 16 <= width; c += 16) SIMD_NAME(name##_lanes)(w + c, index, value, n, width, z + c, 16);                \
        if (c < width) SIMD_NAME(name##_lanes)(w + c, index, value, n, width, z + c, 8);                                   \
    }
SUM_LANES(sum_rows, float, VWL_WIDEN)
SUM_LANES(sum_rows_float64, double, VWL_WIDE)
#undef SUM_LANES
#undef VWL_WIDE

/* w += step x in double precision, or step x^2, times the weight of the example, as above. */
static inline __attribute__((always_inline)) SIMD_TARGET void SIMD_NAME(add_lanes)(
    double *w, const uint32_t *index, const float *value, size_t n, size_t width, const double *step, double weight, int squared,
    const int lanes) {
    vwl_row4_float64 factor[4];
    for (int k = 0; k < lanes / 4; k++) factor[k] = ((const vwl_row4_float64 *)step)[k];
    for (size_t i = 0; i < n; i++) {
        vwl_row4_float64 *row = (vwl_row4_float64 *)(w + index[i] * width);
        const double own = value[i], x = weight * (squared ? own * own : own);
        for (int k = 0; k < lanes / 4; k++) row[k] += factor[k] * x;
    }
}

static SIMD_TARGET void SIMD_NAME(add_rows)(double *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                            const double *step, double weight, int squared) {
    size_t c = 0;
    for (; c + 16 <= width; c += 16) SIMD_NAME(add_lanes)(w + c, index, value, n, width, step + c, weight, squared, 16);
    if (c < width) SIMD_NAME(add_lanes)(w + c, index, value, n, width, step + c, weight, squared, 8);
}
