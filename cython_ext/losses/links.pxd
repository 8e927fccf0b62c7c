"""Link functions: the scale a clipped prediction is shown on. Loss and learning never see them."""

from libc.math cimport expf

from base.float32 cimport ONE, TWO

cdef enum:
    LINK_IDENTITY = 0
    LINK_LOGISTIC = 1
    LINK_GLF1 = 2
    LINK_POISSON = 3
    LINK_COUNT = 4


cdef inline float apply_link(int link, float p) noexcept nogil:
    """The prediction ``p`` on the link's scale; an unknown code acts as the identity."""
    if link == LINK_LOGISTIC:
        return ONE / (ONE + expf(-p))
    if link == LINK_GLF1:
        return TWO / (ONE + expf(-p)) - ONE
    if link == LINK_POISSON:
        return expf(p)
    return p
