"""Updates without a learning rate: coin betting and PiSTOL, as Vowpal Wabbit's ``--coin`` and ``--pistol``.

Coin betting: Orabona and Tommasi, 2017, algorithm 2 (COCOB). PiSTOL: Orabona, 2014, algorithm 1.
"""

from libc.math cimport expf, fabsf, isfinite, isnan, sqrtf
from libc.stdint cimport uint32_t

from learners.gd_update cimport (
    NORM_SUM, NORM_WEIGHT, Learner, clip, count_time, open_learner, prefetch_slots, widen_range
)
from features.namespace_groups cimport Rows
from learners.example_loop cimport check_fit, process_in_order
from losses.links cimport apply_link
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results, open_plan, open_results, open_rows

cdef enum:                # columns of the table
    WEIGHT = 0
    SUM = 1               # of the gradients, their sign changed
    SIZE = 2              # of their absolute values
    LARGEST = 3           # |x| seen
    WON = 4               # by betting
    STEEPEST = 5          # slope of the loss seen
    STRIDE = 8

cdef struct Better:
    Learner m
    bint coin
    float alpha, beta


cdef inline float bet(const Better *q, const float *w, float largest) noexcept nogil:
    cdef float scale = w[STEEPEST] * largest
    return (q.alpha + w[WON]) / (scale * (scale + w[SIZE])) * w[SUM] if scale > 0 else 0


cdef inline float mean_norm(Better *q) noexcept nogil:
    return <float>((q.m.norms[NORM_SUM] + 1e-6) / q.m.norms[NORM_WEIGHT])


cdef inline float predict_weights(const Better *q, const Scratch *s, float start) noexcept nogil:
    cdef size_t i
    cdef float sum = start
    for i in range(s.terms):
        sum += q.m.table[q.m.stride * s.index[i]] * s.value[i]
    return sum


cdef inline float predict_coin(Better *q, const Scratch *s, float weight, float start) noexcept nogil:
    """The raw prediction; books the inputs' norm."""
    cdef size_t i
    cdef float *w
    cdef float x, largest, sum = 0, norm = 0
    for i in range(s.terms):
        w, x = q.m.table + STRIDE * <size_t>s.index[i], s.value[i]
        largest = fabsf(x) if fabsf(x) > w[LARGEST] else w[LARGEST]
        sum += bet(q, w, largest) * x
        if largest > 0:
            norm += (x / largest) * (x / largest)
    q.m.norms[NORM_SUM] += <double>weight * norm
    q.m.norms[NORM_WEIGHT] += weight
    return start + sum / mean_norm(q)


cdef inline void learn_coin(Better *q, const Scratch *s, float slope) noexcept nogil:
    cdef size_t i
    cdef float *w
    cdef float x, gradient, norm = mean_norm(q)
    for i in range(s.terms):
        w, x = q.m.table + STRIDE * <size_t>s.index[i], s.value[i]
        gradient = slope * x
        if fabsf(x) > w[LARGEST]:
            w[LARGEST] = fabsf(x)
        if fabsf(slope) > w[STEEPEST]:
            w[STEEPEST] = fabsf(slope) if fabsf(slope) > q.beta else q.beta
        w[WEIGHT] = bet(q, w, w[LARGEST])
        w[SUM] -= gradient
        w[SIZE] += fabsf(gradient)
        w[WON] -= gradient * w[WEIGHT]
        w[WEIGHT] = w[WEIGHT] / norm


cdef inline float predict_pistol(Better *q, const Scratch *s, float start) noexcept nogil:
    """The raw prediction, of weights made anew from the sums."""
    cdef size_t i
    cdef float *w
    cdef float x, scale, sum = start
    for i in range(s.terms):
        w, x = q.m.table + STRIDE * <size_t>s.index[i], s.value[i]
        if fabsf(x) > w[LARGEST]:
            w[LARGEST] = fabsf(x)
        scale = 1 / (q.alpha * w[LARGEST] * (w[SIZE] + w[LARGEST])) if w[LARGEST] > 0 else 0
        w[WEIGHT] = sqrtf(w[SIZE]) * q.beta * w[SUM] * expf(w[SUM] * w[SUM] / 2 * scale) * scale
        sum += w[WEIGHT] * x
    return sum


cdef inline void learn_pistol(Better *q, const Scratch *s, float slope) noexcept nogil:
    cdef size_t i
    cdef float *w
    cdef float gradient
    for i in range(s.terms):
        w, gradient = q.m.table + STRIDE * <size_t>s.index[i], slope * s.value[i]
        w[SUM] -= gradient
        w[SIZE] += fabsf(gradient)


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(&(<Better *>learner).m, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Better *q = <Better *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], start = rows.base[row], p, slope
    cdef bint labeled = not isnan(y), held = out.held != NULL and out.held[row]
    cdef bint known = learning and labeled and not held, learn = known and weight > 0
    cdef int status
    if q.coin or not learn:                # vw tells of coin betting what the last weights predict, not the next bets
        out.raw[row] = predict_weights(q, s, start)
        out.prediction[row] = clip(out.raw[row], &q.m)
    if known and not q.m.frozen:
        widen_range(&q.m, y)
    if learn:
        start = start if q.m.strict else 0     # where vw learns it leaves initial predictions out
        out.raw[row] = predict_coin(q, s, weight, start) if q.coin else predict_pistol(q, s, start)
    p = clip(out.raw[row], &q.m)
    if not q.coin:
        out.prediction[row] = p
    status = OK if isfinite(out.raw[row]) else UNSTABLE
    if learn and not (q.m.strict and status != OK):
        slope = q.m.loss.slope(&q.m.params, p, y) * weight
        if q.coin:
            learn_coin(q, s, slope)
        else:
            learn_pistol(q, s, slope)
    out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
    out.prediction[row] = apply_link(q.m.link, out.prediction[row])
    out.features[row] = <uint32_t>s.count
    count_time(&q.m, weight, labeled, held)
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Better q
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef int status
    q.m = open_learner(state, config)
    q.coin, q.alpha, q.beta = config.coin, config.ftrl_alpha, config.ftrl_beta
    native_plan.flat = plan.flat
    check_fit(state, &native_plan, &rows, end, learning)
    if q.m.stride != (STRIDE if learning else 1) or state.mask is not None:
        raise ValueError("the table has other columns")
    with nogil:
        status = process_in_order(&q, prepare, process_example, q.m.strict, &rows, &native_plan, &out, &begin, end, learning)
    return status, begin
