"""Losses of the residual r = |y - p| that limit the influence of outliers. u and k are explained in ``losses/loss_types.pxd``.

Updates follow the gradient flow dp/dt = -loss'(p) for the time t = u k, in double precision; ``X_fall(r, t, scale)`` is how far
the residual falls in that time, found without taking a difference that rounding could swallow. Where the flow has no closed form,
Newton's method finds it. So an update of importance a followed by one of importance b equals one of importance a + b, and no
update moves the prediction past the label.

The loss lp is r^power and, below the power 1, where that has no slope at 0, the smooth (r^2 + scale^2)^(power / 2) - scale^power.
"""

from libc.math cimport exp, expm1, fabs, fmin, log, log1p, pow

from losses.loss_types cimport LossParams

cdef enum:
    MAX_ITERATIONS = 100  # of Newton's method

cdef extern from *:
    const double SHORT "1e-6"  # the share of a residual over which its slope is constant but for a few parts in a million


cdef inline double residual(float p, float y) noexcept nogil:
    return fabs(<double>y - p)

cdef inline float toward_label(float p, float y, double size) noexcept nogil:
    """``size`` with the sign of y - p."""
    return <float>(size if y > p else -size if y < p else 0)


# absolute: |y - p|, whose mean is minimal at the median

cdef inline double absolute_value_of(double r, double scale) noexcept nogil:
    return r

cdef inline double absolute_neg_gradient(double r, double scale) noexcept nogil:
    return 1 if r > 0 else 0

cdef inline double absolute_fall(double r, double t, double scale) noexcept nogil:
    return fmin(t, r)


cdef inline float absolute_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>absolute_value_of(residual(p, y), params.scale)

cdef inline float absolute_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -toward_label(p, y, absolute_neg_gradient(residual(p, y), params.scale))

cdef inline float absolute_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return absolute_slope(params, p, y) * absolute_slope(params, p, y)

cdef inline float absolute_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * absolute_slope(params, p, y)

cdef inline float absolute_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return absolute_unsafe(params, p, y, u)
    return toward_label(p, y, absolute_fall(residual(p, y), <double>u * k, params.scale) / k)


# tube: max(0, r - tube) (Vapnik 1995)

cdef inline double tube_value_of(double r, double tube) noexcept nogil:
    return r - tube if r > tube else 0

cdef inline double tube_neg_gradient(double r, double tube) noexcept nogil:
    return 1 if r > tube else 0

cdef inline double tube_fall(double r, double t, double tube) noexcept nogil:
    return fmin(t, r - tube) if r > tube else 0


cdef inline float tube_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>tube_value_of(residual(p, y), params.tube)

cdef inline float tube_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -toward_label(p, y, tube_neg_gradient(residual(p, y), params.tube))

cdef inline float tube_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return tube_slope(params, p, y) * tube_slope(params, p, y)

cdef inline float tube_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * tube_slope(params, p, y)

cdef inline float tube_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return tube_unsafe(params, p, y, u)
    return toward_label(p, y, tube_fall(residual(p, y), <double>u * k, params.tube) / k)


# truncated: min(1, (r / scale)^2)

cdef inline double truncated_value_of(double r, double scale) noexcept nogil:
    return fmin(1, (r / scale) * (r / scale))

cdef inline double truncated_neg_gradient(double r, double scale) noexcept nogil:
    return 2 * r / (scale * scale) if r < scale else 0

cdef inline double truncated_curvature_of(double r, double scale) noexcept nogil:
    return 2 / (scale * scale) if r < scale else 0

cdef inline double truncated_fall(double r, double t, double scale) noexcept nogil:
    return -r * expm1(-2 * t / (scale * scale)) if r < scale else 0


cdef inline float truncated_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>truncated_value_of(residual(p, y), params.scale)

cdef inline float truncated_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -toward_label(p, y, truncated_neg_gradient(residual(p, y), params.scale))

cdef inline float truncated_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return truncated_slope(params, p, y) * truncated_slope(params, p, y)

cdef inline float truncated_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>truncated_curvature_of(residual(p, y), params.scale)

cdef inline float truncated_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * truncated_slope(params, p, y)

cdef inline float truncated_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return truncated_unsafe(params, p, y, u)
    return toward_label(p, y, truncated_fall(residual(p, y), <double>u * k, params.scale) / k)


# geman_mcclure: r^2 / (scale^2 + r^2) (Geman and McClure, 1987)

cdef inline double geman_value_of(double r, double scale) noexcept nogil:
    cdef double q = r / scale
    return 1 - 1 / (1 + q * q)

cdef inline double geman_neg_gradient(double r, double scale) noexcept nogil:
    cdef double q = r / scale, d = 1 + q * q
    return 2 * q / (d * d) / scale

cdef inline double geman_curvature_of(double r, double scale) noexcept nogil:
    cdef double q = r / scale, d = 1 + q * q
    return 2 * (1 - 3 * q * q) / (d * d * d) / (scale * scale)

cdef inline double geman_flow_time(double q) noexcept nogil:
    """The time, up to a constant, at which the flow reaches q = r / scale: the integral of (1 + q^2)^2 / 2q."""
    return (log(q) + q * q + q * q * q * q / 4) / 2

cdef inline double geman_fall(double r, double t, double scale) noexcept nogil:
    cdef double q = r / scale, plain = t * geman_neg_gradient(r, scale), x, goal, rest, step
    cdef int i
    if plain <= SHORT * r:
        return plain
    goal = geman_flow_time(q) - t / (scale * scale)
    if goal < -200:                          # the terms in q^2 are negligible: q = exp(2 goal)
        return r - scale * exp(2 * goal)
    x = fmin(log(q), log(8 * goal) / 4 if goal > 1 else 0)  # not below the root; the time is convex in x = log q
    for i in range(MAX_ITERATIONS):
        q = exp(x)
        rest = geman_flow_time(q) - goal
        step = rest / ((1 + q * q) * (1 + q * q) / 2)
        x -= step
        if fabs(step) <= 1e-15 * (1 + fabs(x)):
            break
    return r - scale * exp(x)

cdef inline float geman_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>geman_value_of(residual(p, y), params.scale)

cdef inline float geman_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -toward_label(p, y, geman_neg_gradient(residual(p, y), params.scale))

cdef inline float geman_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return geman_slope(params, p, y) * geman_slope(params, p, y)

cdef inline float geman_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>geman_curvature_of(residual(p, y), params.scale)

cdef inline float geman_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * geman_slope(params, p, y)

cdef inline float geman_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return geman_unsafe(params, p, y, u)
    return toward_label(p, y, geman_fall(residual(p, y), <double>u * k, params.scale) / k)


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
