"""The functions of losses, which kernels get by ``losses/losses.pxd``, and the same for Python: over arrays of predictions and labels.

All arithmetic is float32, rounded after each step, as in Vowpal Wabbit; constants in arithmetic therefore come from
``base/float32.pxd``, never from literals. The ``update`` functions are closed forms after Karampatziakis and Langford, "Online
Importance Weight Aware Updates" (2011).

To add a loss: write its six functions, give it a code and a row in ``find_loss``, and an entry in ``vwlite/learners/losses.py``.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport expf, expm1f, fabsf, fmaxf, fminf, isfinite, log1pf, logf

cimport losses.margin_losses as margin
cimport losses.robust_losses as robust
from base.float32 cimport FOUR, MILLIONTH, ONE, TWO, finite_product
from losses.logistic cimport (
    SignedLogisticFn, shared_update, signed_curvature, signed_slope, signed_unsafe, signed_update, signed_value,
)
from losses.loss_types cimport LINK_COUNT, Loss, LossParams, apply_link, needs_update, read_params
from losses.losses cimport (
    LOSS_ABSOLUTE, LOSS_CLASSIC, LOSS_EXPECTILE, LOSS_EXPONENTIAL, LOSS_GEMAN_MCCLURE, LOSS_HINGE, LOSS_LOGISTIC,
    LOSS_LP, LOSS_MODIFIED_HUBER, LOSS_PERCEPTRON, LOSS_POISSON, LOSS_QUANTILE, LOSS_SQUARED, LOSS_SQUARED_HINGE,
    LOSS_TANH, LOSS_TRUNCATED, LOSS_TUBE, FindLoss,
)


# squared: linear outside the range of labels seen so far

cdef inline float squared_value(const LossParams* params, float p, float y) noexcept nogil:
    cdef float bound
    if p < params.min_label:
        bound = y - params.min_label
        return bound * bound + TWO * bound * (params.min_label - p) if bound != 0 else 0
    if p > params.max_label:
        bound = params.max_label - y
        return bound * bound + TWO * bound * (p - params.max_label) if bound != 0 else 0
    return (p - y) * (p - y)

cdef inline float squared_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    cdef float move = u * k
    if move < MILLIONTH:
        return TWO * (y - p) * u
    return (y - p) * (ONE - expf(-TWO * move)) / k

cdef inline float squared_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return TWO * (y - p) * u

cdef inline float squared_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return FOUR * (p - y) * (p - y)

cdef inline float squared_slope(const LossParams* params, float p, float y) noexcept nogil:
    return TWO * ((params.min_label if p < params.min_label else params.max_label if p > params.max_label else p) - y)

cdef inline float squared_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return 2 if params.min_label <= p <= params.max_label else 0


# classic: squared, without the range and with plain gradient steps

cdef inline float classic_value(const LossParams* params, float p, float y) noexcept nogil:
    return (p - y) * (p - y)

cdef inline float classic_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    return TWO * (y - p) * u

cdef inline float classic_slope(const LossParams* params, float p, float y) noexcept nogil:
    return TWO * (p - y)

cdef inline float classic_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return 2


# hinge: labels -1 and 1

cdef inline float hinge_value(const LossParams* params, float p, float y) noexcept nogil:
    return fmaxf(0, ONE - y * p)

cdef inline float hinge_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    cdef float error = ONE - y * p
    if y * p >= 1:
        return 0
    return y * (u if u * k < error else error / k)

cdef inline float hinge_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return 0 if y * p >= 1 else y * u

cdef inline float hinge_slope(const LossParams* params, float p, float y) noexcept nogil:
    return 0 if y * p >= 1 else -y

cdef inline float hinge_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return hinge_slope(params, p, y) * hinge_slope(params, p, y)

cdef inline float no_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return 0


# logistic: for a label between logistic_min and logistic_max, the weighted mean of the losses for the signs 1 and -1

cdef inline float logistic_share(const LossParams* params, float y) noexcept nogil:
    return (y - params.logistic_min) / (params.logistic_max - params.logistic_min)

cdef inline float logistic_mix(const LossParams* params, SignedLogisticFn signed_fn, float p, float y, float u, float k) noexcept nogil:
    cdef float share = logistic_share(params, y)
    if share == 1:
        return signed_fn(p, 1, u, k)
    if share == 0:
        return signed_fn(p, -1, u, k)
    return share * signed_fn(p, 1, u, k) + (ONE - share) * signed_fn(p, -1, u, k)

cdef inline float logistic_value(const LossParams* params, float p, float y) noexcept nogil:
    return logistic_mix(params, signed_value, p, y, 0, 0)

cdef inline bint logistic_needs_update(const LossParams* params, float p, float y) noexcept nogil:
    """Where |p| < 16, 1 + exp(-|p|) is above 1 in float32, so its logarithm, the loss, is above 0 without being taken."""
    cdef float share = logistic_share(params, y)
    return (fabsf(p) < 16 and (share == 1 or share == 0)) or logistic_value(params, p, y) > 0

cdef inline float logistic_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    cdef float share = logistic_share(params, y)
    if params.mixed or not 0 < share < 1:
        return logistic_mix(params, signed_update, p, y, u, k)
    return shared_update(p, share, u, k)

cdef inline float logistic_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return logistic_mix(params, signed_unsafe, p, y, u, 0)

cdef inline float logistic_slope(const LossParams* params, float p, float y) noexcept nogil:
    return logistic_mix(params, signed_slope, p, y, 0, 0)

cdef inline float logistic_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    cdef float slope = logistic_slope(params, p, y)
    return slope * slope

cdef inline float logistic_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return logistic_mix(params, signed_curvature, p, y, 0, 0)


# quantile: tau times the error above the prediction, 1 - tau times the error below

cdef inline float quantile_slope(const LossParams* params, float p, float y) noexcept nogil:
    if y == p:
        return 0
    return -params.tau if y > p else ONE - params.tau

cdef inline float quantile_value(const LossParams* params, float p, float y) noexcept nogil:
    cdef float error = y - p
    return params.tau * error if error > 0 else -(ONE - params.tau) * error

cdef inline float quantile_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    cdef float error = y - p
    cdef float move = finite_product(u, k)
    if error == 0:
        return 0
    if error > 0:
        return params.tau * u if params.tau * move < error else error / k
    return (params.tau - ONE) * u if (params.tau - ONE) * move > error else error / k

cdef inline float quantile_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -quantile_slope(params, p, y) * u

cdef inline float quantile_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return quantile_slope(params, p, y) * quantile_slope(params, p, y)


# expectile: squared, with different weights above and below the label

cdef inline float expectile_weight(const LossParams* params, float p, float y) noexcept nogil:
    return params.expectile if y - p < 0 else ONE - params.expectile

cdef inline float expectile_value(const LossParams* params, float p, float y) noexcept nogil:
    return squared_value(params, p, y) * expectile_weight(params, p, y)

cdef inline float expectile_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    return squared_update(params, p, y, u * expectile_weight(params, p, y), k)

cdef inline float expectile_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return squared_unsafe(params, p, y, u * expectile_weight(params, p, y))

cdef inline float expectile_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    cdef float weight = expectile_weight(params, p, y)
    return squared_square_grad(params, p, y) * (weight * weight)

cdef inline float expectile_slope(const LossParams* params, float p, float y) noexcept nogil:
    return squared_slope(params, p, y) * expectile_weight(params, p, y)

cdef inline float expectile_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return squared_curvature(params, p, y) * expectile_weight(params, p, y)


# poisson: p is the log of the mean. As in Vowpal Wabbit the value is the deviance, whose derivative is twice ``slope``

cdef inline float log_mean(float p) noexcept nogil:
    return fminf(fmaxf(p, -44), 44)

cdef inline float poisson_value(const LossParams* params, float p, float y) noexcept nogil:
    cdef float c = log_mean(p)
    return TWO * (y * (logf(y + MILLIONTH) - c) - (y - expf(c)))

cdef inline float poisson_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return (y - expf(log_mean(p))) * u

cdef inline float poisson_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    cdef float c = log_mean(p)
    cdef float grown
    cdef float label_move = y * u * k
    if k == 0:
        return poisson_unsafe(params, p, y, u)
    if y > 0:
        if label_move > 44:
            return -(c - logf(y)) / k
        grown = expf(c) * expm1f(label_move) / y
        if not isfinite(grown):
            return y * u - (c + logf(expm1f(label_move)) - logf(y)) / k
        return y * u - log1pf(grown) / k
    grown = expf(c) * u * k
    return -(c + logf(finite_product(u, k))) / k if not isfinite(grown) else -log1pf(grown) / k

cdef inline float poisson_slope(const LossParams* params, float p, float y) noexcept nogil:
    return expf(log_mean(p)) - y

cdef inline float poisson_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return poisson_slope(params, p, y) * poisson_slope(params, p, y)

cdef inline float poisson_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return expf(log_mean(p))


cdef int find_robust_loss(int code, Loss* out) noexcept nogil:
    if code == LOSS_ABSOLUTE:
        out[0] = Loss(robust.absolute_value, robust.absolute_update, robust.absolute_unsafe,
                      robust.absolute_square_grad, robust.absolute_slope, no_curvature, NULL)
    elif code == LOSS_TRUNCATED:
        out[0] = Loss(robust.truncated_value, robust.truncated_update, robust.truncated_unsafe,
                      robust.truncated_square_grad, robust.truncated_slope, robust.truncated_curvature, NULL)
    elif code == LOSS_GEMAN_MCCLURE:
        out[0] = Loss(robust.geman_value, robust.geman_update, robust.geman_unsafe,
                      robust.geman_square_grad, robust.geman_slope, robust.geman_curvature, NULL)
    elif code == LOSS_EXPONENTIAL:
        out[0] = Loss(margin.exponential_value, margin.exponential_update, margin.exponential_unsafe,
                      margin.exponential_square_grad, margin.exponential_slope, margin.exponential_curvature, NULL)
    elif code == LOSS_MODIFIED_HUBER:
        out[0] = Loss(margin.huber_value, margin.huber_update, margin.huber_unsafe,
                      margin.huber_square_grad, margin.huber_slope, margin.huber_curvature, NULL)
    elif code == LOSS_TANH:
        out[0] = Loss(margin.tanh_value, margin.tanh_update, margin.tanh_unsafe,
                      margin.tanh_square_grad, margin.tanh_slope, margin.tanh_curvature, NULL)
    elif code == LOSS_LP:
        out[0] = Loss(robust.lp_value, robust.lp_update, robust.lp_unsafe, robust.lp_square_grad, robust.lp_slope, robust.lp_curvature, NULL)
    elif code == LOSS_SQUARED_HINGE:
        out[0] = Loss(margin.squared_hinge_value, margin.squared_hinge_update, margin.squared_hinge_unsafe,
                      margin.squared_hinge_square_grad, margin.squared_hinge_slope, margin.squared_hinge_curvature, NULL)
    elif code == LOSS_TUBE:
        out[0] = Loss(robust.tube_value, robust.tube_update, robust.tube_unsafe, robust.tube_square_grad, robust.tube_slope, no_curvature, NULL)
    elif code == LOSS_PERCEPTRON:
        out[0] = Loss(margin.perceptron_value, margin.perceptron_update, margin.perceptron_unsafe,
                      margin.perceptron_square_grad, margin.perceptron_slope, no_curvature, margin.perceptron_needs_update)
    else:
        return -1
    return 0


cdef int find_loss(int code, Loss* out) noexcept nogil:
    """Fill ``out`` with the functions of the loss ``code``; returns 0, or -1 for an unknown code."""
    if code == LOSS_SQUARED:
        out[0] = Loss(squared_value, squared_update, squared_unsafe,
                      squared_square_grad, squared_slope, squared_curvature, NULL)
    elif code == LOSS_CLASSIC:
        out[0] = Loss(classic_value, classic_update, squared_unsafe,
                      squared_square_grad, classic_slope, classic_curvature, NULL)
    elif code == LOSS_HINGE:
        out[0] = Loss(hinge_value, hinge_update, hinge_unsafe,
                      hinge_square_grad, hinge_slope, no_curvature, NULL)
    elif code == LOSS_LOGISTIC:
        out[0] = Loss(logistic_value, logistic_update, logistic_unsafe,
                      logistic_square_grad, logistic_slope, logistic_curvature, logistic_needs_update)
    elif code == LOSS_QUANTILE:
        out[0] = Loss(quantile_value, quantile_update, quantile_unsafe,
                      quantile_square_grad, quantile_slope, no_curvature, NULL)
    elif code == LOSS_EXPECTILE:
        out[0] = Loss(expectile_value, expectile_update, expectile_unsafe,
                      expectile_square_grad, expectile_slope, expectile_curvature, NULL)
    elif code == LOSS_POISSON:
        out[0] = Loss(poisson_value, poisson_update, poisson_unsafe,
                      poisson_square_grad, poisson_slope, poisson_curvature, NULL)
    else:
        return find_robust_loss(code, out)
    return 0

cdef FindLoss finding = find_loss
FIND_LOSS = PyCapsule_New(&finding, "vwlite._native.loss_functions.FIND_LOSS", NULL)


cdef int open_table(int code, const float[::1] values, LossParams* params, Loss* loss) except -1:
    if find_loss(code, loss) != 0:
        raise ValueError(f"no loss has the code {code}")
    return read_params(values, params)


cdef int same_length(Py_ssize_t n, Py_ssize_t other) except -1:
    if n != other:
        raise ValueError(f"arrays differ in length: {n} and {other}")
    return 0


def value(int code, const float[::1] params, float p, float y):
    """The loss ``code`` of predicting ``p`` for the label ``y``. Arguments and errors as in ``evaluate``."""
    cdef LossParams fields
    cdef Loss loss
    open_table(code, params, &fields, &loss)
    return loss.value(&fields, p, y)


def evaluate(int code, const float[::1] params, const float[::1] p, const float[::1] y):
    """Value, slope, curvature and squared gradient of the loss ``code``, four float32[n].

    ``params`` are the fields of ``LossParams`` in order, ``p`` the predictions and ``y`` the
    labels, n each.
    Raises ValueError for an unknown code or for arrays of the wrong length.
    """
    cdef LossParams fields
    cdef Loss loss
    cdef Py_ssize_t i, n = p.shape[0]
    open_table(code, params, &fields, &loss)
    same_length(n, y.shape[0])
    out = np.empty((4, n), dtype=np.float32)
    cdef float[:, ::1] rows = out
    with nogil:
        for i in range(n):
            rows[0, i] = loss.value(&fields, p[i], y[i])
            rows[1, i] = loss.slope(&fields, p[i], y[i])
            rows[2, i] = loss.curvature(&fields, p[i], y[i])
            rows[3, i] = loss.square_grad(&fields, p[i], y[i])
    return tuple(out)


def needs_updates(int code, const float[::1] params, const float[::1] p, const float[::1] y):
    """Where an example is learned, found as learners find it: bool[n]. Arguments and errors as in ``evaluate``."""
    cdef LossParams fields
    cdef Loss loss
    cdef Py_ssize_t i, n = p.shape[0]
    open_table(code, params, &fields, &loss)
    same_length(n, y.shape[0])
    out = np.empty(n, dtype=np.uint8)
    cdef unsigned char[::1] found = out
    with nogil:
        for i in range(n):
            found[i] = needs_update(&loss, &fields, p[i], y[i])
    return out.view(bool)


def update(
    int code,
    const float[::1] params,
    const float[::1] p,
    const float[::1] y,
    const float[::1] scale,
    const float[::1] pred_per_update,
):
    """Importance-aware and plain gradient updates, two float32[n].

    ``scale`` is the learning rate times the importance; an update ``d`` moves the prediction by
    ``d * pred_per_update``. Other arguments and errors as in ``evaluate``.
    """
    cdef LossParams fields
    cdef Loss loss
    cdef Py_ssize_t i, n = p.shape[0]
    open_table(code, params, &fields, &loss)
    for length in (y.shape[0], scale.shape[0], pred_per_update.shape[0]):
        same_length(n, length)
    out = np.empty((2, n), dtype=np.float32)
    cdef float[:, ::1] rows = out
    with nogil:
        for i in range(n):
            rows[0, i] = loss.update(&fields, p[i], y[i], scale[i], pred_per_update[i])
            rows[1, i] = loss.unsafe_update(&fields, p[i], y[i], scale[i])
    return tuple(out)


def link(int code, float[::1] predictions):
    """Apply the link function to predictions, float32[n], in place. Raises ValueError for an unknown code."""
    cdef Py_ssize_t i
    if not 0 <= code < LINK_COUNT:
        raise ValueError(f"no link has the code {code}")
    with nogil:
        for i in range(predictions.shape[0]):
            predictions[i] = apply_link(code, predictions[i])
