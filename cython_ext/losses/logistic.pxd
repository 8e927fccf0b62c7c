"""Logistic loss for a label that is a sign, 1 or -1: ``log(1 + exp(-sign * p))``, its derivatives and updates.

All functions of a sign have the same signature, so that ``losses/losses.pxd`` can average any of them over both signs for
labels in between. Only the updates use ``u`` (scale) and ``k`` (change of the prediction per unit of update).
``losses/logistic_simd.h`` computes them for many classes at once, with the same results.

Solvers, which calculate in double precision, use ``softplus`` and ``sigmoid``.
"""

from libc.math cimport exp, fabs, fabsf, isfinite, log1p, log1pf

from base.float32 cimport MILLIONTH, ONE, TWO_TO_24, finite_product
from losses.lambertw cimport expf, fast_log, lambert_excess

cdef inline double softplus(double x) noexcept nogil:
    """log(1 + exp(x)), finite wherever x is."""
    return log1p(exp(-fabs(x))) + (x if x > 0 else 0)


cdef inline double sigmoid(double x) noexcept nogil:
    """1 / (1 + exp(-x)), the derivative of ``softplus``."""
    return 1 / (1 + exp(-x))


ctypedef float (*SignedLogisticFn)(float p, float sign, float u, float k) noexcept nogil


cdef inline float signed_value(float p, float sign, float u, float k) noexcept nogil:
    cdef float odds = expf(-sign * p)
    return <float>fast_log(ONE + odds) if isfinite(odds) else fabsf(p)


cdef inline float signed_unsafe(float p, float sign, float u, float k) noexcept nogil:
    return sign * u / (ONE + expf(sign * p))


cdef inline float signed_update(float p, float sign, float u, float k) noexcept nogil:
    cdef float odds = expf(sign * p)
    cdef float move = finite_product(u, k)
    if move < MILLIONTH:
        return sign * u / (ONE + odds)
    if odds >= TWO_TO_24:  # the loss is 0 in float32, and odds + move would round to odds
        return sign * log1pf(move / odds) / k
    return -(sign * lambert_excess(move + sign * p + odds) + p) / k


cdef inline float signed_slope(float p, float sign, float u, float k) noexcept nogil:
    return -sign / (ONE + expf(sign * p))


cdef inline float signed_curvature(float p, float sign, float u, float k) noexcept nogil:
    cdef float error_prob = ONE / (ONE + expf(sign * p))
    return error_prob * (ONE - error_prob)
