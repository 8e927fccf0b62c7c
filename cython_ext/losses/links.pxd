"""Link functions: they map a clipped prediction to the scale on which it is reported. Losses and updates are computed before the
link is applied.
"""

from libc.math cimport expf

from base.float32 cimport ONE, TWO

cdef enum:
    LINK_IDENTITY = 0
    LINK_LOGISTIC = 1
    LINK_GLF1 = 2
    LINK_POISSON = 3
    LINK_COUNT = 4


cdef inline float apply_link(int link, float p) noexcept nogil:
    """The prediction ``p`` mapped by the link function; the identity for an unknown code."""
    if link == LINK_LOGISTIC:
        return ONE / (ONE + expf(-p))
    if link == LINK_GLF1:
        return TWO / (ONE + expf(-p)) - ONE
    if link == LINK_POISSON:
        return expf(p)
    return p
