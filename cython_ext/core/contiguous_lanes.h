/* Rows of classes, each `width` floats and a multiple of eight; included once for each instruction set by contiguous.h. */

/* s[c] += w x for all classes; w begins at row index[i] of every term. */
static LANES_TARGET void LANES_NAME(score_rows)(const float *w, const uint32_t *index, const float *value, size_t n,
                                                size_t width, float *s) {
    for (size_t i = 0; i < n; i++) {
        const float *row = w + index[i] * width;
        for (size_t c = 0; c < width; c += 8) {
            vwl_f8 sum = *(const vwl_rates *)(s + c) + *(const vwl_rates *)(row + c) * value[i];
            *(vwl_rates *)(s + c) = sum;
        }
    }
}

/* G += gradient x^2; r = 1 / (N sqrt(G)); reach[c] += x^2 r. */
static LANES_TARGET void LANES_NAME(scan_rows)(float *g, const uint32_t *index, const float *value, const float *inverse,
                                               size_t n, size_t width, const float *gradient, float *reach, float *r) {
    for (size_t i = 0; i < n; i++) {
        float *row = g + index[i] * width, x2 = value[i] * value[i];
        for (size_t c = 0; c < width; c += 8) {
            vwl_f8 squares = *(vwl_rates *)(row + c) + *(const vwl_rates *)(gradient + c) * x2;
            *(vwl_rates *)(row + c) = squares;
            squares += VWL_NO_GRADIENT;
            LANES_NAME(root)(&squares);
            squares = inverse[i] / squares;
            *(vwl_rates *)(r + i * width + c) = squares;
            *(vwl_rates *)(reach + c) += squares * x2;
        }
    }
}

/* w += step x r. */
static LANES_TARGET void LANES_NAME(apply_rows)(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                                const float *step, const float *r) {
    for (size_t i = 0; i < n; i++) {
        float *row = w + index[i] * width;
        for (size_t c = 0; c < width; c += 8)
            *(vwl_rates *)(row + c) += *(const vwl_rates *)(step + c) * *(const vwl_rates *)(r + i * width + c) * value[i];
    }
}
