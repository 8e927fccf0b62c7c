"""A loss as kernels use it: a struct of functions and a struct of their parameters. And link functions: they map a clipped prediction
to the scale on which it is reported. Losses and updates are computed before the link is applied.
"""

from libc.math cimport expf

from base.float32 cimport ONE, TWO


ctypedef struct LossParams:  # fields of float alone, which Python fills as an array
    float tau           # quantile: weight of a prediction below the label, in [0, 1]
    float expectile     # expectile: weight of a prediction above the label, in (0, 0.5]
    float logistic_min  # logistic: label that means "certainly negative"
    float logistic_max  # logistic: label that means "certainly positive"
    float min_label     # smallest label so far; the learner updates it before each example
    float max_label     # largest label so far
    float scale         # robust losses, lp below the power 1: scale of the residual, above 0
    float power         # lp: exponent of the residual, above 0
    float tube          # tube: residual that costs nothing
    float mixed         # logistic: 1 where an update for a label between both is the mean of both updates, as in Vowpal Wabbit

ctypedef float (*LossFn)(const LossParams*, float p, float y) noexcept nogil
ctypedef bint (*NeedsUpdateFn)(const LossParams*, float p, float y) noexcept nogil
ctypedef float (*UpdateFn)(const LossParams*, float p, float y, float u, float k) noexcept nogil
ctypedef float (*UnsafeFn)(const LossParams*, float p, float y, float u) noexcept nogil

# p: clipped prediction. y: label. u: scale, the learning rate times the importance. k: change of the prediction per unit of
# update: an update d moves the prediction by d * k.
ctypedef struct Loss:
    LossFn value           # loss of predicting p when the label is y
    UpdateFn update        # importance-aware update: the limit of many small gradient steps whose scales sum to u
    UnsafeFn unsafe_update # plain gradient step, -u times the slope; may overshoot
    LossFn square_grad     # square of the gradient, as adaptive learning rates accumulate it
    LossFn slope           # first derivative in p
    LossFn curvature       # second derivative in p
    NeedsUpdateFn needs_update      # whether there is a step: the value is above 0, or has a kink at 0; NULL where the value tells


cdef inline bint needs_update(const Loss *loss, const LossParams *params, float p, float y) noexcept nogil:
    """Whether an example is learned: where the loss is above 0; for the perceptron also where the prediction is 0."""
    return loss.value(params, p, y) > 0 if loss.needs_update == NULL else loss.needs_update(params, p, y)


cdef inline bint value_needs_update(const Loss *loss, const LossParams *params, float value, float p, float y) noexcept nogil:
    """``needs_update`` where the value of the loss is known."""
    return value > 0 or (loss.needs_update != NULL and loss.needs_update(params, p, y))


cdef inline int read_params(const float[::1] values, LossParams* out) except -1:
    """Fill the struct with its fields in order, as ``LossConfig.params`` has them. Raises ValueError for another number."""
    cdef size_t fields = sizeof(LossParams) // sizeof(float)
    if <size_t>values.shape[0] != fields:
        raise ValueError(f"expected {fields} loss parameters, got {values.shape[0]}")
    out[0] = (<const LossParams*>&values[0])[0]
    return 0


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
