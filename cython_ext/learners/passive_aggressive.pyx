"""Passive-aggressive updates: the smallest step that leaves no loss, or one bounded by an aggressiveness C.

Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, 2006: PA, PA-I and PA-II (figure 1; of numbers section 5). With the loss l and the
length |x| of the example the step along x is l / |x|^2, min(C, l / |x|^2), or l / (|x|^2 + 1 / (2 C)).
"""

from libc.math cimport fabsf, isfinite

from learners.gd_update cimport Learner
from learners.update_rule cimport UpdateRule, as_capsule
from features.row_buffer cimport Scratch
from base.float32 cimport ONE, TWO
from base.status cimport OK, UNSTABLE

cdef enum:                # columns of the table
    WEIGHT = 0
    VALUE = 1             # of the example at work, terms of the same slot added up; 0 between examples
    STRIDE = 2

cdef enum:
    PA = 0
    PA_I = 1
    PA_II = 2


cdef inline float squared_length(Learner *m, const Scratch *s) noexcept nogil:
    """Of the example, whose terms of the same slot add up; leaves the sums in the table."""
    cdef size_t i
    cdef float norm = 0
    for i in range(s.terms):
        m.table[STRIDE * <size_t>s.index[i] + VALUE] += s.value[i]
    for i in range(s.terms):
        norm += m.table[STRIDE * <size_t>s.index[i] + VALUE] * s.value[i]
    return norm


cdef inline int learn(Learner *m, Scratch *s, float y, float weight, int kind, bint classes) noexcept nogil:
    """``weight`` is that of the example, by which the aggressiveness is multiplied."""
    cdef size_t i
    cdef float loss, norm, step, bound = m.ftrl_alpha * weight, raw = m.start
    for i in range(s.terms):
        raw += m.table[STRIDE * <size_t>s.index[i]] * s.value[i]
    m.raw = raw
    if not isfinite(raw):
        return UNSTABLE
    loss = ONE - y * raw if classes else fabsf(y - raw) - m.ftrl_beta
    if loss <= 0:
        return OK
    norm = squared_length(m, s)
    step = loss / (norm + ONE / (TWO * bound)) if kind == PA_II else loss / norm if norm > 0 else 0
    if kind == PA_I and step > bound:
        step = bound
    if (y < 0) if classes else (y < raw):
        step = -step
    if not isfinite(step):
        step, m.raw = 0, step
    for i in range(s.terms):
        m.table[STRIDE * <size_t>s.index[i] + VALUE] = 0
        m.table[STRIDE * <size_t>s.index[i]] += step * s.value[i]
    return OK if isfinite(m.raw) else UNSTABLE


cdef int learn_class(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn(<Learner *>learner, s, y, weight, PA, True)


cdef int learn_class_i(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn(<Learner *>learner, s, y, weight, PA_I, True)


cdef int learn_class_ii(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn(<Learner *>learner, s, y, weight, PA_II, True)


cdef int learn_number(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn(<Learner *>learner, s, y, weight, PA, False)


cdef int learn_number_i(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn(<Learner *>learner, s, y, weight, PA_I, False)


cdef int learn_number_ii(void *learner, Scratch *s, float y, float weight) noexcept nogil:
    return learn(<Learner *>learner, s, y, weight, PA_II, False)


cdef UpdateRule pa = UpdateRule(STRIDE, learn_class, False)
cdef UpdateRule pa_i = UpdateRule(STRIDE, learn_class_i, False)
cdef UpdateRule pa_ii = UpdateRule(STRIDE, learn_class_ii, False)
cdef UpdateRule number_pa = UpdateRule(STRIDE, learn_number, False)
cdef UpdateRule number_pa_i = UpdateRule(STRIDE, learn_number_i, False)
cdef UpdateRule number_pa_ii = UpdateRule(STRIDE, learn_number_ii, False)
OF_CLASSES = {"pa": as_capsule(&pa), "pa-i": as_capsule(&pa_i), "pa-ii": as_capsule(&pa_ii)}
OF_NUMBERS = {"pa": as_capsule(&number_pa), "pa-i": as_capsule(&number_pa_i), "pa-ii": as_capsule(&number_pa_ii)}
