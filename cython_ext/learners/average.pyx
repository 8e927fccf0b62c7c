"""Gradient descent that predicts with the mean of its iterates (Ruppert 1988; Polyak and Juditsky, 1992).

Steps are those of ``learners/gd_update.pxd``. Of each slot a sum is kept beside the weight, from which the mean follows without
looking at slots that a step leaves alone (Bottou, "Stochastic Gradient Descent Tricks", 2012, section 5.1): iterate t is
``c_t v_t``, of a scale and the table's entry. With ``C_t`` the sum of the first t scales and ``d_t`` the change of the entry by
step t, the iterates sum up to ``C_T v_T - sum_t C_(t-1) d_t``.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t

from base.byte_scan cimport unlikely
from learners.adaptive_rates cimport SHORT_ROW, Ahead, prefetch_ahead
from learners.gd_update cimport (
    L2_SCALE, Learner, can_be_copied, clip, copied_product, count_time, inner_product, learn_known, open_learner,
    prefetch_during_scan, prefetch_slots, sync, widen_range
)
from learners.gd_update cimport SCALARS as GD_SCALARS
from learners.label_steps cimport learn_in_units, open_labels, units_after
from learners.label_units cimport NextUnits, in_label_units
from learners.iterate_means cimport COUNT, MEAN_SCALARS, NEXT_SCALE_SUM, SCALE_SUM, MeanCounts, count_iterate
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport apply_link, value_needs_update
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results


cdef enum:                          # positions in the mean's scalars, which follow those of gradient descent
    SETTLED_SCALE = MEAN_SCALARS    # the scale when C was set to 0 last, or 1
    SCALARS = GD_SCALARS + MEAN_SCALARS + 1


cdef struct Sums:                   # of a slot, as Python has them: four columns of a table
    float sum                       # of each change of the table's entry, times C before it
    float next_sum                  # the same of the mean that begins later
    float last                      # the entry after the last row that has the slot
    float number                    # of the mean that ``sum`` belongs to


cdef struct Averager:
    Learner m                       # first, as the rows of short examples are processed with a pointer to it
    Sums *sums                      # (2^bits,)
    MeanCounts mean
    Ahead ahead                     # sums of the next row to be prefetched, as its slots are


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    cdef Averager *a = <Averager *>learner
    if a.m.stride == 4:
        prefetch_during_scan(&a.m, s)
    else:
        prefetch_slots(&a.m, s)
    while a.ahead.left:
        prefetch_ahead(&a.ahead, <float *>a.sums, 4, 4, 0)
    a.ahead = Ahead(s.index, 0 if s.in_cache else s.terms, s.terms > SHORT_ROW)


cdef inline float sum_now(const Averager *a, const Sums *slot) noexcept nogil:
    """The sum of the present mean: sums are moved on only where a slot is used."""
    return slot.sum if slot.number == a.mean.number else slot.next_sum if slot.number == a.mean.number - 1 else 0


cdef inline void bring_up(const Averager *a, Sums *slot) noexcept nogil:
    slot.sum, slot.next_sum, slot.number = sum_now(a, slot), 0, a.mean.number


cdef inline float mean_of(const Averager *a, const Sums *slot) noexcept nogil:
    """The mean of the slot's iterates, in units of the table; the last entry where the mean has not begun."""
    cdef double count = a.mean.scalars[COUNT] * a.m.scalars[L2_SCALE]
    return <float>((a.mean.scalars[SCALE_SUM] * slot.last - sum_now(a, slot)) / count) if count != 0 else slot.last


cdef inline float mean_product(const Averager *a, const Scratch *s, float start) noexcept nogil:
    cdef size_t i
    cdef float sum = start
    for i in range(s.terms):
        sum += mean_of(a, &a.sums[s.index[i]]) * s.value[i]
    return sum * <float>a.m.scalars[L2_SCALE]


cdef inline void note_changes(Averager *a, const Scratch *s) noexcept nogil:
    """After a step: a slot that the row has twice is unchanged the second time."""
    cdef size_t i
    cdef Sums *slot
    cdef float w, change, scales = <float>a.mean.scalars[SCALE_SUM], next_scales = <float>a.mean.scalars[NEXT_SCALE_SUM]
    for i in range(s.terms):
        if i & 3 == 0:
            prefetch_ahead(&a.ahead, <float *>a.sums, 4, 4, s.terms - i)
        slot, w = &a.sums[s.index[i]], a.m.table[a.m.stride * s.index[i]]
        if slot.number != a.mean.number:
            bring_up(a, slot)
        change = w - slot.last
        slot.sum += scales * change
        slot.next_sum += next_scales * change
        slot.last = w


cdef inline void settle(Averager *a) noexcept nogil:
    """Make all sums those of the iterates, with their sign turned, and the sums of scales 0.

    As the scale falls, ``C v`` becomes much larger than the sum of iterates, which is a difference from it.
    """
    cdef double scales = a.mean.scalars[SCALE_SUM], next_scales = a.mean.scalars[NEXT_SCALE_SUM]
    cdef Sums *slot
    cdef size_t i
    for i in range(a.m.slots):
        slot = &a.sums[i]
        if slot.last == 0 and slot.sum == 0 and slot.next_sum == 0:
            continue
        if slot.number != a.mean.number:
            bring_up(a, slot)
        slot.sum = <float>(slot.sum - scales * slot.last)
        slot.next_sum = <float>(slot.next_sum - next_scales * slot.last)
    a.mean.scalars[SCALE_SUM] = a.mean.scalars[NEXT_SCALE_SUM] = 0
    a.mean.scalars[SETTLED_SCALE] = a.m.scalars[L2_SCALE]


cdef inline void sync_sums(Averager *a) noexcept nogil:
    """``settle``, and ``sync`` where that is due as in gradient descent."""
    cdef size_t slot
    settle(a)
    if a.m.scalars[L2_SCALE] < 1e-9:
        sync(&a.m)
        for slot in range(a.m.slots):
            if a.sums[slot].last != 0:
                a.sums[slot].last = a.m.table[a.m.stride * slot]
        a.mean.scalars[SETTLED_SCALE] = 1


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    """As in ``gd.pyx``, but rows that are not learned are predicted with the mean."""
    cdef Averager *a = <Averager *>learner
    cdef Learner *m = &a.m
    cdef float y = rows.label[row], weight = rows.importance[row], loss = 0, p
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = labeled and not held, learn = known and weight > 0, steps, in_units = m.labels.sums != NULL
    cdef float start = rows.initial_prediction[row], product
    cdef NextUnits units
    cdef int status = OK
    s.copied = False
    if in_units and learn:
        units = units_after(m, <double>y - start, weight)
    if not learn:
        product = mean_product(a, s, 0 if in_units else start)
    elif can_be_copied(m, s):
        product = copied_product(m, s, row, 0 if in_units else start)
    else:
        product = inner_product(m, s, 0 if in_units else start)
    out.raw[row] = <float>in_label_units(&m.labels, product, start) if in_units else product
    if known and not m.frozen and not in_units:
        widen_range(m, y)
    p = clip(out.raw[row], m)
    if unlikely(not isfinite(out.raw[row])):
        status = UNSTABLE
    if labeled:
        loss = m.loss.value(&m.params, p, y)
    if learn and (m.vw_compat or status == OK):
        steps = in_units or value_needs_update(&m.loss, &m.params, loss, p, y)
        if in_units:
            status |= learn_in_units(m, s, &units, product, start, y, weight, s.copied)
        else:
            status |= learn_known(m, s, p, y, weight, steps, s.copied)
        if steps or m.sparse_l2 > 0:
            note_changes(a, s)
        count_iterate(&a.mean, m.scalars[L2_SCALE])
        if unlikely(m.scalars[L2_SCALE] < a.mean.scalars[SETTLED_SCALE] / 64):
            sync_sums(a)
    out.loss[row] = loss * weight if weight > 0 else 0
    out.prediction[row] = apply_link(m.link, p)
    out.features[row] = <uint32_t>s.count
    count_time(m, weight, labeled, held)
    return status


cdef Averager open_averager(state, config) except *:
    """From a ``vwlite.learners.average.Average`` and its ``KernelConfig``."""
    cdef float[:, ::1] sums = state.sums
    cdef Averager a
    a.m = open_learner(state, config)
    if <size_t>sums.shape[0] != a.m.slots or sums.shape[1] != 4 or state.scalars.shape[0] != SCALARS:
        raise ValueError("the sums do not fit the table")
    a.sums = <Sums *>&sums[0, 0]
    a.mean.scalars = a.m.scalars + GD_SCALARS
    a.mean.after = config.average_after
    a.mean.number = state.number
    a.ahead = Ahead(NULL, 0, False)
    return a


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Learn from the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef Averager a = open_averager(state, config)
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    a.m.labels = open_labels(state, config, call.plan.constant, False)
    call.learning = True
    call.plan.flat = plan.flat and a.m.stride == 4
    check_fit(state, &call)
    with nogil:
        status = process_in_order(&a, prepare, process_example, not a.m.vw_compat, &call)
    state.number = a.mean.number
    return status, call.row


def means(state, config, size_t begin, float[::1] out):
    """Fill ``out``, float32[n], with the means of the slots from ``begin``, in units of the table."""
    cdef Averager a = open_averager(state, config)
    cdef size_t i, n = out.shape[0]
    if begin + n > a.m.slots:
        raise ValueError("slots beyond the table")
    with nogil:
        for i in range(n):
            out[i] = mean_of(&a, &a.sums[begin + i])


def bring_up_slots(state, config, size_t begin, size_t end):
    """Move the sums of the slots ``[begin, end)`` on to the present mean, as a model has them."""
    cdef Averager a = open_averager(state, config)
    cdef size_t i
    if not begin <= end <= a.m.slots:
        raise ValueError("slots beyond the table")
    with nogil:
        for i in range(begin, end):
            if a.sums[i].number != a.mean.number and (a.sums[i].sum != 0 or a.sums[i].next_sum != 0):
                bring_up(&a, &a.sums[i])


def settle_all(state, config):
    """``settle`` the sums of a learner, before the shrinkage is applied to its table."""
    cdef Averager a = open_averager(state, config)
    with nogil:
        settle(&a)
