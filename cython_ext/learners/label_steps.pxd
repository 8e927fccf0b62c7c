"""Steps of gradient descent on labels in units of their spread."""

from learners.gd_update cimport Learner, clip, learn_known, widen_range, MIN_LABEL, MAX_LABEL
from learners.label_units cimport LABEL_COUNT, LABEL_MEAN, LABEL_SUMS, LabelUnits, add_label, set_units
from losses.loss_types cimport LossParams, needs_update
from features.row_buffer cimport Scratch
from base.status cimport OK


cdef inline void widen_range_seen(Learner *m, float label) noexcept nogil:
    """``widen_range``, where all numbers are in the range before the first label, and only that after it."""
    if m.labels.sums[LABEL_COUNT] == 0:
        m.scalars[MIN_LABEL] = m.params.min_label = label
        m.scalars[MAX_LABEL] = m.params.max_label = label
    else:
        widen_range(m, label)


cdef inline int learn_in_units(Learner *m, Scratch *s, float product, float start, float y, float weight, bint copied) noexcept nogil:
    """Learn a row whose sum of weighted features is ``product`` in units of the labels' spread, which they first change."""
    cdef LossParams shown
    cdef double middle, part
    cdef float p
    cdef int status = OK
    if not m.frozen:
        widen_range_seen(m, y)
    if not m.labels.stand:
        add_label(&m.labels, <double>y - start, weight)
    if m.labels.spread > 0:
        middle, part, shown = start + m.labels.sums[LABEL_MEAN], 1 / m.labels.unit, m.params
        m.params.min_label = <float>((shown.min_label - middle) * part)
        m.params.max_label = <float>((shown.max_label - middle) * part)
        m.params.scale = <float>(shown.scale * part)
        m.params.tube = <float>(shown.tube * part)
        p, y = clip(<float>(product * (m.labels.spread * part)), m), <float>((y - middle) * part)
        status = learn_known(m, s, p, y, weight, needs_update(&m.loss, &m.params, p, y), copied)
        m.params = shown
    return status


cdef inline LabelUnits open_labels(state, config, bint centred, bint freezes) except *:
    cdef LabelUnits units = LabelUnits(NULL, 0, 0, config.by_deviation, centred, False)
    cdef double[::1] sums
    if state.label_sums is not None:
        sums = state.label_sums
        if sums.shape[0] != LABEL_SUMS:
            raise ValueError("wrong number of sums of labels")
        units.sums = &sums[0]
        set_units(&units)
        # weights that stand are worth as much as before while the unit is the same
        units.stand = freezes and sums[LABEL_COUNT] > 0
    return units
