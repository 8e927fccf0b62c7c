"""The codes of losses, and the functions of a loss by its code: those of ``losses/loss_functions.pyx``, compiled once for all kernels."""

from base.capsules cimport find_capsule
from losses.loss_types cimport Loss

cdef enum:
    LOSS_SQUARED = 0
    LOSS_CLASSIC = 1
    LOSS_HINGE = 2
    LOSS_LOGISTIC = 3
    LOSS_QUANTILE = 4
    LOSS_EXPECTILE = 5
    LOSS_POISSON = 6
    LOSS_ABSOLUTE = 7
    LOSS_TRUNCATED = 8
    LOSS_GEMAN_MCCLURE = 9
    LOSS_EXPONENTIAL = 10
    LOSS_MODIFIED_HUBER = 11
    LOSS_TANH = 12
    LOSS_LP = 13
    LOSS_SQUARED_HINGE = 14
    LOSS_TUBE = 15
    LOSS_PERCEPTRON = 16

# 0, or -1 for an unknown code.
ctypedef int (*FindLoss)(int code, Loss *out) noexcept nogil

cdef extern from *:
    """
    static inline void **vwl_loss_finder(void) {
        static void *found = 0;
        return &found;
    }
    """
    void **kept_finder "vwl_loss_finder"()


cdef inline int get_loss(int code, Loss *out) except -2:
    """Fill ``out`` with the functions of the loss ``code``; returns 0, or -1 for an unknown code."""
    return (<FindLoss *>find_capsule(kept_finder(), b"vwlite._native.loss_functions",
                                     b"vwlite._native.loss_functions.FIND_LOSS"))[0](code, out)
