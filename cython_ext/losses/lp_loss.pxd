"""The loss lp of the residual r = |y - p|: r^power, and below the power 1, where that has no slope at 0, the smooth

    (r^2 + scale^2)^(power / 2) - scale^power

Updates follow the gradient flow as in ``losses/robust_losses.pxd``.
"""

from libc.math cimport exp, expm1, fabs, log, log1p, pow

from losses.loss_types cimport LossParams
from losses.robust_losses cimport SHORT, residual, toward_label

cdef enum:
    MAX_STEPS = 300  # of Newton's method, each over at most 1 in log r; r lies between the least and largest float


cdef inline bint is_smoothed(const LossParams* params) noexcept nogil:
    return params.power < 1

cdef inline double smoothed_power(const LossParams* params, double r, double power) noexcept nogil:
    return pow(r * r + <double>params.scale * params.scale, power / 2)

cdef inline double lp_neg_gradient(const LossParams* params, double r) noexcept nogil:
    if is_smoothed(params):
        return params.power * r * smoothed_power(params, r, <double>params.power - 2)
    return params.power * pow(r, <double>params.power - 1)


cdef inline double flow_time(double end, double length, double exponent) noexcept nogil:
    """The integral of (1 + exp(2x))^exponent over [end - length, end], by Gauss and Legendre's rule of 8 points."""
    cdef double[4] node = [0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363]
    cdef double[4] weight = [0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763]
    cdef double half = length / 2, middle = end - half, sum = 0
    cdef int i
    for i in range(4):
        sum += weight[i] * (pow(1 + exp(2 * (middle - half * node[i])), exponent) + pow(1 + exp(2 * (middle + half * node[i])), exponent))
    return sum * half

cdef inline double smoothed_residual_after(const LossParams* params, double r, double t) noexcept nogil:
    """With x = log(r / scale) the flow is dx = -(1 + exp(2x))^(power / 2 - 1) dt in a unit of time of its own.

    The time that x takes is convex in x, so Newton's method comes to the x sought from above and never passes it.
    """
    cdef double power = params.power, scale = params.scale, exponent = 1 - power / 2, x, left, step
    cdef int i
    x, left = log(r / scale), t * power * pow(scale, power - 2)
    for i in range(MAX_STEPS):
        if x < -18:                          # where 1 + exp(2x) is 1
            return scale * exp(x - left)
        step = left / pow(1 + exp(2 * x), exponent)
        if step < 1e-14:
            break
        step = step if step < 1 else 1
        left -= flow_time(x, step, exponent)
        x -= step
        if left <= 0:
            break
    return scale * exp(x)

cdef inline double lp_fall(const LossParams* params, double r, double t) noexcept nogil:
    cdef double power = params.power, plain = t * lp_neg_gradient(params, r), share
    if is_smoothed(params):
        return plain if plain <= SHORT * r else r - smoothed_residual_after(params, r, t)
    if not plain > 0:
        return 0
    if power == 2:
        return -r * expm1(-2 * t)
    share = (2 - power) * plain / r          # by which r^(2 - power), which changes at a constant rate, falls
    if share >= 1:
        return r
    if fabs(share) < 0.5:
        return -r * expm1(log1p(-share) / (2 - power))
    return r - pow(pow(r, 2 - power) - power * (2 - power) * t, 1 / (2 - power))


cdef inline float lp_value(const LossParams* params, float p, float y) noexcept nogil:
    cdef double r = residual(p, y)
    if is_smoothed(params):
        return <float>(smoothed_power(params, r, params.power) - pow(params.scale, params.power))
    return <float>pow(r, params.power)

cdef inline float lp_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -toward_label(p, y, lp_neg_gradient(params, residual(p, y)))

cdef inline float lp_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return lp_slope(params, p, y) * lp_slope(params, p, y)

cdef inline double lp_curvature_of(const LossParams* params, double r) noexcept nogil:
    cdef double power = params.power, scale = params.scale
    if is_smoothed(params):
        return power * ((power - 1) * r * r + scale * scale) * smoothed_power(params, r, power - 4)
    return power * (power - 1) * pow(r, power - 2) if r > 0 else 0

cdef inline float lp_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>lp_curvature_of(params, residual(p, y))

cdef inline float lp_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * lp_slope(params, p, y)

cdef inline float lp_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return lp_unsafe(params, p, y, u)
    return toward_label(p, y, lp_fall(params, residual(p, y), <double>u * k) / k)
