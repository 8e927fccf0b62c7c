"""Online gradient descent on one set of weights; the update is ``learners/gd_update.pxd``'s."""

from libc.math cimport NAN, isfinite, isnan
from libc.stdint cimport uint32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from base.byte_scan cimport unlikely
from learners.gd_update cimport (
    MAX_LABEL, MIN_LABEL, SCALARS, Learner, prefetch_during_scan, can_be_copied, clip, copied_product, count_time, inner_product,
    learn_known, open_learner, prefetch_slots, shrink_slots, sync_if_due, widen_range
)
from learners.frozen_terms cimport Groups, drop_taken, open_groups, take_constant, take_terms
from features.namespace_groups cimport Rows
from learners.label_units cimport LABEL_SUMS, NextUnits, Units, in_label_units
from learners.label_steps cimport learn_in_units, open_labels, units_after
from learners.example_loop cimport Call, ProcessExample, check_fit, open_call, process_in_order
from learners.least_importance cimport least_importance
from losses.loss_types cimport LossParams, apply_link, needs_update, value_needs_update
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results


cdef struct Freezing:      # what is learned where some weights stand
    Learner m              # comes first, so that ``prepare`` may take it
    Groups groups          # the namespaces whose weights stand
    bint constant          # and that of the constant
    uint32_t mask
    bint aims              # nothing is learned: the importance is sought that carries predictions to ``target``
    double target
    float low_label, high_label  # those of unlabelled rows whose target is below the prediction, and above it


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    if m.stride == 4 or m.narrow:
        prefetch_during_scan(m, s)
    else:
        prefetch_slots(m, s)


cdef inline int process_row(Learner *m, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning, bint copies,
                            bint in_units) noexcept nogil:
    """Predict one row and, when it is to be learned, update on it; with ``copies`` on copies of its slots."""
    cdef float y = rows.label[row], weight = rows.importance[row], start = rows.initial_prediction[row]
    cdef float loss = 0, product = 0, p, reported
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint learn = learning and labeled and not held
    cdef NextUnits units
    cdef int status = OK
    s.copied = False
    if in_units and learn and weight > 0:
        units = units_after(m, <double>y - start, weight)
    if copies and learn and weight > 0:
        product = copied_product(m, s, row, 0 if in_units else start)
    else:
        product = inner_product(m, s, 0 if in_units else start)
    out.raw[row] = <float>in_label_units(&m.labels, product, start) if in_units else product
    reported = clip(out.raw[row], m)              # for FTRL vw reports the prediction clipped to the labels before this one
    if learn and not m.frozen and not in_units:   # of labels in units of their spread the range is that before the row
        widen_range(m, y)
    p = clip(out.raw[row], m)
    if unlikely(not isfinite(out.raw[row])):
        status = UNSTABLE
    if labeled:
        loss = m.loss.value(&m.params, p, y)
    if learn and weight > 0 and (m.vw_compat or status == OK):
        if in_units:
            status |= learn_in_units(m, s, &units, product, start, y, weight, copies and s.copied)
        else:
            status |= learn_known(m, s, p, y, weight, value_needs_update(&m.loss, &m.params, loss, p, y), copies and s.copied)
        sync_if_due(m)
    out.loss[row] = loss * weight if weight > 0 else 0
    out.prediction[row] = apply_link(m.link, reported if m.ftrl else p)
    out.features[row] = <uint32_t>s.count
    count_time(m, weight, labeled, held)
    return status


cdef int process_long(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    return process_row(<Learner *>learner, rows, row, s, out, learning, True, False)


cdef int process_long_in_units(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    return process_row(<Learner *>learner, rows, row, s, out, learning, True, True)


# called by their addresses, so that they are not inlined and the code for short rows keeps its registers
cdef ProcessExample PROCESS_LONG = process_long, PROCESS_LONG_IN_UNITS = process_long_in_units


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    if learning and can_be_copied(m, s):
        return PROCESS_LONG(learner, rows, row, s, out, learning)
    return process_row(m, rows, row, s, out, learning, False, False)


cdef int process_in_units(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    if learning and can_be_copied(m, s):
        return PROCESS_LONG_IN_UNITS(learner, rows, row, s, out, learning)
    return process_row(m, rows, row, s, out, learning, False, True)


cdef struct Trial:         # an update that is made to see where the prediction goes, and undone
    Learner *m
    Scratch *s
    float *slots           # (terms, stride), those of the row before
    float product, start, y


cdef double prediction_after(void *update, double importance) noexcept nogil:
    cdef Trial *t = <Trial *>update
    cdef Learner *m = t.m
    cdef double scalars[SCALARS]
    cdef double sums[LABEL_SUMS]
    cdef LossParams params = m.params
    cdef Units now = m.labels.now
    cdef NextUnits units
    cdef uint8_t overshrunk = m.overshrunk[0]
    cdef float weight = <float>importance, p
    cdef double after
    cdef size_t i
    cdef int status
    memcpy(scalars, m.scalars, sizeof(scalars))
    if m.labels.sums == NULL:
        if not m.frozen:
            widen_range(m, t.y)
        p = clip(t.product, m)
        status = learn_known(m, t.s, p, t.y, weight, needs_update(&m.loss, &m.params, p, t.y), False)
        after = inner_product(m, t.s, t.start)
    else:
        memcpy(sums, m.labels.sums, sizeof(sums))
        units = units_after(m, <double>t.y - t.start, weight)
        status = learn_in_units(m, t.s, &units, t.product, t.start, t.y, weight, False)
        after = in_label_units(&m.labels, inner_product(m, t.s, 0), t.start)
        memcpy(m.labels.sums, sums, sizeof(sums))
        m.labels.now = now
    for i in range(t.s.terms):
        memcpy(m.table + m.stride * t.s.index[i], t.slots + m.stride * i, m.stride * sizeof(float))
    memcpy(m.scalars, scalars, sizeof(scalars))
    m.params, m.overshrunk[0] = params, overshrunk
    return after if status == OK and isfinite(after) else NAN


cdef int process_aiming(Freezing *f, const Rows *rows, size_t row, Scratch *s, Results *out) noexcept nogil:
    """Predict the row, and tell the importance with which its label would carry the prediction to the target."""
    cdef Learner *m = &f.m
    cdef float start = rows.initial_prediction[row], y = rows.label[row]
    cdef bint in_units = m.labels.sums != NULL
    cdef Trial t = Trial(m, s, <float *>malloc((s.terms + 1) * m.stride * sizeof(float)), 0, start, y)
    cdef double scalars[SCALARS]
    cdef size_t i
    cdef int status
    if t.slots == NULL:
        return NO_MEMORY
    memcpy(scalars, m.scalars, sizeof(scalars))
    status = process_row(m, rows, row, s, out, False, False, in_units)
    memcpy(m.scalars, scalars, sizeof(scalars))    # rates are those after training, whatever rows stand before
    if isnan(y):
        t.y = f.high_label if f.target > out.raw[row] else f.low_label
    t.product = inner_product(m, s, 0 if in_units else start)
    for i in range(s.terms):
        memcpy(t.slots + m.stride * i, m.table + m.stride * s.index[i], m.stride * sizeof(float))
    out.flip_importance[row] = <float>NAN
    if status == OK:
        out.flip_importance[row] = <float>least_importance(prediction_after, &t, out.raw[row], f.target)
    free(t.slots)
    return status


cdef int process_aiming_at_once(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    return process_aiming(<Freezing *>learner, rows, row, s, out)


cdef int process_frozen(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    """What terms that stand are worth is added to the initial prediction; nothing else is learned of them."""
    cdef Freezing *f = <Freezing *>learner
    cdef Rows shifted = rows[0]
    cdef double worth = take_terms(f.m.table, f.m.stride, &f.groups, s, f.mask)
    cdef float initial
    if f.constant and s.constant:
        worth += take_constant(f.m.table, f.m.stride, s)
        s.constant = False
    drop_taken(&f.groups, s)
    if f.m.labels.sums != NULL:
        worth *= f.m.labels.now.spread
    initial = <float>(rows.initial_prediction[row] + worth)
    shifted.initial_prediction = &initial - row
    if f.aims:
        return process_aiming(f, &shifted, row, s, out)
    return process_row(&f.m, &shifted, row, s, out, learning, False, f.m.labels.sums != NULL)


cdef inline ProcessExample way_to_process(const Freezing *f, bint freezes):
    if freezes or f.aims:
        return process_frozen if freezes else process_aiming_at_once
    return process_example if f.m.labels.sums == NULL else process_in_units


cdef int aim(Freezing *f, config, out) except -1:
    """Fill in what is aimed at, where the results have room for it."""
    f.aims = config.target is not None and out.flip_importance is not None
    if f.aims:
        f.target = config.target
        f.low_label, f.high_label = config.ends or (f.m.scalars[MIN_LABEL], f.m.scalars[MAX_LABEL])
    return 0


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order.

    ``end_and_mode`` is ``(end, learning)``. Fills the arrays of ``results`` and returns ``(status, row)``: OK and ``end``, or
    the status that stopped the run and the row after the one at which it stopped.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Freezing f
    f.m, f.groups = open_learner(state, config), open_groups(plan.frozen.groups)
    f.constant, f.mask = plan.frozen.constant, 0
    aim(&f, config, results)
    cdef bint freezes = (call.learning or f.aims) and (f.groups.size > 0 or f.constant)
    cdef int status
    f.mask = call.plan.mask
    f.m.labels = open_labels(state, config, call.plan.constant, freezes)
    # a step without per-coordinate rates depends on the norm, which is summed by namespace
    call.plan.flat = plan.flat and (f.m.stride == 4 or f.m.narrow or not (call.learning or f.aims)) and not freezes
    check_fit(state, &call)
    cdef ProcessExample process = way_to_process(&f, freezes)
    with nogil:
        status = process_in_order(&f, prepare, process, not f.m.vw_compat, &call)
    return status, call.row


def apply_shrinkage(state, config, size_t begin, size_t end):
    """Apply the outstanding L1 and L2 shrinkage to the slots ``[begin, end)`` of ``state.weights[:, 0]``."""
    cdef Learner m = open_learner(state, config)
    if not begin <= end <= m.slots:
        raise ValueError("slots beyond the table")
    with nogil:
        shrink_slots(&m, begin, end)
