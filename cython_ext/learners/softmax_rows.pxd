"""Labels, scores, losses, their gradient flow and reports of rows, for learners whose loss is over all classes together.

A label is one class, which may be smoothed, or a list of the shares of classes.
"""

from libc.math cimport expf, fabsf, isfinite, isnan, logf, sqrtf
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from learners.iterate_means cimport ClassMeans, open_class_means
from learners.row_shrinkage cimport RowShrinkage, open_row_shrinkage


cdef struct LabelShares:
    float *target          # (classes,) the row's share of each class, all 0 for a class that is none
    uint32_t classes
    float smoothing        # share of a label of one class that all classes get alike
    # CSR lists of each row's labels: classes and their shares; NULL where labels are single classes
    const int64_t *start   # (rows + 1,)
    const uint32_t *named
    const float *share


cdef inline void find_target(LabelShares *q, size_t row, uint32_t true, uint32_t first) noexcept nogil:
    """``true``: the class of a row without a list, from 0; ``first``: the number of the first class of lists."""
    cdef uint32_t c
    cdef int64_t i
    memset(q.target, 0, q.classes * sizeof(float))
    if q.start == NULL:
        if true < q.classes:
            q.target[true] = 1
        return
    for i in range(q.start[row], q.start[row + 1]):
        c = q.named[i] - first
        if c < q.classes:
            q.target[c] += q.share[i]


cdef inline void smooth_target(LabelShares *q, uint32_t true) noexcept nogil:
    """Mix the same share of every class into a label of the class ``true`` alone."""
    cdef uint32_t c
    if q.smoothing == 0 or q.target[true] != 1:
        return
    for c in range(q.classes):
        q.target[c] = q.target[c] * (1 - q.smoothing) + q.smoothing / q.classes


cdef inline float divergence(const LabelShares *q, const float *s, float normalizer) noexcept nogil:
    """Kullback and Leibler's, of the label from the probabilities exp(s - normalizer)."""
    cdef float total = 0
    cdef uint32_t c
    for c in range(q.classes):
        if q.target[c] > 0:
            total += q.target[c] * (normalizer - s[c])
            total += q.target[c] * logf(q.target[c])
    return total


cdef inline double first_number(const LabelShares *q, size_t row, float y) noexcept nogil:
    """Whether classes are numbered from 0 or 1, by a label with class 0 or the number of classes; else -1."""
    cdef int64_t i
    if q.start == NULL:
        return 0 if y == 0 else 1 if y == q.classes else -1
    for i in range(q.start[row], q.start[row + 1]):
        if q.named[i] == 0 or q.named[i] == q.classes:
            return 0 if q.named[i] == 0 else 1
    return -1


cdef inline int open_lists(LabelShares *q, lists, size_t rows) except -1:
    """From the lists of a batch, a ``vwlite.data.batch.Csr``."""
    cdef const int64_t[::1] start = lists.indptr
    cdef const uint32_t[::1] named = lists.indices
    cdef const float[::1] share = lists.values
    if <size_t>start.shape[0] != rows + 1 or named.shape[0] < start[rows] or share.shape[0] < start[rows]:
        raise ValueError("the label lists do not fit the batch")
    q.start, q.named, q.share = &start[0], NULL, NULL
    if named.shape[0]:
        q.named, q.share = &named[0], &share[0]
    return 0


cdef extern from *:
    """
    #define VWL_MIN_VIOLATION 1e-5f
    """
    const float MIN_VIOLATION "VWL_MIN_VIOLATION"  # a smaller violation of the margin counts as none

cdef enum:
    MULTINOMIAL = 0        # losses, named in vwlite/learners/softmax.py
    LOGISTIC = 1
    CRAMMER_SINGER = 2
    MAX_STEPS = 64         # into which the flow of one example is divided at most


cdef enum:                 # positions in the scalars, named in vwlite/learners/softmax.py
    NORM_SUM = 0
    NORM_WEIGHT = 1
    RATE = 2
    FIRST = 3
    SCALARS = 7            # the kernel does not use the others


cdef struct Softmax:
    float *w               # (rows, width)
    float *g               # (rows, width) sums of squared gradients
    float *scale           # (rows,) largest |x|
    double *scalars
    double *log_loss       # (2, 2) as in learners/class_update.pxd
    int loss
    uint32_t classes
    size_t width
    int shift
    uint32_t mask          # of rows
    bint vw_compat
    float *raw             # (rows of the batch, classes), or a single row
    float *score
    size_t score_stride
    ClassMeans means
    RowShrinkage shrinkage
    LabelShares labels
    # scratch, by class: scores, probabilities, squared gradients, reaches, steps
    float *s
    float *p
    float *gradient
    float *reach
    float *step
    # and by term
    float *inverse
    float *r
    size_t terms
    size_t fresh           # terms of the example at work whose rows no step has changed yet
    float taken            # the step size of the example at work, as far as it was taken; -1: all of it


cdef inline float probabilities(const Softmax *q, const float *s, float *p) noexcept nogil:
    """Softmax probabilities of the scores; returns the log of the normaliser."""
    cdef uint32_t c
    cdef float top = s[0], total = 0
    for c in range(1, q.classes):
        top = s[c] if s[c] > top else top
    for c in range(q.classes):
        p[c] = expf(s[c] - top)
        total += p[c]
    for c in range(q.classes):
        p[c] = p[c] / total
    return top + logf(total)


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


cdef inline uint32_t rival(const Softmax *q, const float *s, uint32_t true) noexcept nogil:
    """The class with the highest score except the label's."""
    cdef uint32_t c, best = 1 if true == 0 else 0
    for c in range(q.classes):
        if c != true and s[c] > s[best]:
            best = c
    return best


cdef inline float loss_of(const Softmax *q, const float *s, uint32_t true, float *p) noexcept nogil:
    cdef float total, margin
    cdef uint32_t c
    if true >= q.classes:
        return 0
    if q.loss == MULTINOMIAL:
        return divergence(&q.labels, s, probabilities(q, s, p))
    if q.loss == LOGISTIC:
        total = 0
        for c in range(q.classes):
            margin = s[c] if c == true else -s[c]
            total += logf(1 + expf(-margin)) if margin > -50 else -margin
        return total
    if q.classes == 1:
        return 0
    margin = 1 + s[rival(q, s, true)] - s[true]
    return margin if margin > MIN_VIOLATION else 0


cdef inline uint32_t number_of_first(Softmax *q, size_t row, float y, bint learns) noexcept nogil:
    """The number of the first class, 0 or 1, as labels show; 1 until they do."""
    if learns and q.scalars[FIRST] < 0:
        q.scalars[FIRST] = first_number(&q.labels, row, y)
    return 0 if q.scalars[FIRST] == 0 else 1


cdef inline uint32_t true_class(const Softmax *q, float y, uint32_t first) noexcept nogil:
    """The class of the label, from 0; ``classes`` without a label."""
    return <uint32_t>(y - first) if not isnan(y) and y >= first else q.classes


cdef inline int report(Softmax *q, const Rows *rows, size_t row, uint32_t first, uint32_t true, bint held, Results *out) noexcept nogil:
    """Report the prediction and the loss of the scores ``s``, and fill the label's ``target``. UNSTABLE if a score is not finite."""
    cdef float weight = rows.importance[row]
    cdef float *raw = q.raw + row * q.score_stride
    cdef float *score = q.score + row * q.score_stride
    cdef bint labeled = not isnan(rows.label[row])
    cdef uint32_t c, best = 0
    cdef int status = OK
    for c in range(q.classes):
        raw[c] = q.s[c]
        best = c if q.s[c] > q.s[best] else best
        status |= OK if isfinite(q.s[c]) else UNSTABLE
    out.prediction[row] = best + first
    out.raw[row] = first
    out.loss[row] = weight if labeled and weight > 0 and best != true else 0
    find_target(&q.labels, row, true, first)
    if labeled:
        q.log_loss[held] += weight * loss_of(q, q.s, true, q.p)
        q.log_loss[2 + held] += weight
    if q.loss == MULTINOMIAL:
        probabilities(q, q.s, score)
    else:
        for c in range(q.classes):
            score[c] = q.s[c]
    return status


cdef inline Softmax open_softmax(state, config, Py_ssize_t rows):
    cdef const float[:, ::1] w = state.weights, g = state.squares, scale = state.scale
    cdef double[::1] scalars = state.scalars
    cdef double[:, ::1] log_loss = state.log_loss
    cdef float[:, ::1] raw = state.raw, score = state.score, scratch = state.scratch
    cdef Softmax q
    q.w, q.g, q.scale = <float *>&w[0, 0], <float *>&g[0, 0], <float *>&scale[0, 0]
    q.scalars, q.log_loss, q.loss, q.vw_compat = &scalars[0], &log_loss[0, 0], config.loss, config.vw_compat
    q.classes, q.width, q.shift = config.classes, <size_t>1 << <int>config.shift, config.shift
    q.mask = <uint32_t>(w.shape[0] >> q.shift) - 1
    if scalars.shape[0] != SCALARS or log_loss.shape[0] != 2 or log_loss.shape[1] != 2 or q.width < 8 or q.width < q.classes:
        raise ValueError("scalars or classes do not fit")
    if w.shape[0] >> q.shift < 1 or (g.shape[0] != w.shape[0] and g.shape[0] != 1) or w.shape[1] != 1:
        raise ValueError("the tables do not fit the classes")
    if scratch.shape[0] != 6 or scratch.shape[1] != <Py_ssize_t>q.width or scale.shape[0] not in (1, w.shape[0] >> q.shift):
        raise ValueError("the tables do not fit the classes")
    q.score_stride = q.classes if state.wants_scores else 0
    if raw.shape[1] != q.classes or score.shape[1] != q.classes or min(raw.shape[0],
                                                                       score.shape[0]) < (rows if q.score_stride else 1):
        raise ValueError("no room for the scores")
    q.raw, q.score = &raw[0, 0], &score[0, 0]
    q.s, q.p, q.gradient = &scratch[0, 0], &scratch[1, 0], &scratch[2, 0]
    q.reach, q.step = &scratch[3, 0], &scratch[4, 0]
    q.labels = LabelShares(&scratch[5, 0], q.classes, config.smoothing, NULL, NULL, NULL)
    q.inverse = q.r = NULL
    q.terms, q.fresh, q.taken = 0, 0, -1
    q.means = open_class_means(state.means, w.shape[0], w.shape[0] >> q.shift)
    q.shrinkage = open_row_shrinkage(state.shrinkage)
    return q
