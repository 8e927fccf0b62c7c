"""Passes over the data for batch optimisation (BFGS): the gradient of the loss and the diagonal of its Hessian, or its curvature along a
direction; of one weight a feature, of several outputs, whose weights are one vector, and so of classes, by softmax or one against all.
"""

from libc.math cimport exp, fmax, isfinite, isnan, log
from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from base.status cimport OK, UNSTABLE
from losses.loss_types cimport LossParams, apply_link
from losses.losses cimport LOSS_POISSON
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.batch_sums cimport (
    CURVATURE, DIAGONAL, DIRECTION, GRADIENT, LOSS_SUM, SUMS, VECTORS, WEIGHT_SUM, Derivatives, VectorPass,
    add_example, derive_along, derive_loss, derive_sigmoid, effective_curvature, find_vectors, open_vector_pass,
    predict_all, unbounded,
)
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport Learner, clip, count_time, inner_product, open_learner, prefetch_slots, widen_range
from learners.output_rows cimport (
    Outputs, count_times, open_labels, open_outputs, open_results_of_outputs, read_labels, report,
)
from learners.softmax_rows cimport (
    FIRST, MULTINOMIAL, Softmax, number_of_first, open_lists, open_softmax, report as report_classes, smooth_target, true_class,
)


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


cdef struct OutputPass:
    Outputs m
    VectorPass v
    int loss                     # its code


cdef inline double derive_losses(OutputPass *q) noexcept nogil:
    """The sum of the losses of the outputs, 0 where a label is missing; fills their derivatives."""
    cdef VectorPass *v = &q.v
    cdef Derivatives d
    cdef LossParams params
    cdef double total = 0
    cdef uint32_t c
    for c in range(v.size):
        v.slope[c] = v.curvature[c] = 0
        if isnan(q.m.label[c]):
            continue
        params = unbounded(q.m.each[c].params)
        d = derive_loss(&q.m.each[c].loss, &params, q.loss, v.z[c], q.m.label[c])
        v.slope[c], v.curvature[c] = d.slope, effective_curvature(d.curvature, d.value, d.slope)
        total += d.value
    return total


cdef inline void learn_outputs(OutputPass *q, const Scratch *s, double weight) noexcept nogil:
    cdef double value = derive_losses(q), curvature = 0
    cdef uint32_t c
    if not q.v.gradient:
        derive_along(&q.v, s)
        for c in range(q.v.size):
            curvature += q.v.curvature[c] * q.v.along[c] * q.v.along[c]
    add_example(&q.v, s, value, curvature, weight)


cdef int process_outputs(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef OutputPass *q = <OutputPass *>learner
    cdef float weight = rows.importance[row]
    cdef bint labeled = not isnan(rows.label[row]), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef int status
    cdef uint32_t c
    read_labels(&q.m, row, labeled)
    predict_all(&q.v, s, rows.initial_prediction[row])
    for c in range(q.v.size):
        q.m.raw[row * q.v.size + c] = <float>q.v.z[c]
    status = report(&q.m, row, s.count, weight, labeled and not held, held, out)
    if labeled and not held and weight > 0 and status == OK:
        learn_outputs(q, s, weight)
    count_times(&q.m, weight, held)
    return status


cdef void prepare_outputs(void *learner, Scratch *s) noexcept nogil:
    find_vectors(&(<OutputPass *>learner).v, (<OutputPass *>learner).m.mask, s)


def run_output_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Add the rows ``[begin, end)`` to the sums of this pass; as ``run_rows`` of ``outputs.pyx``.

    ``state.sums`` float64[3]; ``state.vectors`` float64[2^bits, 3] with contiguous columns: gradient, direction, diagonal.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef OutputPass q
    cdef int status
    q.m.each, q.loss = NULL, config.loss_code
    try:
        open_outputs(&q.m, state, config, False)
        open_labels(&q.m, batch.lists, call.rows.size)
        open_results_of_outputs(&q.m, state, call.rows.size)
        open_vector_pass(&q.v, state, q.m.outputs, q.m.width)
        call.learning, call.plan.flat = True, plan.flat
        check_fit(state, &call)
        with nogil:
            status = process_in_order(&q, prepare_outputs, process_outputs, True, &call)
    finally:
        free(q.m.each)
    return status, call.row


class OfOutputs:
    """What adds rows of several outputs, as this module does of one."""

    run_rows = staticmethod(run_output_rows)


cdef struct ClassPass:
    Softmax m
    VectorPass v


cdef inline double derive_softmax(VectorPass *v, const float *target) noexcept nogil:
    """The divergence of the label from the softmax probabilities; fills its derivatives."""
    cdef double top = v.z[0], total = 0, value, p
    cdef uint32_t c
    for c in range(1, v.size):
        top = fmax(top, v.z[c])
    for c in range(v.size):
        v.slope[c] = exp(v.z[c] - top)
        total += v.slope[c]
    value = top + log(total)
    for c in range(v.size):
        p = v.slope[c] / total
        v.slope[c], v.curvature[c] = p - target[c], p * (1 - p)
        if target[c] > 0:
            value += target[c] * (log(<double>target[c]) - v.z[c])
    return value


cdef inline double derive_logistic(VectorPass *v, const float *target) noexcept nogil:
    """The sum of the logistic losses of all classes; fills their derivatives."""
    cdef Derivatives d
    cdef double total = 0
    cdef uint32_t c
    for c in range(v.size):
        d = derive_sigmoid(v.z[c], target[c])
        v.slope[c], v.curvature[c] = d.slope, effective_curvature(d.curvature, d.value, d.slope)
        total += d.value
    return total


cdef inline double curvature_along(const ClassPass *q) noexcept nogil:
    """The second derivative of the loss of one example along the direction."""
    cdef double square = 0, mean = 0, a
    cdef uint32_t c
    for c in range(q.v.size):
        a = q.v.along[c]
        if q.m.loss == MULTINOMIAL:            # the variance of a by the probabilities
            square += (q.v.slope[c] + q.m.labels.target[c]) * a * a
            mean += (q.v.slope[c] + q.m.labels.target[c]) * a
        else:
            square += q.v.curvature[c] * a * a
    return square - mean * mean


cdef inline void learn_classes(ClassPass *q, const Scratch *s, double weight) noexcept nogil:
    cdef double curvature = 0, value
    value = derive_softmax(&q.v, q.m.labels.target) if q.m.loss == MULTINOMIAL else derive_logistic(&q.v, q.m.labels.target)
    if not q.v.gradient:
        derive_along(&q.v, s)
        curvature = curvature_along(q)
    add_example(&q.v, s, value, curvature, weight)


cdef inline void rotate_float64(double *slots, size_t features, size_t width, uint32_t size) noexcept nogil:
    cdef size_t feature
    cdef uint32_t c
    cdef double last
    for feature in range(features):
        last = slots[feature * width + size - 1]
        for c in range(size - 1, 0, -1):
            slots[feature * width + c] = slots[feature * width + c - 1]
        slots[feature * width] = last


cdef inline void rotate_classes(ClassPass *q) noexcept nogil:
    """What was learned of labels as of classes numbered from 1, of which none was the last, when they are found to be numbered
    from 0: all that is known of a class moves to the next.
    """
    cdef size_t feature, features = <size_t>q.m.mask + 1
    cdef uint32_t c
    cdef float *w
    cdef float last
    rotate_float64(q.v.vectors[GRADIENT - 1], features, q.v.width, q.v.size)
    rotate_float64(q.v.vectors[DIAGONAL - 1], features, q.v.width, q.v.size)
    for feature in range(features):
        w = q.m.w + feature * q.v.width
        last = w[q.v.size - 1]
        for c in range(q.v.size - 1, 0, -1):
            w[c] = w[c - 1]
        w[0] = last


cdef int process_classes(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef ClassPass *q = <ClassPass *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint held = out.holdout_mask != NULL and out.holdout_mask[row], learns = not isnan(y) and not held
    cdef bint unknown = q.m.scalars[FIRST] < 0
    cdef uint32_t c, first = number_of_first(&q.m, row, y, learns), true = true_class(&q.m, y, first)
    cdef int status
    if unknown and first == 0:
        rotate_classes(q)
    predict_all(&q.v, s, rows.initial_prediction[row])
    for c in range(q.v.size):
        q.m.s[c] = <float>q.v.z[c]
    status = report_classes(&q.m, rows, row, first, true, held, out)
    if learns and weight > 0 and true < q.m.classes and status == OK:
        smooth_target(&q.m.labels, true)
        learn_classes(q, s, weight)
    out.features[row] = <uint32_t>s.count
    return status


cdef void prepare_classes(void *learner, Scratch *s) noexcept nogil:
    find_vectors(&(<ClassPass *>learner).v, (<ClassPass *>learner).m.mask, s)


def run_class_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Add the rows ``[begin, end)`` to the sums of this pass; as ``run_rows`` of ``softmax.pyx``, with what
    ``run_output_rows`` takes.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef ClassPass q
    cdef int status
    q.m = open_softmax(state, config, call.rows.size)
    open_vector_pass(&q.v, state, q.m.classes, q.m.width)
    call.learning, call.plan.flat = True, plan.flat
    if config.shares and batch.lists is not None:
        open_lists(&q.m.labels, batch.lists, call.rows.size)
    check_fit(state, &call)
    with nogil:
        status = process_in_order(&q, prepare_classes, process_classes, True, &call)
    return status, call.row


class OfClasses:
    """What adds rows of classes, as this module does of one output."""

    run_rows = staticmethod(run_class_rows)
