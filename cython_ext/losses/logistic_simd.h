/* Logistic loss of a block of classes, all labels 1 or -1; included once for each instruction set by classes.h. Results are those
 * of losses/logistic.pxd. */

/* Squared gradients, and which classes have one and a loss. Answers 0, with nothing done, where a prediction is out of exp's reach;
 * a loss that is not 0 as a float leaves odds below 2^24. */
static LANES_TARGET int32_t LANES_NAME(find_gradients)(vwl_block *block, float weight) {
    double odds[LANES];
    int32_t lost[LANES], out = 0, sure = 0;
    for (int c = 0; c < LANES; c++) {
        const float at = block->sign[c] * block->score[c];
        out |= !(fabsf(at) <= 87);
        sure |= at >= 16;
        odds[c] = at;
        lost[c] = -1;
    }
    if (out) return 0;
    if (sure)
        for (int c = 0; c < LANES; c++) lost[c] = -(1.0f + (float)vwl_exp(-odds[c]) > 1.0f);
    for (int c = 0; c < LANES; c++) odds[c] = vwl_exp(odds[c]);
    for (int c = 0; c < LANES; c++) {
        const float slope = 1.0f / (1.0f + (float)odds[c]), gradient = weight * (slope * slope);
        block->odds[c] = (float)odds[c];
        block->active[c] = -(gradient != 0) & lost[c] & ~block->dead[c];
        block->gradient[c] = lost[c] & ~block->dead[c] ? gradient : 0;
    }
    return 1;
}

/* Steps of the importance-aware update at the scale u, a unit of which moves a prediction by reach. */
static LANES_TARGET void LANES_NAME(find_steps)(vwl_block *block, float u) {
    double from[LANES], linear[LANES], steep[LANES];
    float moves[LANES];
    for (int c = 0; c < LANES; c++) {
        const float move = u * block->reach[c];
        moves[c] = move < VWL_LARGEST ? move : VWL_LARGEST; /* NaN too, as finite_product has it */
        from[c] = moves[c] + block->sign[c] * block->score[c] + block->odds[c];
    }
    for (int c = 0; c < LANES; c++) {
        const double x = from[c], w = vwl_linear_guess(x);
        linear[c] = vwl_lambert_step(x, w, x - vwl_log(w) - w);
    }
    for (int c = 0; c < LANES; c++) {
        const double x = from[c], w = vwl_exp(vwl_steep_exponent(x));
        steep[c] = vwl_lambert_step(x, w, x - vwl_steep_exponent(x) - w);
    }
    for (int c = 0; c < LANES; c++) {
        const float sign = block->sign[c], excess = (float)(from[c] >= 1 ? linear[c] : steep[c]);
        const float large = -(sign * excess + block->score[c]) / block->reach[c], small = sign * u / (1.0f + block->odds[c]);
        block->step[c] = moves[c] < 1e-6f ? small : large;
    }
}
