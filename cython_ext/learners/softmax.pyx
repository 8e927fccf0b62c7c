"""Multiclass linear models: softmax, one against all, and the multiclass hinge loss of Crammer and Singer (2001).

The weights of a feature for all classes are contiguous and share its scale. Steps are adaptive and normalised as in gradient
descent; they follow the gradient flow of the loss in short steps, so that a large importance does not overshoot.
"""

from libc.math cimport fabsf, isfinite, isnan, sqrtf
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from base.byte_scan cimport prefetch
from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.class_blocks cimport apply_rows, scan_rows, score_rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.iterate_means cimport (
    ClassMeans, bring_up, count_iterate, mean_scores, mean_weight, note_changes, open_class_means, sums_now,
)
from learners.row_shrinkage cimport ROWS, SQUARES, add_penalty, common_rate, length_of, shrink_factor
from learners.softmax_rows cimport (
    CRAMMER_SINGER, NORM_SUM, NORM_WEIGHT, RATE, Softmax, flow, loss_of, number_of_first, open_lists, open_softmax, report,
    score_gradient, smooth_target, step_taken, true_class,
)

cdef enum:
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
            q.scale[row] = x
        q.inverse[i] = 1 / q.scale[row] if q.scale[row] > 0 else 0


cdef inline float take_common_rate(Softmax *q, const Scratch *s, float slopes) noexcept nogil:
    """As ``multiplier`` and ``scan_rows``, with the same rate for all rows. ``slopes``: the sum of the squared slopes of
    the loss by scores, times the importance.
    """
    cdef size_t i
    cdef uint32_t c
    cdef float norm = 0
    for i in range(s.terms):
        norm += s.value[i] * s.value[i]
    for i in range(s.terms * q.width):
        q.r[i] = 1
    for c in range(<uint32_t>q.width):
        q.reach[c] = norm
    q.shrinkage.sums[SQUARES] += <double>slopes * norm
    q.shrinkage.sums[ROWS] += q.fresh
    return common_rate(&q.shrinkage)


cdef inline float multiplier(Softmax *q, const Scratch *s, float weight) noexcept nogil:
    """The factor common to all rates, which compensates for the mean squared norm of inputs, as in gradient descent."""
    cdef size_t i
    cdef float norm = 0, x
    for i in range(s.terms):
        x = s.value[i] * q.inverse[i]
        norm += x * x
    q.scalars[NORM_SUM] += <double>weight * norm
    q.scalars[NORM_WEIGHT] += weight
    return sqrtf(<float>(q.scalars[NORM_WEIGHT] / q.scalars[NORM_SUM])) if q.scalars[NORM_SUM] > 0 else 1


cdef inline int learn_all(Softmax *q, Scratch *s, float weight) noexcept nogil:
    """Update every class: softmax or one against all."""
    cdef uint32_t c
    cdef float factor, slopes = 0
    score_gradient(q, q.s, q.p)
    for c in range(q.classes):
        q.gradient[c] = weight * q.p[c] * q.p[c]
        q.step[c] = q.s[c]
    if q.shrinkage.sums == NULL:
        memset(q.reach, 0, q.width * sizeof(float))
        factor = multiplier(q, s, weight)
        scan_rows(q.g, s.index, s.value, q.inverse, s.terms, q.width, q.gradient, q.reach, q.r)
    else:
        for c in range(q.classes):
            slopes += q.gradient[c]
        factor = take_common_rate(q, s, slopes)
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
        x2 = s.value[i] * s.value[i]
        if q.shrinkage.sums == NULL:
            square = q.g + s.index[i] * q.width + c
            square[0] += weight * x2
            q.r[i * q.width + c] = q.inverse[i] / sqrtf(square[0]) if square[0] > 0 else 0
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
    cdef float left = <float>q.scalars[RATE] * weight, factor, own, speed, resistance = 0, time, level
    cdef uint32_t other, c
    cdef bint joins
    cdef int rivals
    memset(q.gradient, 0, q.width * sizeof(float))
    memset(q.step, 0, q.width * sizeof(float))
    factor = multiplier(q, s, weight) if q.shrinkage.sums == NULL else take_common_rate(q, s, 2 * weight)
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


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by rows of the tables."""
    cdef Softmax *q = <Softmax *>learner
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = s.index[i] & q.mask
        if not s.in_cache:
            prefetch(q.w + q.width * s.index[i])


cdef void shrunk_scores(Softmax *q, Scratch *s) noexcept nogil:
    cdef size_t i
    cdef float length
    q.fresh = 0
    for i in range(s.terms):
        length = length_of(q.w + q.width * s.index[i], q.width)
        q.fresh += length == 0 and s.value[i] != 0
        q.inverse[i] = s.value[i] * shrink_factor(&q.shrinkage, length)
    score_rows(q.w, s.index, q.inverse, s.terms, q.width, q.s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Softmax *q = <Softmax *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint held = out.holdout_mask != NULL and out.holdout_mask[row], learns = learning and not isnan(y) and not held
    cdef uint32_t c, first = number_of_first(q, row, y, learns), true = true_class(q, y, first)
    cdef int status
    for c in range(<uint32_t>q.width):
        q.s[c] = rows.initial_prediction[row]
    if reserve(q, s.terms) != OK:
        return NO_MEMORY
    learns = learns and weight > 0 and true < q.classes
    if q.means.sum != NULL and not learns:
        mean_scores(&q.means, s, q.width, q.s)
    elif q.shrinkage.sums != NULL:
        shrunk_scores(q, s)
    else:
        score_rows(q.w, s.index, s.value, s.terms, q.width, q.s)
    status = report(q, rows, row, first, true, held, out)
    if learns and status == OK:
        q.taken = -1
        if q.loss != CRAMMER_SINGER or loss_of(q, q.s, true, q.p) > 0:
            smooth_target(&q.labels, true)
            if q.shrinkage.sums == NULL:
                rescale(q, s)
            status = learn_all(q, s, weight) if q.loss != CRAMMER_SINGER else learn_margin(q, s, true, weight)
            if q.means.sum != NULL:
                note_changes(&q.means, q.w, s, q.width)
        if q.means.sum != NULL:
            count_iterate(&q.means.counts, 1)
        if q.shrinkage.sums != NULL:
            add_penalty(&q.shrinkage, q.taken if q.taken >= 0 else <float>q.scalars[RATE] * weight * common_rate(&q.shrinkage))
    out.features[row] = <uint32_t>s.count
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``per_class.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Softmax q = open_softmax(state, config, call.rows.size)
    cdef int status
    call.plan.flat = plan.flat
    if config.shares and batch.lists is not None:
        open_lists(&q.labels, batch.lists, call.rows.size)
    check_fit(state, &call)
    if call.learning and q.shrinkage.sums == NULL and state.squares.shape[0] != state.weights.shape[0]:
        raise ValueError("these tables cannot learn")
    with nogil:
        status = process_in_order(&q, prepare, process_example, not q.vw_compat, &call)
    free(q.inverse)
    free(q.r)
    if q.means.sum != NULL:
        state.means.present = q.means.counts.number
    return status, call.row


def shrink_rows(state, config, size_t begin, float[::1] weights):
    """Multiply ``weights``, float32[rows * width] from row ``begin`` on, by what the penalty leaves of them."""
    cdef Softmax q = open_softmax(state, config, 1)
    cdef size_t i, c, rows = weights.shape[0] // q.width
    cdef float share
    if q.shrinkage.sums == NULL or begin + rows > <size_t>q.mask + 1:
        raise ValueError("no such rows")
    with nogil:
        for i in range(rows):
            share = shrink_factor(&q.shrinkage, length_of(&weights[i * q.width], q.width))
            for c in range(q.width):
                weights[i * q.width + c] = weights[i * q.width + c] * share if share > 0 else 0


def read_means(source, size_t width, size_t begin, float[::1] out):
    """Fill ``out``, float32[rows * width], with the means of a ``ClassMeans`` from row ``begin``."""
    cdef ClassMeans means = open_class_means(source, source.last.shape[0], source.number.shape[0])
    cdef size_t row, c, rows = out.shape[0] // width
    if (begin + rows) * width > <size_t>source.last.shape[0]:
        raise ValueError("rows beyond the table")
    for row in range(begin, begin + rows):
        for c in range(width):
            out[(row - begin) * width + c] = mean_weight(&means, sums_now(&means, row, width), row * width + c, c)


def bring_up_rows(source, size_t width):
    """Move all sums of a ``ClassMeans`` on to the present mean, as a model has them."""
    cdef ClassMeans means = open_class_means(source, source.last.shape[0], source.number.shape[0])
    cdef size_t row
    for row in range(<size_t>source.number.shape[0]):
        if means.number[row] != 0 and means.number[row] != means.counts.number:
            bring_up(&means, row, width)
