"""Losses of the margin m = y p for the labels -1 and 1.

Updates follow the gradient flow dm/dt = -loss'(m), as in ``losses/robust_losses.pxd``: ``X_rise(m, t)`` is how far the margin
rises in the time t = u k.
"""

from libc.math cimport asinh, cosh, exp, expm1, fabs, fmin, log, log1p, sinh, tanh

from losses.loss_types cimport LossParams
from losses.robust_losses cimport SHORT

cdef enum:
    MAX_ITERATIONS = 100  # of Newton's method


# exponential: exp(-m)

cdef inline double exponential_value_of(double m) noexcept nogil:
    return exp(-m)

cdef inline double exponential_neg_gradient(double m) noexcept nogil:
    return exp(-m)

cdef inline double exponential_curvature_of(double m) noexcept nogil:
    return exp(-m)

cdef inline double exponential_rise(double m, double t) noexcept nogil:
    """The flow increases exp(m) by t."""
    return log1p(t * exp(-m)) if m > -500 else log(t) - m if t > 0 else 0


cdef inline float exponential_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>exponential_value_of(<double>y * p)

cdef inline float exponential_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -y * <float>exponential_neg_gradient(<double>y * p)

cdef inline float exponential_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>exponential_curvature_of(<double>y * p)

cdef inline float exponential_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return exponential_slope(params, p, y) * exponential_slope(params, p, y)

cdef inline float exponential_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * exponential_slope(params, p, y)

cdef inline float exponential_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return exponential_unsafe(params, p, y, u)
    return y * <float>(exponential_rise(<double>y * p, <double>u * k) / k)


cdef inline double squared_hinge_rise(double m, double t) noexcept nogil:
    """For modified_huber too, from the margin -1 on."""
    return (m - 1) * expm1(-2 * t) if m < 1 and t > 0 else 0


# modified_huber: (1 - m)^2 where positive, linear below -1 (Zhang, ICML 2004)

cdef inline double huber_value_of(double m) noexcept nogil:
    return 0 if m >= 1 else (1 - m) * (1 - m) if m >= -1 else -4 * m

cdef inline double huber_neg_gradient(double m) noexcept nogil:
    return 0 if m >= 1 else 2 * (1 - m) if m >= -1 else 4

cdef inline double huber_curvature_of(double m) noexcept nogil:
    return 2 if -1 <= m < 1 else 0

cdef inline double huber_rise(double m, double t) noexcept nogil:
    if m < -1:
        return fmin(4 * t, -1 - m) + squared_hinge_rise(-1, t - (-1 - m) / 4)
    return squared_hinge_rise(m, t)


cdef inline float huber_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>huber_value_of(<double>y * p)

cdef inline float huber_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -y * <float>huber_neg_gradient(<double>y * p)

cdef inline float huber_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>huber_curvature_of(<double>y * p)

cdef inline float huber_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return huber_slope(params, p, y) * huber_slope(params, p, y)

cdef inline float huber_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * huber_slope(params, p, y)

cdef inline float huber_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return huber_unsafe(params, p, y, u)
    return y * <float>(huber_rise(<double>y * p, <double>u * k) / k)


# squared_hinge: max(0, 1 - m)^2

cdef inline double squared_hinge_value_of(double m) noexcept nogil:
    return 0 if m >= 1 else (1 - m) * (1 - m)

cdef inline double squared_hinge_neg_gradient(double m) noexcept nogil:
    return 0 if m >= 1 else 2 * (1 - m)

cdef inline double squared_hinge_curvature_of(double m) noexcept nogil:
    return 2 if m < 1 else 0


cdef inline float squared_hinge_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>squared_hinge_value_of(<double>y * p)

cdef inline float squared_hinge_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -y * <float>squared_hinge_neg_gradient(<double>y * p)

cdef inline float squared_hinge_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>squared_hinge_curvature_of(<double>y * p)

cdef inline float squared_hinge_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return squared_hinge_slope(params, p, y) * squared_hinge_slope(params, p, y)

cdef inline float squared_hinge_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * squared_hinge_slope(params, p, y)

cdef inline float squared_hinge_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return squared_hinge_unsafe(params, p, y, u)
    return y * <float>(squared_hinge_rise(<double>y * p, <double>u * k) / k)


# perceptron: max(0, -m). A prediction of 0 is a mistake, as Rosenblatt (1958) has it: all weights may be 0 at first. The step is
# plain: one that went no further than the margin 0 would end there.

cdef inline float perceptron_value(const LossParams* params, float p, float y) noexcept nogil:
    return -y * p if y * p < 0 else 0

cdef inline bint perceptron_needs_update(const LossParams* params, float p, float y) noexcept nogil:
    return y * p <= 0

cdef inline float perceptron_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -y if y * p <= 0 else 0

cdef inline float perceptron_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return perceptron_slope(params, p, y) * perceptron_slope(params, p, y)

cdef inline float perceptron_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * perceptron_slope(params, p, y)

cdef inline float perceptron_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    return perceptron_unsafe(params, p, y, u)


# tanh: 1 - tanh(m). The loss is bounded: its gradient vanishes for examples far on the wrong side

cdef inline double tanh_value_of(double m) noexcept nogil:
    return 1 - tanh(m)

cdef inline double tanh_neg_gradient(double m) noexcept nogil:
    return 0 if fabs(m) > 350 else 1 / (cosh(m) * cosh(m))

cdef inline double tanh_curvature_of(double m) noexcept nogil:
    return 2 * tanh(m) * tanh_neg_gradient(m)

cdef inline double tanh_rise(double m, double t) noexcept nogil:
    """The flow increases m / 2 + sinh(2 m) / 4 by t."""
    cdef double plain = t * tanh_neg_gradient(m), goal, x, step
    cdef int i
    if plain <= SHORT:
        return plain
    goal = m / 2 + sinh(2 * m) / 4 + t
    x = asinh(4 * goal) / 2                  # farther from 0 than the root, to which Newton's method then falls
    for i in range(MAX_ITERATIONS):
        step = (x / 2 + sinh(2 * x) / 4 - goal) / (cosh(x) * cosh(x))
        x -= step
        if fabs(step) <= 1e-15 * (1 + fabs(x)):
            break
    return x - m

cdef inline float tanh_value(const LossParams* params, float p, float y) noexcept nogil:
    return <float>tanh_value_of(<double>y * p)

cdef inline float tanh_slope(const LossParams* params, float p, float y) noexcept nogil:
    return -y * <float>tanh_neg_gradient(<double>y * p)

cdef inline float tanh_curvature(const LossParams* params, float p, float y) noexcept nogil:
    return <float>tanh_curvature_of(<double>y * p)

cdef inline float tanh_square_grad(const LossParams* params, float p, float y) noexcept nogil:
    return tanh_slope(params, p, y) * tanh_slope(params, p, y)

cdef inline float tanh_unsafe(const LossParams* params, float p, float y, float u) noexcept nogil:
    return -u * tanh_slope(params, p, y)

cdef inline float tanh_update(const LossParams* params, float p, float y, float u, float k) noexcept nogil:
    if k == 0:
        return tanh_unsafe(params, p, y, u)
    return y * <float>(tanh_rise(<double>y * p, <double>u * k) / k)
