"""The loss table: a block of functions and a row of ``get_loss`` for each loss.

All arithmetic is float32, rounded after each step, as in Vowpal Wabbit; constants in
arithmetic therefore come from ``base/float32.pxd``, never from literals. The ``update`` functions
are closed forms after Karampatziakis and Langford, "Online Importance Weight Aware Updates" (2011).

To add a loss: write its six functions, give it a code and a row in ``get_loss``, and an entry in
``vwlite/learners/losses.py``.
"""

from libc.math cimport expf, expm1f, fabsf, fmaxf, fminf, isfinite, log1pf, logf

from base.float32 cimport FOUR, MILLIONTH, ONE, TWO, finite_product
from losses.loss_types cimport Loss, LossParams
from losses.logistic cimport (
    SignedLogisticFn, shared_update, signed_curvature, signed_slope, signed_unsafe, signed_update, signed_value
)
from losses.robust_losses cimport (
    absolute_slope, absolute_square_grad, absolute_unsafe, absolute_update, absolute_value, geman_curvature,
    geman_slope, geman_square_grad, geman_unsafe, geman_update, geman_value, lp_curvature, lp_slope, lp_square_grad,
    lp_unsafe, lp_update, lp_value, truncated_curvature, truncated_slope, truncated_square_grad, truncated_unsafe,
    truncated_update, truncated_value, tube_slope, tube_square_grad, tube_unsafe, tube_update, tube_value,
)
from losses.margin_losses cimport (
    exponential_curvature, exponential_slope, exponential_square_grad, exponential_unsafe,
    exponential_update, exponential_value, huber_curvature, huber_slope, huber_square_grad,
    huber_unsafe, huber_update, huber_value, perceptron_needs_update, perceptron_slope, perceptron_square_grad,
    perceptron_unsafe, perceptron_update, perceptron_value, squared_hinge_curvature, squared_hinge_slope,
    squared_hinge_square_grad, squared_hinge_unsafe, squared_hinge_update, squared_hinge_value, tanh_curvature, tanh_slope, tanh_square_grad,
    tanh_unsafe, tanh_update, tanh_value,
)

cdef enum:
    LOSS_SQUARED = 0
    LOSS_CLASSIC = 1
    LOSS_HINGE = 2
    LOSS_LOGISTIC = 3
    LOSS_QUANTILE = 4
    LOSS_EXPECTILE = 5
    LOSS_POISSON = 6
    LOSS_ABSOLUTE = 7
    LOSS_TRUNCATED = 8
    LOSS_GEMAN_MCCLURE = 9
    LOSS_EXPONENTIAL = 10
    LOSS_MODIFIED_HUBER = 11
    LOSS_TANH = 12
    LOSS_LP = 13
    LOSS_SQUARED_HINGE = 14
    LOSS_TUBE = 15
    LOSS_PERCEPTRON = 16


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

cdef inline float squared_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
    cdef float move = u * k
    if move < MILLIONTH:
        return TWO * (y - p) * u
    return (y - p) * (ONE - expf(-TWO * move)) / k

cdef inline float squared_unsafe(
    const LossParams* params, float p, float y, float u
) noexcept nogil:
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

cdef inline float classic_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
    return TWO * (y - p) * u

cdef inline float classic_slope(const LossParams* params, float p, float y) noexcept nogil:
    return TWO * (p - y)

cdef inline float classic_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return 2


# hinge: labels -1 and 1

cdef inline float hinge_value(const LossParams* params, float p, float y) noexcept nogil:
    return fmaxf(0, ONE - y * p)

cdef inline float hinge_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
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

cdef inline float logistic_mix(
    const LossParams* params, SignedLogisticFn signed_fn, float p, float y, float u, float k
) noexcept nogil:
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

cdef inline float logistic_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
    cdef float share = logistic_share(params, y)
    if params.mixed or not 0 < share < 1:
        return logistic_mix(params, signed_update, p, y, u, k)
    return shared_update(p, share, u, k)

cdef inline float logistic_unsafe(
    const LossParams* params, float p, float y, float u
) noexcept nogil:
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

cdef inline float quantile_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
    cdef float error = y - p
    cdef float move = finite_product(u, k)
    if error == 0:
        return 0
    if error > 0:
        return params.tau * u if params.tau * move < error else error / k
    return (params.tau - ONE) * u if (params.tau - ONE) * move > error else error / k

cdef inline float quantile_unsafe(
    const LossParams* params, float p, float y, float u
) noexcept nogil:
    return -quantile_slope(params, p, y) * u

cdef inline float quantile_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return quantile_slope(params, p, y) * quantile_slope(params, p, y)


# expectile: squared, with different weights above and below the label

cdef inline float expectile_weight(const LossParams* params, float p, float y) noexcept nogil:
    return params.expectile if y - p < 0 else ONE - params.expectile

cdef inline float expectile_value(const LossParams* params, float p, float y) noexcept nogil:
    return squared_value(params, p, y) * expectile_weight(params, p, y)

cdef inline float expectile_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
    return squared_update(params, p, y, u * expectile_weight(params, p, y), k)

cdef inline float expectile_unsafe(
    const LossParams* params, float p, float y, float u
) noexcept nogil:
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

cdef inline float poisson_unsafe(
    const LossParams* params, float p, float y, float u
) noexcept nogil:
    return (y - expf(log_mean(p))) * u

cdef inline float poisson_update(
    const LossParams* params, float p, float y, float u, float k
) noexcept nogil:
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


cdef inline int get_loss(int code, Loss* out) noexcept nogil:
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
        return get_robust_loss(code, out)
    return 0


cdef inline int get_robust_loss(int code, Loss* out) noexcept nogil:
    if code == LOSS_ABSOLUTE:
        out[0] = Loss(absolute_value, absolute_update, absolute_unsafe,
                      absolute_square_grad, absolute_slope, no_curvature, NULL)
    elif code == LOSS_TRUNCATED:
        out[0] = Loss(truncated_value, truncated_update, truncated_unsafe,
                      truncated_square_grad, truncated_slope, truncated_curvature, NULL)
    elif code == LOSS_GEMAN_MCCLURE:
        out[0] = Loss(geman_value, geman_update, geman_unsafe,
                      geman_square_grad, geman_slope, geman_curvature, NULL)
    elif code == LOSS_EXPONENTIAL:
        out[0] = Loss(exponential_value, exponential_update, exponential_unsafe,
                      exponential_square_grad, exponential_slope, exponential_curvature, NULL)
    elif code == LOSS_MODIFIED_HUBER:
        out[0] = Loss(huber_value, huber_update, huber_unsafe,
                      huber_square_grad, huber_slope, huber_curvature, NULL)
    elif code == LOSS_TANH:
        out[0] = Loss(tanh_value, tanh_update, tanh_unsafe,
                      tanh_square_grad, tanh_slope, tanh_curvature, NULL)
    elif code == LOSS_LP:
        out[0] = Loss(lp_value, lp_update, lp_unsafe, lp_square_grad, lp_slope, lp_curvature, NULL)
    elif code == LOSS_SQUARED_HINGE:
        out[0] = Loss(squared_hinge_value, squared_hinge_update, squared_hinge_unsafe,
                      squared_hinge_square_grad, squared_hinge_slope, squared_hinge_curvature, NULL)
    elif code == LOSS_TUBE:
        out[0] = Loss(tube_value, tube_update, tube_unsafe, tube_square_grad, tube_slope, no_curvature, NULL)
    elif code == LOSS_PERCEPTRON:
        out[0] = Loss(perceptron_value, perceptron_update, perceptron_unsafe,
                      perceptron_square_grad, perceptron_slope, no_curvature, perceptron_needs_update)
    else:
        return -1
    return 0
