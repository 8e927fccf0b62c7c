"""Passes over the data for batch optimisation (BFGS): the gradient of the loss and the diagonal of its Hessian, or its
curvature along a direction.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t

from learners.batch_sums cimport (
    CURVATURE, DIAGONAL, DIRECTION, GRADIENT, LOSS_SUM, SUMS, VECTORS, WEIGHT_SUM, effective_curvature, unbounded
)
from learners.gd_update cimport Learner, clip, count_time, inner_product, open_learner, prefetch_slots, widen_range
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport LossParams, apply_link
from losses.losses cimport LOSS_POISSON
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results


cdef struct Pass:
    Learner m
    double *sums                 # (SUMS,)
    double *vectors              # (2^bits, VECTORS), with a table of weights only; NULL under ``vwlite vw``
    LossParams unbounded_params  # the loss's parameters with an unbounded range of labels
    double share                 # factor on the loss's value that makes its slope the derivative
    bint gradient                # this pass computes the gradient; otherwise the curvature
    bint first                   # the first pass: also the diagonal of the Hessian and the examples' weight


cdef inline void add(Learner *m, const Scratch *s, int column, float factor, bint squared) noexcept nogil:
    cdef size_t i
    cdef float x
    for i in range(s.terms):
        x = s.value[i]
        m.table[4 * <size_t>s.index[i] + column] += factor * (x * x if squared else x)


cdef inline float directional_derivative(const Learner *m, const Scratch *s, float sum) noexcept nogil:
    """The derivative of the prediction along the direction; ``sum`` is the initial prediction, added as in vw."""
    cdef size_t i
    for i in range(s.terms):
        sum += m.table[4 * <size_t>s.index[i] + DIRECTION] * s.value[i]
    return sum


cdef inline void learn(Pass *q, const Scratch *s, float p, float y, float weight, float initial) noexcept nogil:
    cdef float d
    if q.first:
        q.sums[WEIGHT_SUM] += weight
        add(&q.m, s, DIAGONAL, q.m.loss.curvature(&q.m.params, p, y) * weight, True)
    if q.gradient:
        q.sums[LOSS_SUM] += q.m.loss.value(&q.m.params, p, y) * weight
        add(&q.m, s, GRADIENT, q.m.loss.slope(&q.m.params, p, y) * weight, False)
    else:
        d = directional_derivative(&q.m, s, initial)
        q.sums[CURVATURE] += <double>d * d * q.m.loss.curvature(&q.m.params, p, y) * weight


cdef inline double inner_product_float64(const float *table, const Scratch *s, double sum) noexcept nogil:
    cdef size_t i
    for i in range(s.terms):
        sum += <double>table[s.index[i]] * s.value[i]
    return sum


cdef inline void add_float64(double *vectors, const Scratch *s, int column, double factor, bint squared) noexcept nogil:
    cdef size_t i
    cdef double x
    for i in range(s.terms):
        x = s.value[i]
        vectors[VECTORS * <size_t>s.index[i] + column - 1] += factor * (x * x if squared else x)


cdef inline void mark_features(double *vectors, const Scratch *s) noexcept nogil:
    """Mark the features that occur, in the column of directions, which is not needed yet."""
    cdef size_t i
    for i in range(s.terms):
        vectors[VECTORS * <size_t>s.index[i] + DIRECTION - 1] = 1


cdef inline double directional_derivative_float64(const double *vectors, const Scratch *s) noexcept nogil:
    cdef size_t i
    cdef double sum = 0
    for i in range(s.terms):
        sum += vectors[VECTORS * <size_t>s.index[i] + DIRECTION - 1] * s.value[i]
    return sum


cdef inline void learn_float64(Pass *q, const Scratch *s, float p, float y, double weight) noexcept nogil:
    """``learn`` except under ``vwlite vw``: the loss is that of the prediction before clipping, and sums are float64."""
    cdef double value = q.m.loss.value(&q.unbounded_params, p, y) * q.share, slope = q.m.loss.slope(&q.unbounded_params, p, y), d
    if q.first:
        q.sums[WEIGHT_SUM] += weight
        mark_features(q.vectors, s)
        add_float64(q.vectors, s, DIAGONAL, effective_curvature(q.m.loss.curvature(&q.unbounded_params, p, y), value, slope) * weight, True)
    if q.gradient:
        q.sums[LOSS_SUM] += value * weight
        add_float64(q.vectors, s, GRADIENT, slope * weight, False)
    else:
        d = directional_derivative_float64(q.vectors, s)
        q.sums[CURVATURE] += d * d * effective_curvature(q.m.loss.curvature(&q.unbounded_params, p, y), value, slope) * weight


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(&(<Pass *>learner).m, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Pass *q = <Pass *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    if q.vectors == NULL:
        out.raw[row] = inner_product(&q.m, s, rows.initial_prediction[row])
    else:
        out.raw[row] = <float>inner_product_float64(q.m.table, s, rows.initial_prediction[row])
    p = clip(out.raw[row], &q.m)
    out.prediction[row] = apply_link(q.m.link, p)
    if labeled and not held:
        if not q.m.frozen:
            widen_range(&q.m, y)
        p = clip(out.raw[row], &q.m)
        if weight > 0 and q.vectors == NULL:
            learn(q, s, p, y, weight, rows.initial_prediction[row])
        elif weight > 0:
            learn_float64(q, s, out.raw[row], y, weight)
    out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
    out.features[row] = <uint32_t>(s.count if not q.m.vw_compat else s.count - (s.terms - s.linear))  # vw leaves interactions out
    count_time(&q.m, weight, labeled, held)
    return OK if isfinite(out.raw[row]) else UNSTABLE


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Add the rows ``[begin, end)`` to the sums of this pass; as ``run_rows`` of ``gd.pyx``.

    ``state.sums`` float64[3]. Under ``vwlite vw`` ``state.vectors`` is None and ``state.weights`` float32[2^bits, 4] has weight,
    gradient, direction, diagonal; else it has the weight, and ``state.vectors`` float64[2^bits, 3] the others.
    """
    cdef Pass q
    cdef double[::1] sums = state.sums
    cdef double[:, ::1] vectors
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    q.m = open_learner(state, config)
    q.sums, q.gradient, q.first, q.vectors = &sums[0], state.gradient, state.first, NULL
    call.learning, call.plan.flat = True, plan.flat
    check_fit(state, &call)
    if sums.shape[0] != SUMS or state.mask is not None or q.m.stride != (4 if state.vectors is None else 1):
        raise ValueError("batch optimisation needs its sums, its columns and no mask")
    if state.vectors is not None:
        vectors = state.vectors
        if <size_t>vectors.shape[0] != q.m.slots or vectors.shape[1] != VECTORS:
            raise ValueError("table and vectors do not belong together")
        q.vectors, q.unbounded_params = &vectors[0, 0], unbounded(q.m.params)
        q.share = 0.5 if config.loss_code == LOSS_POISSON else 1  # the deviance is twice the negative log-likelihood
    with nogil:
        status = process_in_order(&q, prepare, process_example, not q.m.vw_compat, &call)
    return status, call.row
