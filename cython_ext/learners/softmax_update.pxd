"""Steps of linear models of classes whose weights are contiguous; see ``learners/softmax.pyx``."""

from libc.math cimport expf, fabsf, isfinite, sqrtf
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from learners.row_shrinkage cimport COLUMNS, PENALTY, RowShrinkage, row_rate, scan_rows_together
from learners.softmax_rows cimport MULTINOMIAL, NORM_SUM, NORM_WEIGHT, RATE, Softmax, probabilities
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE

cdef extern from "learners/class_blocks.h" nogil:
    void score_rows "vwl_score_rows"(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, float *s)
    void scan_rows "vwl_scan_rows"(float *g, const uint32_t *index, const float *value, const float *inverse, size_t n,
                                   size_t width, const float *gradient, float *reach, float *r)
    void apply_rows "vwl_apply_rows"(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                     const float *step, const float *r)

cdef enum:
    MAX_STEPS = 64        # into which the flow of one example is divided at most
    MAX_RIVALS = 16       # classes that one example lowers at most

cdef extern from *:
    """
    #define VWL_NEARLY 0.9999f
    """
    const float NEARLY "VWL_NEARLY"  # 1 less a tolerance for rounding


cdef inline int reserve(Softmax *q, size_t terms) noexcept nogil:
    if terms > q.terms or q.inverse == NULL:
        free(q.inverse)
        free(q.r)
        q.terms = 2 * terms + 8
        q.inverse = <float *>malloc(q.terms * sizeof(float))
        q.r = <float *>malloc(q.terms * q.width * sizeof(float))
        if q.inverse == NULL or q.r == NULL:
            return NO_MEMORY
    return OK


cdef inline void score_gradient(const Softmax *q, const float *s, float *p) noexcept nogil:
    """The gradient of the loss by every score."""
    cdef uint32_t c
    if q.loss == MULTINOMIAL:
        probabilities(q, s, p)
    else:
        for c in range(q.classes):
            p[c] = 1 / (1 + expf(-s[c]))
    for c in range(q.classes):
        p[c] -= q.labels.target[c]


cdef inline void rescale(Softmax *q, const Scratch *s) noexcept nogil:
    """Update the features' scales; where |x| is larger than any before, the feature's weights are reduced. Fills ``inverse``."""
    cdef size_t i, row
    cdef uint32_t c
    cdef float x, shrink
    for i in range(s.terms):
        row, x = s.index[i], fabsf(s.value[i])
        if x > q.scale[row]:
            if q.scale[row] > 0:
                shrink = q.scale[row] / x
                for c in range(q.classes):
                    q.w[row * q.width + c] = q.w[row * q.width + c] * shrink
                if q.shrinkage.row != NULL:
                    q.shrinkage.row[COLUMNS * row + PENALTY] = q.shrinkage.row[COLUMNS * row + PENALTY] * shrink
            q.scale[row] = x
        q.inverse[i] = 1 / q.scale[row] if q.scale[row] > 0 else 0


cdef inline float common_factor(const Softmax *q) noexcept nogil:
    return sqrtf(<float>(q.scalars[NORM_WEIGHT] / q.scalars[NORM_SUM])) if q.scalars[NORM_SUM] > 0 else 1


cdef inline float multiplier(Softmax *q, const Scratch *s, float weight) noexcept nogil:
    """The factor common to all rates, which compensates for the mean squared norm of inputs, as in gradient descent."""
    cdef size_t i
    cdef float norm = 0, x
    for i in range(s.terms):
        x = s.value[i] * q.inverse[i]
        norm += x * x
    q.scalars[NORM_SUM] += <double>weight * norm
    q.scalars[NORM_WEIGHT] += weight
    return common_factor(q)


cdef inline void flow(Softmax *q, float *s, float time) noexcept nogil:
    """Follow the gradient flow of the loss for a time: ds[c]/dt = -reach[c] * dloss/ds[c]."""
    cdef uint32_t c, i, steps
    cdef float fastest = 0
    for c in range(q.classes):
        fastest = q.reach[c] * fabsf(q.p[c]) if q.reach[c] * fabsf(q.p[c]) > fastest else fastest
    steps = <uint32_t>(4 * fastest * time) + 1 if 4 * fastest * time < MAX_STEPS else MAX_STEPS
    time = time / steps
    for i in range(steps):
        if i:
            score_gradient(q, s, q.p)
        for c in range(q.classes):
            # the step is limited so that it does not pass the end of the flow
            s[c] -= q.p[c] * (q.reach[c] * time if q.reach[c] * time < 1 else 1)


cdef inline float step_taken(const Softmax *q, float weight) noexcept nogil:
    """The step size at which a step along the gradient is as long as the one that the flow took."""
    cdef uint32_t c
    cdef float squares = 0, gradient = 0
    for c in range(q.classes):
        squares += q.step[c] * q.step[c]
        gradient += q.gradient[c]
    return sqrtf(squares * weight / gradient) if gradient > 0 else -1


cdef inline int learn_all(Softmax *q, Scratch *s, float weight) noexcept nogil:
    """Update every class: softmax or one against all."""
    cdef uint32_t c
    cdef float factor
    score_gradient(q, q.s, q.p)
    for c in range(q.classes):
        q.gradient[c] = weight * q.p[c] * q.p[c]
        q.step[c] = q.s[c]
    memset(q.reach, 0, q.width * sizeof(float))
    factor = multiplier(q, s, weight)
    if q.shrinkage.row == NULL:
        scan_rows(q.g, s.index, s.value, q.inverse, s.terms, q.width, q.gradient, q.reach, q.r)
    else:
        scan_rows_together(q.g, s, q.inverse, q.width, q.gradient, q.reach, q.r)
    for c in range(q.classes):
        q.reach[c] = q.reach[c] * factor
    flow(q, q.s, <float>q.scalars[RATE] * weight)
    for c in range(q.classes):
        q.step[c] = (q.s[c] - q.step[c]) / q.reach[c] * factor if q.reach[c] > 0 else 0
        if not isfinite(q.step[c]):
            return UNSTABLE
    q.taken = step_taken(q, weight)
    apply_rows(q.w, s.index, s.value, s.terms, q.width, q.step, q.r)
    return OK


cdef inline float scan_class(Softmax *q, const Scratch *s, uint32_t c, float weight) noexcept nogil:
    """``scan_rows`` for one class, whose gradient is 1 or -1; its rates are stored in column ``c`` of ``r``."""
    cdef size_t i
    cdef float *square
    cdef float x2, reach = 0
    for i in range(s.terms):
        square, x2 = q.g + s.index[i] * q.width + c, s.value[i] * s.value[i]
        square[0] += weight * x2
        if q.shrinkage.row == NULL:
            q.r[i * q.width + c] = q.inverse[i] / sqrtf(square[0]) if square[0] > 0 else 0
        else:
            q.r[i * q.width + c] = row_rate(square - c, q.width, q.inverse[i])
        reach += q.r[i * q.width + c] * x2
    return reach


cdef inline void apply_class(Softmax *q, const Scratch *s, uint32_t c, float step) noexcept nogil:
    cdef size_t i
    for i in range(s.terms):
        q.w[s.index[i] * q.width + c] += step * q.r[i * q.width + c] * s.value[i]


cdef inline uint32_t next_rival(const Softmax *q, uint32_t true) noexcept nogil:
    """The highest-scoring class that is neither the label's nor lowered already; ``classes`` if there is none."""
    cdef uint32_t c, best = q.classes
    for c in range(q.classes):
        if c != true and q.gradient[c] == 0 and (best == q.classes or q.s[c] > q.s[best]):
            best = c
    return best


cdef inline int learn_margin(Softmax *q, Scratch *s, uint32_t true, float weight) noexcept nogil:
    """Raise the label's class and lower the highest others until the margin is 1 or the time is used up.

    Classes with equal scores share the gradient such that their scores stay equal. ``gradient`` marks the classes that take part;
    ``step`` accumulates their steps.
    """
    cdef float left = <float>q.scalars[RATE] * weight, factor = multiplier(q, s, weight), own, speed, resistance = 0, time, level
    cdef uint32_t other, c
    cdef bint joins
    cdef int rivals
    memset(q.gradient, 0, q.width * sizeof(float))
    memset(q.step, 0, q.width * sizeof(float))
    own = scan_class(q, s, true, weight) * factor
    other = next_rival(q, true)
    if other == q.classes or own <= 0:
        return OK
    level = q.s[other]
    for rivals in range(MAX_RIVALS):
        q.gradient[other] = 1
        q.reach[other] = scan_class(q, s, other, weight) * factor
        resistance += 1 / q.reach[other]
        speed = 1 / resistance
        time = (1 + level - q.s[true]) / (own + speed)
        time = time if time < left else left
        other = next_rival(q, true)
        joins = other < q.classes and rivals + 1 < MAX_RIVALS and level - q.s[other] < NEARLY * speed * time
        if joins:
            time = (level - q.s[other]) / speed
        if time > 0:
            level -= speed * time
            q.s[true] += own * time
            q.step[true] += time * factor
            for c in range(q.classes):
                if q.gradient[c] != 0:
                    q.step[c] -= speed * time / q.reach[c] * factor
            left -= time
        if not joins:
            break
        level = q.s[other]
    for c in range(q.classes):
        if q.step[c] != 0:
            apply_class(q, s, c, q.step[c])
    return OK if isfinite(q.s[true]) and isfinite(level) else UNSTABLE
