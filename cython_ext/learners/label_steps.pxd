"""Steps of gradient descent on labels in units of their spread."""

from learners.gd_update cimport Learner, clip, learn_known, widen_range, MIN_LABEL, MAX_LABEL
from learners.label_units cimport (
    LABEL_COUNT, LABEL_DEVIATION, LABEL_MEAN, LABEL_SUMS, LABEL_VARIANCE, LABEL_VARIANCE_ALL, LabelUnits, NextUnits, Units, next_units,
    units_of
)
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


cdef inline NextUnits units_after(const Learner *m, double label, double weight) noexcept nogil:
    """What ``learn_in_units`` takes: those that the label leads to, or where weights stand in part those at work."""
    cdef NextUnits new
    cdef int i
    if not m.labels.stand:
        return next_units(&m.labels, label, weight)
    for i in range(LABEL_SUMS):
        new.sums[i] = m.labels.sums[i]
    new.units = m.labels.now
    new.part = 1 / new.units.unit if new.units.unit > 0 else 0
    return new


cdef inline void take_units(Learner *m, const NextUnits *new, float y) noexcept nogil:
    """Make ``new`` the units, and widen the range of labels by ``y``."""
    cdef int i
    if not m.frozen:
        widen_range_seen(m, y)
    for i in range(LABEL_SUMS):
        m.labels.sums[i] = new.sums[i]
    m.labels.now = new.units


cdef inline LossParams scale_params(Learner *m, double middle, double part) noexcept nogil:
    """Let the loss be one of labels less ``middle``, times ``part``. The parameters before."""
    cdef LossParams before = m.params
    m.params.min_label = <float>((before.min_label - middle) * part)
    m.params.max_label = <float>((before.max_label - middle) * part)
    m.params.scale = <float>(before.scale * part)
    m.params.tube = <float>(before.tube * part)
    return before


cdef inline int learn_in_units(Learner *m, Scratch *s, const NextUnits *new, float product, float start, float y, float weight,
                               bint copied) noexcept nogil:
    """Learn a row whose sum of weighted features is ``product`` in units of the labels' spread, which become ``new`` first."""
    cdef LossParams before
    cdef float p
    cdef double middle
    cdef int status = OK
    take_units(m, new, y)
    if new.units.spread > 0:
        middle = start + new.sums[LABEL_MEAN]
        before = scale_params(m, middle, new.part)
        p, y = clip(<float>(product * (new.units.spread * new.part)), m), <float>((y - middle) * new.part)
        status = learn_known(m, s, p, y, weight, needs_update(&m.loss, &m.params, p, y), copied)
        m.params = before
    return status


cdef inline LabelUnits open_labels(state, config, bint centred, bint freezes) except *:
    cdef LabelUnits units = LabelUnits(NULL, Units(0, 0), config.by_deviation, centred, False)
    cdef double[::1] sums
    if state.label_sums is not None:
        sums = state.label_sums
        if sums.shape[0] != LABEL_SUMS:
            raise ValueError("wrong number of sums of labels")
        units.sums = &sums[0]
        units.now = units_of(config.by_deviation, sums[LABEL_VARIANCE], sums[LABEL_VARIANCE_ALL], sums[LABEL_DEVIATION])
        # weights that stand are worth as much as before while the unit is the same
        units.stand = freezes and sums[LABEL_COUNT] > 0
    return units
