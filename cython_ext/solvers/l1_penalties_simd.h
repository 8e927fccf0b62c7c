/* L1 penalties of consecutive weights (see solvers/l1_penalties.pxd), without branches, as the signs of weights are hard to
 * predict. */

#ifndef VWLITE_L1_PENALTIES_SIMD_H
#define VWLITE_L1_PENALTIES_SIMD_H

#include <stddef.h>

#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128d vwl_doubles;
#define VWL_WIDTH 2
static inline vwl_doubles vwl_load(const double *p) { return _mm_loadu_pd(p); }
static inline void vwl_store(double *p, vwl_doubles x) { _mm_storeu_pd(p, x); }
static inline vwl_doubles vwl_broadcast(double x) { return _mm_set1_pd(x); }
static inline vwl_doubles vwl_max(vwl_doubles a, vwl_doubles b) { return _mm_max_pd(a, b); }
static inline vwl_doubles vwl_min(vwl_doubles a, vwl_doubles b) { return _mm_min_pd(a, b); }
static inline vwl_doubles vwl_add(vwl_doubles a, vwl_doubles b) { return _mm_add_pd(a, b); }
static inline vwl_doubles vwl_sub(vwl_doubles a, vwl_doubles b) { return _mm_sub_pd(a, b); }
#else
typedef double vwl_doubles;
#define VWL_WIDTH 1
static inline vwl_doubles vwl_load(const double *p) { return *p; }
static inline void vwl_store(double *p, vwl_doubles x) { *p = x; }
static inline vwl_doubles vwl_broadcast(double x) { return x; }
static inline vwl_doubles vwl_max(vwl_doubles a, vwl_doubles b) { return a > b ? a : b; }
static inline vwl_doubles vwl_min(vwl_doubles a, vwl_doubles b) { return a < b ? a : b; }
static inline vwl_doubles vwl_add(vwl_doubles a, vwl_doubles b) { return a + b; }
static inline vwl_doubles vwl_sub(vwl_doubles a, vwl_doubles b) { return a - b; }
#endif

/* The weight after a penalty: `up` is subtracted from a positive weight and `down` added to a negative one, but not beyond 0:
 * max(0, w - up) + min(0, w + down). */
static inline vwl_doubles vwl_shrunk(vwl_doubles w, vwl_doubles up, vwl_doubles down) {
    const vwl_doubles zero = vwl_broadcast(0);
    vwl_doubles above = vwl_max(vwl_sub(w, vwl_max(up, zero)), zero);
    vwl_doubles below = vwl_min(vwl_add(w, vwl_max(down, zero)), zero);
    return vwl_add(above, below);
}

static inline void vwl_cumulative(double *weight, double *memory, vwl_doubles cumulative_penalty, vwl_doubles w, vwl_doubles q,
                                  int whole_vector) {
    vwl_doubles after = vwl_shrunk(w, vwl_add(cumulative_penalty, q), vwl_sub(cumulative_penalty, q));
    q = vwl_add(q, vwl_sub(after, w));
#if VWL_WIDTH == 2
    if (!whole_vector) {
        _mm_store_sd(weight, after);
        _mm_store_sd(memory, q);
        return;
    }
#endif
    vwl_store(weight, after);
    vwl_store(memory, q);
}

/* memory: the total penalty that each weight has received, with its sign. */
static inline void vwl_settle_cumulative(double *weight, double *memory, size_t n, double cumulative_penalty) {
    const vwl_doubles u = vwl_broadcast(cumulative_penalty);
    size_t i = 0;
    for (; i + VWL_WIDTH <= n; i += VWL_WIDTH)
        vwl_cumulative(weight + i, memory + i, u, vwl_load(weight + i), vwl_load(memory + i), 1);
#if VWL_WIDTH == 2
    if (i < n)
        vwl_cumulative(weight + i, memory + i, u, _mm_load_sd(weight + i), _mm_load_sd(memory + i), 0);
#endif
}

static inline double vwl_settle_one(double *weight, double *memory, double cumulative_penalty) {
    const vwl_doubles u = vwl_broadcast(cumulative_penalty);
#if VWL_WIDTH == 2
    const vwl_doubles w = _mm_load_sd(weight), q = _mm_load_sd(memory);
#else
    const vwl_doubles w = *weight, q = *memory;
#endif
    vwl_cumulative(weight, memory, u, w, q, 0);
    return *weight;
}

/* memory: the cumulative penalty when the weight was last settled. */
static inline void vwl_settle_clipping(double *weight, double *memory, size_t n, double cumulative_penalty) {
    const vwl_doubles u = vwl_broadcast(cumulative_penalty);
    size_t i = 0;
    for (; i + VWL_WIDTH <= n; i += VWL_WIDTH) {
        vwl_doubles step = vwl_sub(u, vwl_load(memory + i));
        vwl_store(weight + i, vwl_shrunk(vwl_load(weight + i), step, step));
        vwl_store(memory + i, u);
    }
#if VWL_WIDTH == 2
    if (i < n) {
        vwl_doubles step = vwl_sub(u, _mm_load_sd(memory + i));
        _mm_store_sd(weight + i, vwl_shrunk(_mm_load_sd(weight + i), step, step));
        memory[i] = cumulative_penalty;
    }
#endif
}

/* The naive penalty: every weight moves by `step` towards 0, possibly past it. */
static inline void vwl_shrink_all(double *weight, size_t n, double step) {
    size_t i = 0;
#if VWL_WIDTH == 2
    const vwl_doubles zero = vwl_broadcast(0), up = vwl_broadcast(step);
    for (; i + 2 <= n; i += 2) {
        vwl_doubles w = vwl_load(weight + i);
        vwl_doubles down = _mm_sub_pd(_mm_and_pd(_mm_cmpgt_pd(w, zero), up), _mm_and_pd(_mm_cmplt_pd(w, zero), up));
        vwl_store(weight + i, vwl_sub(w, down));
    }
#endif
    for (; i < n; i++)
        weight[i] -= weight[i] > 0 ? step : weight[i] < 0 ? -step : 0;
}

#endif
