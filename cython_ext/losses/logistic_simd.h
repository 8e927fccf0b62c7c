/* Logistic loss of a block of LANES classes whose labels are 1 or -1; learners/class_blocks.h includes it once for each
 * instruction set. Results equal those of losses/logistic.pxd bit by bit. */

/* Find the squared gradient of each class, and the classes whose gradient and loss are above 0. Returns 0 and leaves the block
 * as it is where a margin is above 87, beyond which exp overflows as float. Where the loss is above 0 as a float, the odds are
 * below 2^24, so that find_steps need not treat larger ones. */
static SIMD_TARGET int32_t SIMD_NAME(find_gradients)(vwl_block *block, float weight) {
    double odds[LANES];
    int32_t has_loss[LANES], out_of_range = 0, large_margin = 0;
    for (int c = 0; c < LANES; c++) {
        const float margin = block->sign[c] * block->score[c];
        out_of_range |= !(fabsf(margin) <= 87);
        large_margin |= margin >= 16;
        odds[c] = margin;
        has_loss[c] = -1;
    }
    if (out_of_range) return 0;
    if (large_margin)
        for (int c = 0; c < LANES; c++) has_loss[c] = -(1.0f + (float)vwl_exp(-odds[c]) > 1.0f);
    for (int c = 0; c < LANES; c++) odds[c] = vwl_exp(odds[c]);
    for (int c = 0; c < LANES; c++) {
        const float slope = 1.0f / (1.0f + (float)odds[c]), gradient = weight * (slope * slope);
        block->odds[c] = (float)odds[c];
        block->active[c] = -(gradient != 0) & has_loss[c] & ~block->unused[c];
        block->gradient[c] = has_loss[c] & ~block->unused[c] ? gradient : 0;
    }
    return 1;
}

/* Find the steps of the importance-aware update at the scale u; a unit of update moves a class's prediction by its reach. */
static SIMD_TARGET void SIMD_NAME(find_steps)(vwl_block *block, float u) {
    double argument[LANES], linear[LANES], steep[LANES];
    float moves[LANES];
    for (int c = 0; c < LANES; c++) {
        const float move = u * block->reach[c];
        moves[c] = move < VWL_LONGEST_MOVE ? move : VWL_LONGEST_MOVE; /* NaN too, as by fminf */
        argument[c] = moves[c] + block->sign[c] * block->score[c] + block->odds[c];
    }
    for (int c = 0; c < LANES; c++) {
        const double x = argument[c], w = vwl_linear_guess(x);
        linear[c] = vwl_lambert_step(x, w, x - vwl_log(w) - w);
    }
    for (int c = 0; c < LANES; c++) {
        const double x = argument[c], w = vwl_exp(vwl_steep_exponent(x));
        steep[c] = vwl_lambert_step(x, w, x - vwl_steep_exponent(x) - w);
    }
    for (int c = 0; c < LANES; c++) {
        const float sign = block->sign[c], excess = (float)(argument[c] >= 1 ? linear[c] : steep[c]);
        const float large = -(sign * excess + block->score[c]) / block->reach[c], small = sign * u / (1.0f + block->odds[c]);
        block->step[c] = moves[c] < 1e-6f ? small : large;
    }
}
