"""Logistic loss for a label that is a sign, 1 or -1: ``log(1 + exp(-sign * p))``, its derivatives and updates.

All functions of a sign have the same signature, so that ``losses/losses.pxd`` can average any of them over both signs for
labels in between. Only the updates use ``u`` (scale) and ``k`` (change of the prediction per unit of update).
``losses/logistic_simd.h`` computes them for many classes at once, with the same results.

Solvers, which calculate in double precision, use ``softplus`` and ``sigmoid``.

Exponentials and the Lambert W function, as importance-aware updates need it, are those of ``losses/exponentials.h``.
"""

from libc.math cimport exp, expm1, fabs, fabsf, fminf, isfinite, log, log1p, log1pf

from base.float32 cimport MILLIONTH, ONE, TWO_TO_24

cdef extern from "losses/exponentials.h" nogil:
    const float LONGEST_MOVE "VWL_LONGEST_MOVE"
    float expf "vwl_expf"(float x) noexcept
    double fast_log "vwl_log"(double x) noexcept  # x >= 11/16 only
    float lambert_excess "vwl_lambert_excess"(double x) noexcept  # W(exp(x)) - x


cdef enum:
    MAX_NEWTON = 100  # iterations


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
    cdef float move = fminf(u * k, LONGEST_MOVE)
    if move < MILLIONTH:
        return sign * u / (ONE + odds)
    if odds >= TWO_TO_24:  # the loss is 0 in float32, and odds + move would round to odds
        return sign * log1pf(move / odds) / k
    return -(sign * lambert_excess(move + sign * p + odds) + p) / k


cdef inline float shared_update(float p, double share, float u, float k) noexcept nogil:
    """The update for a label that is 1 with the probability ``share``, strictly between 0 and 1.

    d, how far p is above the minimum log(share / (1 - share)), follows d' = -share (1 - share) (e^d - 1) / (1 - share + share e^d),
    along which -share d - log(1 - e^-d) grows by share (1 - share) in a unit of time; below the minimum signs are exchanged. The
    mean of both signs' updates, which Vowpal Wabbit takes, would pass the minimum.
    """
    cdef double d = p - (log(share) - log1p(-share)), side = 1 if d > 0 else -1, slope = fabs(sigmoid(p) - share)
    cdef double time = <double>u * k, goal, left, step
    cdef int i
    d = fabs(d)
    if slope * time <= 1e-6 * d:
        return <float>(-side * slope * u)
    if side < 0:
        share = 1 - share
    goal = share * (1 - share) * time - share * d - log(-expm1(-d))
    left = softplus(-goal)                   # not above the root, from where Newton's method rises to it
    for i in range(MAX_NEWTON if goal < 700 else 0):
        step = (-share * left - log(-expm1(-left)) - goal) / (share + 1 / expm1(left))
        left += step
        if step <= 1e-15 * left:
            break
    return <float>(-side * (d - left) / k)


cdef inline float signed_slope(float p, float sign, float u, float k) noexcept nogil:
    return -sign / (ONE + expf(sign * p))


cdef inline float signed_curvature(float p, float sign, float u, float k) noexcept nogil:
    cdef float error_prob = ONE / (ONE + expf(sign * p))
    return error_prob * (ONE - error_prob)
