"""Passes over the data for batch optimisation (BFGS) of classes, by softmax or one against all; the weights are one vector."""

from libc.math cimport exp, fmax, isnan, log
from libc.stdint cimport uint32_t

from base.byte_scan cimport prefetch
from features.namespace_groups cimport Rows
from learners.batch_sums cimport (
    DIAGONAL, GRADIENT, Derivatives, VectorPass, add_example, derive_along, derive_sigmoid, effective_curvature,
    open_vector_pass, predict_all
)
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.softmax_rows cimport (
    FIRST, MULTINOMIAL, Softmax, number_of_first, open_lists, open_softmax, report, smooth_target, true_class,
)
from features.row_buffer cimport Scratch
from base.status cimport OK
from features.kernel_views cimport Results


cdef struct Pass:
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


cdef inline double curvature_along(const Pass *q) noexcept nogil:
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


cdef inline void learn(Pass *q, const Scratch *s, double weight) noexcept nogil:
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


cdef inline void rotate_classes(Pass *q) noexcept nogil:
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


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Pass *q = <Pass *>learner
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
    status = report(&q.m, rows, row, first, true, held, out)
    if learns and weight > 0 and true < q.m.classes and status == OK:
        smooth_target(&q.m.labels, true)
        learn(q, s, weight)
    out.features[row] = <uint32_t>s.count
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by the numbers of features."""
    cdef Pass *q = <Pass *>learner
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = s.index[i] & q.m.mask
        if not s.in_cache:
            prefetch(q.v.weights + q.v.width * s.index[i])


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Add the rows ``[begin, end)`` to the sums of this pass; as ``run_rows`` of ``softmax.pyx``, with what that of
    ``bfgs_outputs.pyx`` takes.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Pass q
    cdef int status
    q.m = open_softmax(state, config, call.rows.size)
    open_vector_pass(&q.v, state, q.m.classes, q.m.width)
    call.learning, call.plan.flat = True, plan.flat
    if config.shares and batch.lists is not None:
        open_lists(&q.m.labels, batch.lists, call.rows.size)
    check_fit(state, &call)
    with nogil:
        status = process_in_order(&q, prepare, process_example, True, &call)
    return status, call.row
