"""A learner of one weight per feature with an ``UpdateRule``, and rules without a learning rate: coin betting and PiSTOL, as Vowpal
Wabbit's ``--coin`` and ``--pistol``, and passive-aggressive updates.

Coin betting: Orabona and Tommasi, 2017, algorithm 2 (COCOB). PiSTOL: Orabona, 2014, algorithm 1.

Passive-aggressive updates are the smallest step that leaves no loss, or one bounded by an aggressiveness C: PA, PA-I and PA-II
(Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, 2006, figure 1; of numbers section 5). With the loss l and the length |x| of the
example the step along x is l / |x|^2, min(C, l / |x|^2), or l / (|x|^2 + 1 / (2 C)).
"""

from libc.math cimport expf, fabsf, isfinite, isnan, sqrtf
from libc.stdint cimport uint32_t

from base.float32 cimport ONE, TWO
from base.status cimport OK, UNSTABLE
from losses.loss_types cimport apply_link
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport (
    NORM_SUM, NORM_WEIGHT, Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots,
    widen_range,
)
from learners.update_rule cimport UpdateRule, as_capsule


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(<Learner *>learner, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = learning and labeled and not held, learn = known and weight > 0
    cdef int status = OK
    out.raw[row] = inner_product(m, s, rows.initial_prediction[row])
    out.prediction[row] = clip(out.raw[row], m)
    if known and not m.frozen:
        widen_range(m, y)
    if learn:
        status = learn_row(m, s, out.prediction[row], y, weight)
        out.raw[row] = m.raw
    p = clip(out.raw[row], m)
    if m.rule != NULL and m.rule.shows_learned:
        out.prediction[row] = p
    status |= OK if isfinite(out.raw[row]) else UNSTABLE
    out.loss[row] = m.loss.value(&m.params, p, y) * weight if labeled and weight > 0 else 0
    out.prediction[row] = apply_link(m.link, out.prediction[row])
    out.features[row] = <uint32_t>s.count
    count_time(m, weight, labeled, held)
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef Learner m = open_learner(state, config)
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    call.plan.flat = plan.flat
    check_fit(state, &call)
    if (m.rule != NULL) != call.learning or state.mask is not None:
        raise ValueError("the table has other columns")
    with nogil:
        status = process_in_order(&m, prepare, process_example, not m.vw_compat, &call)
    return status, call.row


cdef enum:                # columns of the table of coin betting and PiSTOL
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


cdef enum:                # columns of the table of passive-aggressive updates
    VALUE = 1             # behind the weight: of the example at work, terms of the same slot added up; 0 between examples
    PA_STRIDE = 2

cdef enum:
    PA = 0
    PA_I = 1
    PA_II = 2


cdef inline float squared_length(Learner *m, const Scratch *s) noexcept nogil:
    """Of the example, whose terms of the same slot add up; leaves the sums in the table."""
    cdef size_t i
    cdef float norm = 0
    for i in range(s.terms):
        m.table[PA_STRIDE * <size_t>s.index[i] + VALUE] += s.value[i]
    for i in range(s.terms):
        norm += m.table[PA_STRIDE * <size_t>s.index[i] + VALUE] * s.value[i]
    return norm


cdef inline int learn_pa(Learner *m, Scratch *s, float y, float weight, int kind, bint classes) noexcept nogil:
    """``weight`` is that of the example, by which the aggressiveness is multiplied."""
    cdef size_t i
    cdef float loss, norm, step, bound = m.ftrl_alpha * weight, raw = m.start
    for i in range(s.terms):
        raw += m.table[PA_STRIDE * <size_t>s.index[i]] * s.value[i]
    m.raw = raw
    if not isfinite(raw):
        return UNSTABLE
    loss = ONE - y * raw if classes else fabsf(y - raw) - m.ftrl_beta
    if loss <= 0:
        return OK
    norm = squared_length(m, s)
    step = loss / (norm + ONE / (TWO * bound)) if kind == PA_II else loss / norm if norm > 0 else 0
    if kind == PA_I and step > bound:
        step = bound
    if (y < 0) if classes else (y < raw):
        step = -step
    if not isfinite(step):
        step, m.raw = 0, step
    for i in range(s.terms):
        m.table[PA_STRIDE * <size_t>s.index[i] + VALUE] = 0
        m.table[PA_STRIDE * <size_t>s.index[i]] += step * s.value[i]
    return OK if isfinite(m.raw) else UNSTABLE


cdef int learn_class(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn_pa(<Learner *>learner, s, y, weight, PA, True)


cdef int learn_class_i(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn_pa(<Learner *>learner, s, y, weight, PA_I, True)


cdef int learn_class_ii(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn_pa(<Learner *>learner, s, y, weight, PA_II, True)


cdef int learn_number(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn_pa(<Learner *>learner, s, y, weight, PA, False)


cdef int learn_number_i(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn_pa(<Learner *>learner, s, y, weight, PA_I, False)


cdef int learn_number_ii(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn_pa(<Learner *>learner, s, y, weight, PA_II, False)


cdef UpdateRule pa = UpdateRule(PA_STRIDE, learn_class, False)
cdef UpdateRule pa_i = UpdateRule(PA_STRIDE, learn_class_i, False)
cdef UpdateRule pa_ii = UpdateRule(PA_STRIDE, learn_class_ii, False)
cdef UpdateRule number_pa = UpdateRule(PA_STRIDE, learn_number, False)
cdef UpdateRule number_pa_i = UpdateRule(PA_STRIDE, learn_number_i, False)
cdef UpdateRule number_pa_ii = UpdateRule(PA_STRIDE, learn_number_ii, False)
OF_CLASSES = {"pa": as_capsule(&pa), "pa-i": as_capsule(&pa_i), "pa-ii": as_capsule(&pa_ii)}
OF_NUMBERS = {"pa": as_capsule(&number_pa), "pa-i": as_capsule(&number_pa_i), "pa-ii": as_capsule(&number_pa_ii)}
