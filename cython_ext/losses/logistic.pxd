"""Logistic loss of one sign, 1 or -1: ``log(1 + exp(-sign * p))``, its derivatives and updates.

All functions share one signature so that ``losses/losses.pxd`` can mix any of them for labels between
the signs; ``u`` (scale) and ``k`` (prediction per update) matter to the updates only.
"""

from libc.math cimport fabsf, isfinite, log1pf

from base.float32 cimport MILLIONTH, ONE, TWO_TO_24, finite_product
from losses.lambertw cimport expf, lambert_excess, log_above

ctypedef float (*LogisticSide)(float p, float sign, float u, float k) noexcept nogil


cdef inline float side_value(float p, float sign, float u, float k) noexcept nogil:
    cdef float odds = expf(-sign * p)
    return <float>log_above(ONE + odds) if isfinite(odds) else fabsf(p)


cdef inline float side_unsafe(float p, float sign, float u, float k) noexcept nogil:
    return sign * u / (ONE + expf(sign * p))


cdef inline float side_update(float p, float sign, float u, float k) noexcept nogil:
    cdef float odds = expf(sign * p)
    cdef float move = finite_product(u, k)
    if move < MILLIONTH:
        return sign * u / (ONE + odds)
    if odds >= TWO_TO_24:  # the loss is 0 in float32 and odds + move would lose the move
        return sign * log1pf(move / odds) / k
    return -(sign * lambert_excess(move + sign * p + odds) + p) / k


cdef inline float side_slope(float p, float sign, float u, float k) noexcept nogil:
    return -sign / (ONE + expf(sign * p))


cdef inline float side_curvature(float p, float sign, float u, float k) noexcept nogil:
    cdef float miss = ONE / (ONE + expf(sign * p))
    return miss * (ONE - miss)
