"""The Lambert W function as importance-aware logistic updates need it."""

from libc.math cimport exp, log


cdef inline float lambert_excess(double x) noexcept nogil:
    """``W(exp(x)) - x`` by one Fritsch-Shafer-Crowley step (CACM Algorithm 443), in double.

    The linear and exponential first guesses are Vowpal Wabbit's.
    """
    cdef double w = 0.86 * x + 0.01 if x >= 1 else exp(0.8 * x - 0.65)
    cdef double r = x - log(w) - w if x >= 1 else 0.2 * x + 0.65 - w
    cdef double t = 1 + w
    cdef double v = 2 * t * (t + 2 * r / 3)
    return <float>(w * (1 + r / t * (v - r) / (v - 2 * r)) - x)
