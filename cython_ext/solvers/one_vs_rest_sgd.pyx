"""Stochastic gradient descent for m binary linear problems on the same rows. The m weights of a feature are contiguous."""

from libc.math cimport exp
from libc.stdint cimport int64_t, uint8_t, uint32_t

from base.byte_scan cimport prefetch, unlikely

LOSSES = ("modified_huber", "logistic", "hinge", "squared")


cdef inline void prefetch_row(const float *weight) noexcept nogil:
    """Prefetch the first 64 weights of a row; hardware prefetching covers the rest once they are read."""
    prefetch(weight)
    prefetch(weight + 16)
    prefetch(weight + 32)
    prefetch(weight + 48)


cdef inline void add_scaled(float factor, const float *source, float *target, Py_ssize_t m) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(m):
        target[k] += factor * source[k]


cdef inline float huber_neg_gradient(float score, float sign) noexcept nogil:
    """The negative derivative of the modified Huber loss: max(0, 1 - py)^2 for py >= -1, else -4py.

    Ando and Zhang 2005, section 7.1.
    """
    cdef float gap = 1.0 - score * sign
    gap = gap if gap > 0.0 else 0.0
    gap = gap if gap < 2.0 else 2.0
    return 2.0 * gap * sign


cdef inline float other_neg_gradient(int loss, float score, float sign) noexcept nogil:
    if loss == 1:
        return sign / (1.0 + <float>exp(score * sign))
    if loss == 2:
        return sign if score * sign < 1.0 else 0.0
    return 2.0 * (sign - score)


cdef inline void neg_gradients(int loss, float *score, const float *sign, Py_ssize_t m) noexcept nogil:
    """Replace scores by negative gradients of the losses."""
    cdef Py_ssize_t k
    if loss == 0:
        for k in range(m):
            score[k] = huber_neg_gradient(score[k], sign[k])
    else:
        for k in range(m):
            score[k] = other_neg_gradient(loss, score[k], sign[k])


cdef inline void add_scores(const uint32_t *index, const float *value, Py_ssize_t count, const float *weight,
                            Py_ssize_t stride, float *score, Py_ssize_t m) noexcept nogil:
    """Add the contributions of a row's features to the scores.

    Four features at a time: scores are loaded and stored less often, and the loads of four rows of weights overlap.
    """
    cdef Py_ssize_t j = 0, k
    cdef const float *a
    cdef const float *b
    cdef const float *c
    cdef const float *d
    cdef float va, vb, vc, vd
    while j + 4 <= count:
        a, b = weight + index[j] * stride, weight + index[j + 1] * stride
        c, d = weight + index[j + 2] * stride, weight + index[j + 3] * stride
        if j + 8 <= count:
            for k in range(4):
                prefetch_row(weight + index[j + 4 + k] * stride)
        va, vb, vc, vd = value[j], value[j + 1], value[j + 2], value[j + 3]
        for k in range(m):
            score[k] += (va * a[k] + vb * b[k]) + (vc * c[k] + vd * d[k])
        j += 4
    while j < count:
        add_scaled(value[j], weight + index[j] * stride, score, m)
        j += 1


def score(rows, weights, const int64_t[::1] order, float[:, ::1] out):
    """Write the scores of row ``order[i]`` for all m problems to ``out[i]``; ``out`` is float32[len(order), m].

    Stops early when a signal sets ``weights.stop``. Raises ValueError for weights whose shapes do not fit each other.
    """
    cdef const int64_t[::1] start = rows.terms.indptr
    cdef const uint32_t[::1] index = rows.terms.indices
    cdef const float[::1] value = rows.terms.values
    cdef const float[:, ::1] extra = rows.extra
    cdef const float[:, ::1] w = weights.w
    cdef const float[:, ::1] v = weights.v
    cdef const float[::1] bias = weights.bias
    cdef const uint8_t[::1] stop = weights.stop
    cdef const volatile uint8_t *stopped = &stop[0]
    cdef Py_ssize_t m = w.shape[1], i, j, k, row, begin
    if v.shape[1] != m or bias.shape[0] != m or out.shape[1] != m or extra.shape[1] != v.shape[0]:
        raise ValueError("the weights do not fit each other")
    if m == 0 or w.shape[0] == 0:
        return
    with nogil:
        for i in range(order.shape[0]):
            if unlikely(stopped[0]):
                break
            row = order[i]
            begin = start[row]
            for k in range(m):
                out[i, k] = bias[k]
            if start[row + 1] > begin:
                add_scores(&index[begin], &value[begin], start[row + 1] - begin, &w[0, 0], m, &out[i, 0], m)
            for j in range(v.shape[0]):
                add_scaled(extra[row, j], &v[j, 0], &out[i, 0], m)


def learn(rows, targets, weights, rates, const int64_t[::1] order, int64_t step, Py_ssize_t first, Py_ssize_t last,
          float[:, ::1] scratch):
    """Make a pass of stochastic gradient steps over the rows in ``order``, for the problems ``[first, last)``.

    ``targets.positive``: a CSR matrix whose row i lists, in ascending order, the problems for which row i is positive.
    ``scratch`` is float32[2, m]. ``rates`` has these attributes:

    - ``loss``: the number of the loss, its index in ``LOSSES``;
    - ``penalty`` lambda and ``start`` eta_0: the learning rate of step t is eta_0 / (1 + 2 lambda eta_0 t);
    - ``bias`` and ``shared``: factors on the learning rates of the bias and of v, which are not regularised;
    - ``scale``: the factor by which the stored w must be multiplied at the beginning of the pass.

    Returns the number of steps made so far, and the factor by which the stored w of these problems must be multiplied after
    the pass. Stops early when a signal sets ``weights.stop``. Raises ValueError where problems and weights do not fit.
    """
    cdef const int64_t[::1] start = rows.terms.indptr
    cdef const uint32_t[::1] index = rows.terms.indices
    cdef const float[::1] value = rows.terms.values
    cdef const float[:, ::1] extra = rows.extra
    cdef const float[::1] importance = rows.importance
    cdef const int64_t[::1] target_start = targets.positive.indptr
    cdef const uint32_t[::1] problem = targets.positive.indices
    cdef float[:, ::1] w = weights.w
    cdef float[:, ::1] v = weights.v
    cdef float[::1] bias = weights.bias
    cdef const uint8_t[::1] stop = weights.stop
    cdef const volatile uint8_t *stopped = &stop[0]
    cdef int loss = rates.loss
    cdef double penalty = rates.penalty, initial_learning_rate = rates.start, scale = rates.scale, rate
    cdef float bias_rate = rates.bias, shared_rate = rates.shared, factor
    cdef Py_ssize_t stride = w.shape[1], m = last - first, i, j, k, row, begin, count
    cdef float *score
    cdef float *sign
    if m <= 0 or w.shape[0] == 0:
        return step, scale
    if first < 0 or last > stride or scratch.shape[1] < last or v.shape[1] != stride or extra.shape[1] != v.shape[0]:
        raise ValueError("the problems do not fit the weights")
    score, sign = &scratch[0, first], &scratch[1, first]
    with nogil:
        for k in range(m):
            sign[k] = -1.0
        for i in range(order.shape[0]):
            if unlikely(stopped[0]):
                break
            row = order[i]
            begin, count = start[row], start[row + 1] - start[row]
            if count == 0:
                continue
            step += 1
            rate = initial_learning_rate / (1.0 + 2.0 * initial_learning_rate * penalty * step)
            for k in range(m):
                score[k] = 0.0
            add_scores(&index[begin], &value[begin], count, &w[0, first], stride, score, m)
            factor = <float>scale
            for k in range(m):
                score[k] = score[k] * factor + bias[first + k]
            for j in range(v.shape[0]):
                add_scaled(extra[row, j], &v[j, first], score, m)
            for j in range(target_start[row], target_start[row + 1]):
                if first <= problem[j] < last:
                    sign[problem[j] - first] = 1.0
            neg_gradients(loss, score, sign, m)
            for j in range(target_start[row], target_start[row + 1]):
                if first <= problem[j] < last:
                    sign[problem[j] - first] = -1.0
            rate *= importance[row]
            scale *= 1.0 - 2.0 * rate * penalty
            factor = <float>(rate / scale)
            for j in range(count):
                add_scaled(factor * value[begin + j], score, &w[index[begin + j], first], m)
            add_scaled(<float>rate * bias_rate, score, &bias[first], m)
            if shared_rate != 0.0:
                factor = <float>rate * shared_rate
                for j in range(v.shape[0]):
                    add_scaled(factor * extra[row, j], score, &v[j, first], m)
    return step, scale
