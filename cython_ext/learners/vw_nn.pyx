"""Networks as Vowpal Wabbit's ``--nn`` has them: gradient descent on every unit, one hidden layer, one output.

A unit is a linear learner whose label is the sum that a step against the output's gradient would lead to, and the output is
another, of the units' tanh. All share a table; a feature has ``2^shift`` slots, one for each unit and one for the output.
"""

from libc.math cimport isfinite, isnan, sqrtf
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from base.float32 cimport ONE
from base.status cimport NO_MEMORY, OK, UNSTABLE
from base.random cimport random_next
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch, close_scratch, open_scratch, reserve_row_terms
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport (
    NORMS, SCALARS, Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots, widen_range
)
from losses.loss_types cimport Loss, apply_link
from losses.losses cimport LOSS_SQUARED, get_loss

cdef extern from *:
    """
    #include <string.h>
    /* tanh by a rational function for the power of 2 between whole numbers, whose bits are those of the float itself */
    static inline float vwl_fast_tanh(float x) {
        float p = 1.442695040f * (-2 * x), clipped = p < -126 ? -126.0f : p, z, power;
        z = clipped - (float)(int32_t)clipped + (p < 0 ? 1.0f : 0.0f);
        uint32_t bits = (uint32_t)((float)(1 << 23) * (clipped + 121.2740575f + 27.7280233f / (4.84252568f - z) - 1.49012907f * z));
        memcpy(&power, &bits, sizeof power);
        return -1 + 2 / (1 + power);
    }
    """
    float fast_tanh "vwl_fast_tanh"(float x) noexcept nogil

cdef enum:
    OUTPUT_SLOT = 533357803     # of the weight of the first unit in the output
    BIAS = 11650396             # by the stride of the table: the slot of the first unit's bias, which no prediction has
    REACH = 3                   # sums of units are clipped to it


cdef struct VwNn:
    Learner m
    Loss loss              # of the options, and the squared one
    Loss squared
    float *table
    double *norms          # (units + 1, NORMS)
    uint32_t units
    int shift
    uint32_t mask          # of slots
    uint64_t *random_state
    float *hidden          # (units,) their sums, clipped
    Scratch alone          # terms of a single weight
    Scratch output         # terms of the units' tanh and the constant


cdef inline void take(VwNn *q, uint32_t which, uint32_t offset) noexcept nogil:
    """Have ``m`` learn unit ``which``, or the output, whose number is that of units; of the features' slots the one at ``offset``."""
    q.m.norms = q.norms + NORMS * which
    q.m.table = q.table + q.m.stride * offset


cdef inline void set_bounds(VwNn *q, float low, float high) noexcept nogil:
    q.m.params.min_label, q.m.params.max_label = low, high


cdef inline int begin_weight(VwNn *q, uint32_t slot, float scale) noexcept nogil:
    """A random start of a weight that is 0, by a step to a random label."""
    cdef float p
    q.alone.index[0] = slot & q.mask
    p = clip(inner_product(&q.m, &q.alone, 0), &q.m)
    if p != 0:
        return OK
    return learn_row(&q.m, &q.alone, p, (random_next(q.random_state) - <float>0.5) / scale, 1)


cdef inline int sum_units(VwNn *q, Scratch *s, bint learning) noexcept nogil:
    """Fill ``hidden`` and ``output``; weights begin where the run learns."""
    cdef uint32_t i
    cdef int status = OK
    set_bounds(q, -REACH, REACH)
    if learning:
        for i in range(q.units):
            take(q, i, 0)
            status |= begin_weight(q, <uint32_t>(BIAS / q.m.stride) + i, 1)
    for i in range(q.units):
        take(q, i, i)
        q.hidden[i] = clip(inner_product(&q.m, s, 0), &q.m)
    take(q, q.units, 0)
    q.m.loss = q.squared
    for i in range(q.units):
        if learning:
            status |= begin_weight(q, OUTPUT_SLOT + i + q.units, sqrtf(<float>q.units))
        q.output.value[i] = fast_tanh(q.hidden[i])
    q.m.loss = q.loss
    return status


cdef inline int learn_units(VwNn *q, Scratch *s, float slope, float weight) noexcept nogil:
    """A step of every unit, by the weights that the output has by now."""
    cdef uint32_t i
    cdef float own, move, y
    cdef int status = OK
    set_bounds(q, -REACH, REACH)
    q.m.loss = q.squared
    for i in range(q.units):
        q.alone.index[0] = q.output.index[i]
        take(q, q.units, 0)
        own = clip(inner_product(&q.m, &q.alone, 0), &q.m)
        move = <float>0.5 * (own * slope) * (ONE - q.output.value[i] * q.output.value[i])
        y = clip(q.hidden[i] - move, &q.m)
        if y != q.hidden[i]:
            take(q, i, i)
            status |= learn_row(&q.m, s, q.hidden[i], y, weight)
    q.m.loss = q.loss
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by the slots of the first unit."""
    cdef VwNn *q = <VwNn *>learner
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = (s.index[i] << q.shift) & q.mask
    prefetch_slots(&q.m, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef VwNn *q = <VwNn *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p, raw, slope, low, high
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = learning and labeled and not held
    cdef int linear = <int>s.linear
    cdef int status
    if known and not q.m.frozen:
        widen_range(&q.m, y)
    low, high = q.m.params.min_label, q.m.params.max_label
    status = sum_units(q, s, learning)
    set_bounds(q, low, high)
    raw = inner_product(&q.m, &q.output, rows.initial_prediction[row])
    p = clip(raw, &q.m)
    status |= OK if isfinite(raw) else UNSTABLE
    out.raw[row] = raw
    out.prediction[row] = apply_link(q.m.link, p)
    out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
    if known and weight > 0:
        slope = q.m.loss.slope(&q.m.params, p, y)
        status |= learn_row(&q.m, &q.output, p, y, weight)
        if slope != 0:
            status |= learn_units(q, s, slope, weight)
            set_bounds(q, low, high)
    s.linear = linear
    out.features[row] = <uint32_t>s.count
    take(q, 0, 0)
    count_time(&q.m, weight, labeled, held)
    return status


cdef int open_terms(VwNn *q) noexcept nogil:
    """Memory for the terms that are not a row's."""
    cdef uint32_t i
    open_scratch(&q.alone)
    open_scratch(&q.output)
    q.hidden = <float *>malloc(q.units * sizeof(float))
    if q.hidden == NULL or reserve_row_terms(&q.alone, 1) != OK or reserve_row_terms(&q.output, q.units + 1) != OK:
        return NO_MEMORY
    q.alone.terms, q.output.terms = 1, q.units + 1
    q.alone.linear = q.output.linear = 0       # no namespace has their squared norms
    q.alone.constant = q.output.constant = False
    q.alone.value[0] = 1
    for i in range(q.units + 1):
        q.output.index[i], q.output.value[i] = (OUTPUT_SLOT + i + q.units) & q.mask, 1
    return OK


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef double[:, ::1] norms = state.norms
    cdef uint64_t[::1] random_state = state.random_state
    cdef VwNn q
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    q.m = open_learner(state, config)
    q.table, q.loss, q.norms, q.random_state = q.m.table, q.m.loss, &norms[0, 0], &random_state[0]
    q.units, q.shift, q.mask = config.units, config.shift, <uint32_t>q.m.slots - 1
    get_loss(LOSS_SQUARED, &q.squared)
    q.m.copying = False
    check_fit(state, &call)
    if not 1 <= q.units < <uint32_t>1 << q.shift <= q.m.slots or norms.shape[0] != q.units + 1 or norms.shape[1] != NORMS:
        raise ValueError("the units do not fit the table")
    if state.mask is not None or state.scalars.shape[0] != SCALARS:
        raise ValueError("a network learns without a mask")
    call.plan.flat = plan.flat and (q.m.stride == 4 or not call.learning)     # as in ``gd.pyx``
    with nogil:
        status = open_terms(&q)
        if status == OK:
            status = process_in_order(&q, prepare, process_example, not q.m.vw_compat, &call)
    close_scratch(&q.alone)
    close_scratch(&q.output)
    free(q.hidden)
    return status, call.row
