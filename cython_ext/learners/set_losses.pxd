"""What a set of labels costs that is answered where another is meant, of the sizes of both and of what they share; and how much
depends on the decision on one label. The plain formulas are in ``vwlite/learners/class_costs.py``.
"""

from libc.math cimport fabs
from libc.stdint cimport uint32_t

cdef enum:
    HAMMING = 0   # numbered as SET_LOSSES in vwlite/learners/configs/per_class.py
    ZERO_ONE = 1
    F1 = 2
    JACCARD = 3


cdef inline double set_cost(int loss, uint32_t answered, uint32_t meant, uint32_t shared) noexcept nogil:
    cdef uint32_t wrong = answered + meant - 2 * shared
    if loss == HAMMING:
        return wrong
    if wrong == 0 or loss == ZERO_ONE:
        return wrong > 0
    if loss == F1:
        return 1 - 2 * <double>shared / (<double>answered + meant)
    return 1 - <double>shared / (<double>answered + meant - shared)


cdef inline double set_decision_weight(int loss, uint32_t answered, uint32_t meant, uint32_t shared, bint true) noexcept nogil:
    """How far apart the costs of a set without a label and with it are; ``true``: the label is meant."""
    return fabs(set_cost(loss, answered + 1, meant, shared + true) - set_cost(loss, answered, meant, shared))
