"""Passes over the data for batch optimisation (BFGS) of several outputs, whose weights are one vector."""

from libc.math cimport isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from base.byte_scan cimport prefetch
from features.namespace_groups cimport Rows
from learners.batch_sums cimport (
    Derivatives, VectorPass, add_example, derive_along, derive_loss, effective_curvature, open_vector_pass, predict_all, unbounded
)
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.output_rows cimport Outputs, count_times, open_labels, open_outputs, open_results_of_outputs, read_labels, report
from losses.loss_types cimport LossParams
from features.row_buffer cimport Scratch
from base.status cimport OK
from features.kernel_views cimport Results


cdef struct Pass:
    Outputs m
    VectorPass v
    int loss                     # its code


cdef inline double derive_losses(Pass *q) noexcept nogil:
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


cdef inline void learn(Pass *q, const Scratch *s, double weight) noexcept nogil:
    cdef double value = derive_losses(q), curvature = 0
    cdef uint32_t c
    if not q.v.gradient:
        derive_along(&q.v, s)
        for c in range(q.v.size):
            curvature += q.v.curvature[c] * q.v.along[c] * q.v.along[c]
    add_example(&q.v, s, value, curvature, weight)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Pass *q = <Pass *>learner
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
        learn(q, s, weight)
    count_times(&q.m, weight, held)
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
    """Add the rows ``[begin, end)`` to the sums of this pass; as ``run_rows`` of ``outputs.pyx``.

    ``state.sums`` float64[3]; ``state.vectors`` float64[2^bits, 3] with contiguous columns: gradient, direction, diagonal.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Pass q
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
            status = process_in_order(&q, prepare, process_example, True, &call)
    finally:
        free(q.m.each)
    return status, call.row
