/* One FTRL-proximal update of LANES terms, whose w, z and n are stored by column. ftrl_simd.h includes this file for each number
 * of lanes and defines LANES, SIMD_TARGET and ALL_SET. */

#define FLOATS VWL_JOIN(vwl_f, LANES)
#define WORDS VWL_JOIN(vwl_i, LANES)
#define LANES_INLINE static inline __attribute__((always_inline)) SIMD_TARGET

LANES_INLINE void VWL_JOIN(vwl_ftrl_root, LANES)(FLOATS *x) {
    float lane[LANES];
    memcpy(lane, x, sizeof lane);
    for (int k = 0; k < LANES; k++) lane[k] = sqrtf(lane[k]);
    memcpy(x, lane, sizeof lane);
}

/* Returns 0 where a new weight is not finite. */
LANES_INLINE int VWL_JOIN(vwl_ftrl_update, LANES)(FLOATS *w, FLOATS *z, FLOATS *n, const float *value, const vwl_ftrl *rule) {
    const WORDS sign = (WORDS){0} + INT32_MIN;
    FLOATS g, root, before = *n, bound = (FLOATS){0} + rule->l1;
    WORDS small;
    memcpy(&g, value, sizeof g);
    g *= rule->slope;
    *n += g * g;
    root = *n;
    VWL_JOIN(vwl_ftrl_root, LANES)(&root);
    VWL_JOIN(vwl_ftrl_root, LANES)(&before);
    *z += g - (root - before) / rule->alpha * *w;
    small = (FLOATS)((WORDS)*z & ~sign) <= bound;
    bound = (FLOATS)((WORDS)bound | ((WORDS)*z & sign)); /* l1 with the sign of z */
    *w = (bound - *z) / (rule->l2 + (rule->beta + root) / rule->alpha);
    *w = (FLOATS)((WORDS)*w & ~small);
    return ALL_SET((FLOATS)((WORDS)*w & ~sign) <= VWL_FLOAT_MAX);
}

#undef FLOATS
#undef WORDS
#undef LANES_INLINE
