"""The losses of ``solvers/crr.pyx`` in double precision."""

from losses.logistic cimport sigmoid, softplus

cdef enum:                 # codes of losses/losses.pxd
    SQUARED = 0
    HINGE = 2
    LOGISTIC = 3


cdef inline double loss_of(int loss, double p, double y) noexcept nogil:
    """Half the squared error; or hinge loss, y a sign; or logistic loss, y a probability."""
    if loss == SQUARED:
        return (y - p) * (y - p) / 2
    if loss == HINGE:
        return 1 - y * p if y * p < 1 else 0
    return softplus(p) - y * p


cdef inline double neg_gradient(int loss, double p, double y) noexcept nogil:
    """Minus the derivative of the loss by the prediction."""
    if loss == SQUARED:
        return y - p
    if loss == HINGE:
        return y if y * p < 1 else 0
    return y - sigmoid(p)
