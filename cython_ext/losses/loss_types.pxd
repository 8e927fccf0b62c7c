"""What a loss is to the kernels."""


cdef enum:
    LOSS_PARAMS = 8  # floats in a LossParams

ctypedef struct LossParams:
    float tau           # quantile: weight of a prediction below the label, in [0, 1]
    float expectile     # expectile: weight of a prediction above the label, in (0, 0.5]
    float logistic_min  # logistic: label that means "certainly negative"
    float logistic_max  # logistic: label that means "certainly positive"
    float min_label     # smallest label so far; the learner moves it before each example
    float max_label     # largest label so far
    float scale         # of the residuals that bounded losses forgive, above 0
    float power         # of the residual in the lp loss, above 1

ctypedef float (*LossFn)(const LossParams*, float p, float y) noexcept nogil
ctypedef bint (*LosesFn)(const LossParams*, float p, float y) noexcept nogil
ctypedef float (*UpdateFn)(const LossParams*, float p, float y, float u, float k) noexcept nogil
ctypedef float (*UnsafeFn)(const LossParams*, float p, float y, float u) noexcept nogil

# p: clipped prediction. y: label. u: scale, learning rate times importance. k: prediction per
# update, that is, an update d moves the prediction by d * k.
ctypedef struct Loss:
    LossFn value           # loss of predicting p when the label is y
    UpdateFn update        # importance-aware update: the limit of many small steps of total scale u
    UnsafeFn unsafe_update # plain gradient step, -u times the slope; may overshoot
    LossFn square_grad     # square of the gradient, as adaptive learning rates accumulate it
    LossFn slope           # first derivative in p
    LossFn curvature       # second derivative in p
    LosesFn loses          # whether the value is above 0, where that is found sooner than the value; else NULL


cdef inline bint has_loss(const Loss *loss, const LossParams *params, float p, float y) noexcept nogil:
    """Whether ``value`` is above 0."""
    return loss.value(params, p, y) > 0 if loss.loses == NULL else loss.loses(params, p, y)


cdef inline LossParams read_params(const float* values) noexcept nogil:
    """The struct from its fields in order, ``float32[LOSS_PARAMS]``."""
    return LossParams(values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7])
