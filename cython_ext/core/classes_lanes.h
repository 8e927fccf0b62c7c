/* Eight classes at a time; included once for each instruction set by classes.h, which says what LANES_NAME and LANES_TARGET are.
 *
 * Slots of a feature's classes follow each other, four floats w, G, N, r each. Four loads are four pairs of slots; with
 * their columns taken out, lanes stand for the classes 0 2 4 6 1 3 5 7. Every sum has the order of the plain kernel, class
 * by class, so that results are the same bytes. */

static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(load)(const float *slots, vwl_f8 pairs[4]) {
    for (int k = 0; k < 4; k++) pairs[k] = ((const vwl_rates *)slots)[k];
}

static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(store)(float *slots, const vwl_f8 pairs[4]) {
    for (int k = 0; k < 4; k++) ((vwl_rates *)slots)[k] = pairs[k];
}

/* The columns w and G, a class a lane. */
static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(columns)(const vwl_f8 pairs[4], vwl_f8 *w, vwl_f8 *g) {
    vwl_f8 low = VWL_SHUFFLE(pairs[0], pairs[1], 0, 8, 1, 9, 4, 12, 5, 13);
    vwl_f8 high = VWL_SHUFFLE(pairs[2], pairs[3], 0, 8, 1, 9, 4, 12, 5, 13);
    *w = VWL_SHUFFLE(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
    *g = VWL_SHUFFLE(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
}

static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(largest)(const vwl_f8 pairs[4], vwl_f8 *n) {
    vwl_f8 low = VWL_SHUFFLE(pairs[0], pairs[1], 2, 10, 3, 11, 6, 14, 7, 15);
    vwl_f8 high = VWL_SHUFFLE(pairs[2], pairs[3], 2, 10, 3, 11, 6, 14, 7, 15);
    *n = VWL_SHUFFLE(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
}

static inline __attribute__((always_inline)) LANES_TARGET void LANES_NAME(root)(vwl_f8 *x) {
    float lanes[8];
    memcpy(lanes, x, sizeof lanes);
    for (int j = 0; j < 8; j++) lanes[j] = sqrtf(lanes[j]);
    memcpy(x, lanes, sizeof lanes);
}

/* raw[c] = base + sum of w x, the terms in order, of a block of classes. */
static LANES_TARGET void LANES_NAME(score)(const float *table, const uint32_t *index, const float *value, size_t n,
                                           float base, float *raw) {
    vwl_f8 sum = {base, base, base, base, base, base, base, base}, pairs[4], w, g;
    for (size_t i = 0; i < n; i++) {
        LANES_NAME(load)(table + 4 * (size_t)index[i], pairs);
        LANES_NAME(columns)(pairs, &w, &g);
        sum += w * value[i];
    }
    for (int j = 0; j < 8; j++) raw[vwl_class_of_lane[j]] = sum[j];
}

/* The same where a slot has nothing but its weight. */
static LANES_TARGET void LANES_NAME(score_bare)(const float *table, const uint32_t *index, const float *value, size_t n,
                                                float base, float *raw) {
    vwl_f8 sum = {base, base, base, base, base, base, base, base}, w;
    for (size_t i = 0; i < n; i++) {
        w = *(const vwl_rates *)(table + index[i]);
        sum += w * value[i];
    }
    memcpy(raw, &sum, sizeof sum);
}

/* Bring G and N of a block up to date and leave every term's rates in r. The first block's first r tells the last term that
 * met the slot, since that one's rates are everybody's. */
static LANES_TARGET void LANES_NAME(scan)(float *table, const uint32_t *index, const float *value, size_t n,
                                          vwl_block *block, vwl_scale *scales, vwl_rates *r) {
    const vwl_f8 zero = -(vwl_f8){0}, one = (vwl_f8){0} + 1.0f;
    vwl_f8 pairs[4], gradient, reach = {0}, norm = {0};
    vwl_i8 dead[4], same, active;
    memcpy(&active, block->active, sizeof active);
    memcpy(&gradient, block->gradient, sizeof gradient);
    memcpy(dead, block->dead, sizeof dead);
    for (size_t i = 0; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        float x = value[i], x2 = x * x, largest = slots[2];
        int32_t reached, apart = 0;
        int j;
        vwl_f8 grown, w, g, all = {largest, largest, largest, largest, largest, largest, largest, largest};
        LANES_NAME(load)(slots, pairs);
        if (block->whole) {
            same = (pairs[0] == all) & (pairs[1] == all) & (pairs[2] == all) & (pairs[3] == all);
        } else {
            same = ((pairs[0] == all) | dead[0]) & ((pairs[1] == all) | dead[1]);
            same &= ((pairs[2] == all) | dead[2]) & ((pairs[3] == all) | dead[3]);
        }
        if (!(x2 >= VWL_LEAST_SQUARE && x2 <= VWL_LARGEST)) {
            reached = 0;
        } else if (same[2] & same[6]) {
            reached = fabsf(x) <= largest;
        } else { /* classes without a loss have missed a larger x: N differs */
            LANES_NAME(largest)(pairs, &all);
            same = (fabsf(x) <= all) | ~active;
            for (reached = -1, j = 0; j < 8; j++) reached &= same[j];
            apart = reached;
        }
        if (!reached) {
            float *lanes = (float *)(r + i);
            for (j = 0; j < 8; j++) {
                int c = vwl_class_of_lane[j];
                float one_reach = reach[j], one_norm = norm[j];
                lanes[j] = 0;
                if (block->active[j]) {
                    lanes[j] = block->scan_one(slots + 4 * c, x, block->gradient[j], &one_reach, &one_norm);
                    reach[j] = one_reach;
                    norm[j] = one_norm;
                }
            }
            if (block->first) memcpy(slots + 3, &(uint32_t){(uint32_t)i}, 4);
            continue;
        }
        grown = gradient * x2;
        pairs[0] += VWL_SHUFFLE(zero, grown, 0, 8, 0, 0, 0, 12, 0, 0);
        pairs[1] += VWL_SHUFFLE(zero, grown, 0, 9, 0, 0, 0, 13, 0, 0);
        pairs[2] += VWL_SHUFFLE(zero, grown, 0, 10, 0, 0, 0, 14, 0, 0);
        pairs[3] += VWL_SHUFFLE(zero, grown, 0, 11, 0, 0, 0, 15, 0, 0);
        LANES_NAME(store)(slots, pairs);
        if (block->first) memcpy(slots + 3, &(uint32_t){(uint32_t)i}, 4);
        LANES_NAME(columns)(pairs, &w, &g);
        LANES_NAME(root)(&g);
        if (apart) {
            vwl_f8 scale2 = all * all;
            w = x2 / scale2;
            norm += (vwl_f8)(((vwl_i8)w & ~(scale2 == x2)) | ((vwl_i8)one & (scale2 == x2)));
            g = 1.0f / g * (1.0f / all);
            reach += x2 * g;
            r[i] = g;
            continue;
        }
        if (scales[i].largest != largest) {
            float scale2 = largest * largest;
            scales[i].largest = largest;
            scales[i].inverse = 1.0f / largest;
            scales[i].share = x2 == scale2 ? 1.0f : x2 / scale2;
        }
        g = 1.0f / g * scales[i].inverse;
        norm += scales[i].share;
        reach += x2 * g;
        r[i] = g;
    }
    memcpy(block->reach, &reach, sizeof reach);
    memcpy(block->norm, &norm, sizeof norm);
}

/* w += step x r for the lanes that learn. */
static LANES_TARGET void LANES_NAME(apply)(float *table, const uint32_t *index, const float *value, size_t n,
                                           const vwl_block *block, vwl_scale *scales, const vwl_rates *r) {
    const vwl_f8 zero = -(vwl_f8){0};
    vwl_f8 step, pairs[4];
    vwl_i8 learns;
    memcpy(&step, block->step, sizeof step);
    memcpy(&learns, block->learns, sizeof learns);
    for (size_t i = 0; i < n; i++) {
        float *slots = table + 4 * (size_t)index[i];
        vwl_f8 move;
        if (block->first) memcpy(&scales[i].last, slots + 3, 4);
        move = step * (value[i] * r[scales[i].last]);
        move = (vwl_f8)(((vwl_i8)move & learns) | ((vwl_i8)zero & ~learns));
        LANES_NAME(load)(slots, pairs);
        pairs[0] += VWL_SHUFFLE(move, zero, 0, 8, 8, 8, 4, 8, 8, 8);
        pairs[1] += VWL_SHUFFLE(move, zero, 1, 8, 8, 8, 5, 8, 8, 8);
        pairs[2] += VWL_SHUFFLE(move, zero, 2, 8, 8, 8, 6, 8, 8, 8);
        pairs[3] += VWL_SHUFFLE(move, zero, 3, 8, 8, 8, 7, 8, 8, 8);
        LANES_NAME(store)(slots, pairs);
    }
}
