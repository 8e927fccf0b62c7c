"""What the kernels of batch optimisation share: where sums are, and what they are of a loss.

``VectorPass`` has the sums of a pass over examples that have several predictions each, of which the weights stand side by side.
"""

from libc.math cimport INFINITY, exp, fabs, fmax, log
from libc.stdint cimport uint32_t

from base.byte_scan cimport prefetch
from features.row_buffer cimport Scratch
from losses.logistic cimport sigmoid, softplus
from losses.loss_types cimport Loss, LossParams
from losses.losses cimport LOSS_LOGISTIC, LOSS_POISSON, LOSS_SQUARED
from learners.class_blocks cimport add_rows, sum_rows, sum_rows_float64

cdef enum:
    LANES = 8                # predictions that are summed side by side
    GRADIENT = 1             # columns of the table under ``vwlite vw``; otherwise columns of ``vectors``, less 1
    DIRECTION = 2
    DIAGONAL = 3
    VECTORS = 3
    LOSS_SUM = 0             # indices into the sums, named in vwlite/learners/bfgs.py
    WEIGHT_SUM = 1
    CURVATURE = 2
    SUMS = 3


cdef inline double effective_curvature(double curvature, double value, double slope) noexcept nogil:
    """That of a loss, but at least that of the parabola with the same value and slope whose minimum is 0."""
    return fmax(fabs(curvature), slope * slope / (2 * value) if value > 0 else 0)


cdef inline LossParams unbounded(LossParams params) noexcept nogil:
    """With an unbounded range of labels."""
    params.min_label, params.max_label = -INFINITY, INFINITY
    return params


cdef struct Derivatives:         # of a loss by the prediction before clip and link
    double value                 # half of the deviance where that is the loss: its slope is the derivative of this
    double slope
    double curvature


cdef inline Derivatives derive_loss(const Loss *loss, const LossParams *params, int code, double z, double y) noexcept nogil:
    """In double precision for the losses that match a transfer, whose slope is the transfer of z less the label."""
    cdef Derivatives d
    cdef double share
    if code == LOSS_SQUARED:
        d = Derivatives((z - y) * (z - y), 2 * (z - y), 2)
    elif code == LOSS_LOGISTIC:
        share = (y - params.logistic_min) / (<double>params.logistic_max - params.logistic_min)
        d = derive_sigmoid(z, share)
    elif code == LOSS_POISSON:
        d = Derivatives(exp(z) - y + (y * (log(y) - z) if y > 0 else 0), exp(z) - y, exp(z))
    else:
        d = Derivatives(loss.value(params, <float>z, <float>y), loss.slope(params, <float>z, <float>y),
                        loss.curvature(params, <float>z, <float>y))
    return d


cdef inline Derivatives derive_sigmoid(double z, double share) noexcept nogil:
    """Of the cross entropy; ``share``: the probability that the label tells."""
    cdef double p = sigmoid(z)
    return Derivatives(softplus(z) - share * z, p - share, p * (1 - p))


cdef struct VectorPass:
    const float *weights         # (slots,)
    double *vectors[VECTORS]     # (slots,) gradient, direction, diagonal
    double *sums                 # (SUMS,)
    bint gradient                # this pass computes the gradient; otherwise the curvature
    bint first                   # the first pass: also the diagonal of the Hessian and the examples' weight
    uint32_t size                # predictions of an example
    size_t width                 # slots of a feature
    # scratch (width,)
    double *z                    # predictions before clip and link
    double *slope                # first derivatives of the example's loss in z
    double *curvature            # second ones
    double *along                # derivatives of z along the direction


cdef inline void predict_all(VectorPass *q, const Scratch *s, double initial) noexcept nogil:
    """Fill ``z``. The terms' indices are the numbers of features."""
    cdef const float *slots
    cdef double x
    cdef uint32_t c
    cdef size_t i
    for c in range(<uint32_t>q.width):
        q.z[c] = initial
    if q.width % LANES == 0:
        sum_rows(q.weights, s.index, s.value, s.terms, q.width, q.z)
        return
    for i in range(s.terms):
        slots, x = q.weights + q.width * s.index[i], s.value[i]
        for c in range(q.size):
            q.z[c] += slots[c] * x


cdef inline void derive_along(VectorPass *q, const Scratch *s) noexcept nogil:
    """Fill ``along``."""
    cdef const double *slots
    cdef double x
    cdef uint32_t c
    cdef size_t i
    for c in range(<uint32_t>q.width):
        q.along[c] = 0
    if q.width % LANES == 0:
        sum_rows_float64(q.vectors[DIRECTION - 1], s.index, s.value, s.terms, q.width, q.along)
        return
    for i in range(s.terms):
        slots, x = q.vectors[DIRECTION - 1] + q.width * s.index[i], s.value[i]
        for c in range(q.size):
            q.along[c] += slots[c] * x


cdef inline void scatter(VectorPass *q, const Scratch *s, int vector, const double *factor, double weight, bint squared) noexcept nogil:
    """Add ``factor`` (width,), 0 beyond ``size``, times each term, or its square, to a vector."""
    cdef double *slots
    cdef double x
    cdef uint32_t c
    cdef size_t i
    if q.width % LANES == 0:
        add_rows(q.vectors[vector - 1], s.index, s.value, s.terms, q.width, factor, weight, squared)
        return
    for i in range(s.terms):
        slots = q.vectors[vector - 1] + q.width * s.index[i]
        x = s.value[i]
        x = weight * (x * x if squared else x)
        for c in range(q.size):
            slots[c] += factor[c] * x


cdef inline void mark_slots(VectorPass *q, const Scratch *s) noexcept nogil:
    """Mark the features that occur, in the vector of directions, which is not needed yet."""
    cdef uint32_t c
    cdef size_t i
    for i in range(s.terms):
        for c in range(q.size):
            q.vectors[DIRECTION - 1][q.width * s.index[i] + c] = 1


cdef inline void add_example(VectorPass *q, const Scratch *s, double value, double curvature, double weight) noexcept nogil:
    """``value`` of the loss, of which ``slope`` and ``curvature`` are filled; ``curvature``: along the direction, of ``along``."""
    if q.first:
        q.sums[WEIGHT_SUM] += weight
        mark_slots(q, s)
        scatter(q, s, DIAGONAL, q.curvature, weight, True)
    if q.gradient:
        q.sums[LOSS_SUM] += value * weight
        scatter(q, s, GRADIENT, q.slope, weight, False)
    else:
        q.sums[CURVATURE] += curvature * weight


cdef inline int open_vector_pass(VectorPass *q, state, uint32_t size, size_t width) except -1:
    """From a ``vwlite.learners.bfgs.BatchVectors``."""
    cdef const float[:, ::1] weights = state.weights
    cdef double[:, ::1] vectors = state.vectors.T, scratch = state.pass_scratch
    cdef double[::1] sums = state.sums
    cdef int i
    if vectors.shape[0] != VECTORS or vectors.shape[1] != weights.shape[0] or weights.shape[1] != 1 or sums.shape[0] != SUMS:
        raise ValueError("table and vectors do not belong together")
    if scratch.shape[0] != 4 or <size_t>scratch.shape[1] != width or size > width or <size_t>weights.shape[0] % width:
        raise ValueError("no room for the predictions")
    q.weights, q.sums, q.size, q.width = &weights[0, 0], &sums[0], size, width
    q.gradient, q.first = state.gradient, state.first
    for i in range(VECTORS):
        q.vectors[i] = &vectors[i, 0]
    q.z, q.slope, q.curvature, q.along = &scratch[0, 0], &scratch[1, 0], &scratch[2, 0], &scratch[3, 0]
    return 0


cdef inline void find_vectors(const VectorPass *v, uint32_t mask, Scratch *s) noexcept nogil:
    """Replace hashes by the numbers of features."""
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = s.index[i] & mask
    for i in range(0 if s.in_cache else s.terms):
        prefetch(v.weights + v.width * s.index[i])
