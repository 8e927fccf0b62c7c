"""Whole passes over the data for batch optimisation: the loss's gradient and diagonal, its curvature along a direction."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t

from core.descent cimport Learner, clip, count_time, inner_product, open_learner, prefetch_slots, widen_range
from core.groups cimport Rows
from core.in_order cimport check_fit, visit_in_order
from core.links cimport apply_link
from core.plan cimport Plan
from core.scratch cimport Scratch
from core.status cimport OK, UNSTABLE
from core.view cimport Results, open_plan, open_results, open_rows

cdef enum:
    GRADIENT = 1             # columns of the table
    DIRECTION = 2
    DIAGONAL = 3
    LOSS_SUM = 0             # positions in the sums, named in vwlite/learners/bfgs.py
    WEIGHT_SUM = 1
    CURVATURE = 2
    SUMS = 3


cdef struct Pass:
    Learner m
    double *sums             # (SUMS,)
    bint gradient            # this pass takes the gradient, else the curvature
    bint first               # and, the first, the diagonal of second derivatives and the examples' weight too


cdef inline void add(Learner *m, const Scratch *s, int column, float factor, bint squared) noexcept nogil:
    cdef size_t i
    cdef float x
    for i in range(s.terms):
        x = s.value[i]
        m.table[4 * <size_t>s.index[i] + column] += factor * (x * x if squared else x)


cdef inline float along(const Learner *m, const Scratch *s, float sum) noexcept nogil:
    """How fast the prediction moves in the direction; ``sum`` is 0, or the base in vw's manners."""
    cdef size_t i
    for i in range(s.terms):
        sum += m.table[4 * <size_t>s.index[i] + DIRECTION] * s.value[i]
    return sum


cdef inline void learn(Pass *q, const Scratch *s, float p, float y, float weight, float base) noexcept nogil:
    cdef float d
    if q.first:
        q.sums[WEIGHT_SUM] += weight
        add(&q.m, s, DIAGONAL, q.m.loss.curvature(&q.m.params, p, y) * weight, True)
    if q.gradient:
        q.sums[LOSS_SUM] += q.m.loss.value(&q.m.params, p, y) * weight
        add(&q.m, s, GRADIENT, q.m.loss.slope(&q.m.params, p, y) * weight, False)
    else:
        d = along(&q.m, s, 0 if q.m.strict else base)
        q.sums[CURVATURE] += <double>d * d * q.m.loss.curvature(&q.m.params, p, y) * weight


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(&(<Pass *>learner).m, s)


cdef int visit(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Pass *q = <Pass *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p
    cdef bint labeled = not isnan(y), held = out.held != NULL and out.held[row]
    out.raw[row] = inner_product(&q.m, s, rows.base[row])
    p = clip(out.raw[row], &q.m)
    out.prediction[row] = apply_link(q.m.link, p)
    if labeled and not held:
        if not q.m.frozen:
            widen_range(&q.m, y)
        p = clip(out.raw[row], &q.m)
        if weight > 0:
            learn(q, s, p, y, weight, rows.base[row])
    out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
    out.features[row] = <uint32_t>(s.count if q.m.strict else s.count - (s.terms - s.linear))  # vw: without interactions
    count_time(&q.m, weight, labeled, held)
    return OK if isfinite(out.raw[row]) else UNSTABLE


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Take the rows ``[begin, end)`` into the sums of this pass; as ``run_rows`` of ``gd.pyx``.

    ``state.weights`` float32[2^bits, 4] has weight, gradient, direction, diagonal; ``state.sums`` float64[3].
    """
    cdef size_t end = end_and_mode[0]
    cdef Pass q
    cdef double[::1] sums = state.sums
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef int status
    q.m = open_learner(state, config)
    q.sums, q.gradient, q.first = &sums[0], state.gradient, state.first
    native_plan.flat = plan.flat
    check_fit(state, &native_plan, &rows, end, True)
    if sums.shape[0] != SUMS or state.mask is not None or q.m.stride != 4:
        raise ValueError("batch optimisation needs its sums, four columns and no mask")
    with nogil:
        status = visit_in_order(&q, prepare, visit, q.m.strict, &rows, &native_plan, &out, &begin, end, True)
    return status, begin
