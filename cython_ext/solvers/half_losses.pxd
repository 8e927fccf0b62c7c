"""The losses of ``solvers/crr.pyx`` and ``solvers/query_steps.pyx`` in double precision, of examples and of pairs."""

from libc.math cimport INFINITY, fabs

from losses.logistic cimport sigmoid, softplus
from losses.margin_losses cimport huber_neg_gradient, huber_value_of

cdef enum:                 # codes of losses/losses.pxd
    SQUARED = 0
    HINGE = 2
    LOGISTIC = 3
    ABSOLUTE = 7
    MODIFIED_HUBER = 11


cdef inline double loss_of(int loss, double p, double y) noexcept nogil:
    """Half the squared error; the absolute error; hinge loss or modified Huber loss, y a sign; logistic loss, y a probability."""
    if loss == SQUARED:
        return (y - p) * (y - p) / 2
    if loss == HINGE:
        return 1 - y * p if y * p < 1 else 0
    if loss == ABSOLUTE:
        return fabs(y - p)
    return huber_value_of(y * p) if loss == MODIFIED_HUBER else softplus(p) - y * p


cdef inline double neg_gradient(int loss, double p, double y) noexcept nogil:
    """Minus the derivative of the loss by the prediction."""
    if loss == SQUARED:
        return y - p
    if loss == HINGE:
        return y if y * p < 1 else 0
    if loss == ABSOLUTE:
        return 1 if y > p else -1 if y < p else 0
    return y * huber_neg_gradient(y * p) if loss == MODIFIED_HUBER else y - sigmoid(p)


cdef inline double longest_step(int loss, double p, double y) noexcept nogil:
    """The step size, times the squared length of the example, that brings the prediction to where the loss is least: a longer
    one could diverge, or swing about the label. Where it ends the steps of absolute error are proximal ones.
    """
    if loss == SQUARED:
        return 1
    if loss == ABSOLUTE:
        return fabs(y - p)
    if loss == MODIFIED_HUBER and y * p < 1:
        return (1 - y * p) / huber_neg_gradient(y * p)
    return INFINITY


cdef inline double target_of(int loss, double low, double high, double label) noexcept nogil:
    """The label in the terms of the loss: a sign, or a probability for logistic, where ``low`` and ``high`` are those of 0 and 1."""
    if loss == HINGE or loss == MODIFIED_HUBER:
        return 1 if label > 0 else -1
    return (label - low) / (high - low) if loss == LOGISTIC else label


cdef inline double target_of_pair(int loss, double low, double high, double a, double b) noexcept nogil:
    """t(a - b) of two labels; where ``high`` is ``low``, labels are no probabilities, and logistic loss takes their order."""
    if loss == SQUARED or loss == ABSOLUTE:
        return a - b
    if loss != LOGISTIC:
        return 1 if a > b else -1
    if high == low:
        return 1 if a > b else 0
    return (1 + target_of(LOGISTIC, low, high, a) - target_of(LOGISTIC, low, high, b)) / 2
