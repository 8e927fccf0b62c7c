"""Updates without a learning rate: coin betting and PiSTOL, as Vowpal Wabbit's ``--coin`` and ``--pistol``.

Coin betting: Orabona and Tommasi, 2017, algorithm 2 (COCOB). PiSTOL: Orabona, 2014, algorithm 1.
"""

from libc.math cimport expf, fabsf, isfinite, sqrtf

from learners.gd_update cimport NORM_SUM, NORM_WEIGHT, Learner, clip
from learners.update_rule cimport UpdateRule, as_capsule
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE

cdef enum:                # columns of the table
    WEIGHT = 0
    SUM = 1               # sum of negative gradients
    SIZE = 2              # sum of their absolute values
    LARGEST = 3           # largest |x| seen
    WON = 4               # sum won by betting
    STEEPEST = 5          # largest |slope| of the loss seen
    STRIDE = 8


cdef inline float bet(const Learner *m, const float *w, float largest) noexcept nogil:
    cdef float scale = w[STEEPEST] * largest
    return (m.ftrl_alpha + w[WON]) / (scale * (scale + w[SIZE])) * w[SUM] if scale > 0 else 0


cdef inline float mean_norm(Learner *m) noexcept nogil:
    return <float>((m.scalars[NORM_SUM] + 1e-6) / m.scalars[NORM_WEIGHT])


cdef inline float predict_coin(Learner *m, const Scratch *s, float weight, float start) noexcept nogil:
    """The raw prediction; adds the inputs' norm to the sums."""
    cdef size_t i
    cdef float *w
    cdef float x, largest, sum = 0, norm = 0
    for i in range(s.terms):
        w, x = m.table + STRIDE * <size_t>s.index[i], s.value[i]
        largest = fabsf(x) if fabsf(x) > w[LARGEST] else w[LARGEST]
        sum += bet(m, w, largest) * x
        if largest > 0:
            norm += (x / largest) * (x / largest)
    m.scalars[NORM_SUM] += <double>weight * norm
    m.scalars[NORM_WEIGHT] += weight
    return start + sum / mean_norm(m)


cdef inline void learn_coin(Learner *m, const Scratch *s, float slope) noexcept nogil:
    cdef size_t i
    cdef float *w
    cdef float x, gradient, norm = mean_norm(m)
    for i in range(s.terms):
        w, x = m.table + STRIDE * <size_t>s.index[i], s.value[i]
        gradient = slope * x
        if fabsf(x) > w[LARGEST]:
            w[LARGEST] = fabsf(x)
        if fabsf(slope) > w[STEEPEST]:
            w[STEEPEST] = fabsf(slope) if fabsf(slope) > m.ftrl_beta else m.ftrl_beta
        w[WEIGHT] = bet(m, w, w[LARGEST])
        w[SUM] -= gradient
        w[SIZE] += fabsf(gradient)
        w[WON] -= gradient * w[WEIGHT]
        w[WEIGHT] = w[WEIGHT] / norm


cdef inline float predict_pistol(Learner *m, const Scratch *s, float start) noexcept nogil:
    """The raw prediction, with weights recomputed from the sums."""
    cdef size_t i
    cdef float *w
    cdef float x, scale, sum = start
    for i in range(s.terms):
        w, x = m.table + STRIDE * <size_t>s.index[i], s.value[i]
        if fabsf(x) > w[LARGEST]:
            w[LARGEST] = fabsf(x)
        scale = 1 / (m.ftrl_alpha * w[LARGEST] * (w[SIZE] + w[LARGEST])) if w[LARGEST] > 0 else 0
        w[WEIGHT] = sqrtf(w[SIZE]) * m.ftrl_beta * w[SUM] * expf(w[SUM] * w[SUM] / 2 * scale) * scale
        sum += w[WEIGHT] * x
    return sum


cdef inline void learn_pistol(Learner *m, const Scratch *s, float slope) noexcept nogil:
    cdef size_t i
    cdef float *w
    cdef float gradient
    for i in range(s.terms):
        w, gradient = m.table + STRIDE * <size_t>s.index[i], slope * s.value[i]
        w[SUM] -= gradient
        w[SIZE] += fabsf(gradient)


cdef int learn_row_by_coin(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    m.raw = predict_coin(m, s, weight, 0 if m.vw_compat else m.start)    # vw ignores initial predictions while learning
    if not m.vw_compat and not isfinite(m.raw):
        return UNSTABLE
    learn_coin(m, s, m.loss.slope(&m.params, clip(m.raw, m), y) * weight)
    return OK if isfinite(m.raw) else UNSTABLE


cdef int learn_row_by_pistol(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    m.raw = predict_pistol(m, s, 0 if m.vw_compat else m.start)
    if not m.vw_compat and not isfinite(m.raw):
        return UNSTABLE
    learn_pistol(m, s, m.loss.slope(&m.params, clip(m.raw, m), y) * weight)
    return OK if isfinite(m.raw) else UNSTABLE


# vw reports the prediction of the last weights for coin betting, not that of the next bets
cdef UpdateRule coin = UpdateRule(STRIDE, learn_row_by_coin, False)
cdef UpdateRule pistol = UpdateRule(STRIDE, learn_row_by_pistol, True)
COIN, PISTOL = as_capsule(&coin), as_capsule(&pistol)
