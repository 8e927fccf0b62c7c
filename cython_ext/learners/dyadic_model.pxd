"""What the kernel of dyadic models knows of its model."""

from features.row_buffer cimport Group, Scratch
from learners.dyadic_moves cimport decayed_rate
from learners.frozen_terms cimport Groups, find_group
from learners.latent_vectors cimport Latent
from learners.query_choice cimport Asking
from losses.loss_types cimport Loss, LossParams


cdef enum:                 # positions in Dyadic.scalars, named in vwlite/learners/dyadic.py
    TIME = 0               # sum of importance of the examples learned
    MIN_LABEL = 1
    MAX_LABEL = 2
    RATE_NOW = 3           # learning rate, decayed by the passes so far
    UNBOUNDED = 4          # number of updates that hit an iteration limit
    MISMATCHED = 5         # number of rows whose sides cannot be paired by position (rank 0)
    LATER = 6              # 0 in the first pass
    PASSES = 7             # learned in this run, where rates are adaptive
    LABEL_WEIGHT = 8       # where they are, of the labels of the first pass: weight, mean, weighted squares of what they differ from it
    LABEL_MEAN = 9
    LABEL_SQUARES = 10
    LINEAR_SQUARES = 11    # sum of h (x / N)^2 of all linear terms, see learners/dyadic_rates.pxd
    SCALARS = 12
    MAX_PAIRS = 16


cdef struct Learner:
    float *table             # (2^bits,) the linear weights
    double *scalars          # (SCALARS,)
    Loss loss
    LossParams params
    int loss_code
    int link
    Asking asking
    double flip_rate         # the learning rate at which the importance to flip a prediction is found
    bint aims                # importances are found that carry predictions to ``target``
    double target
    float low_label, high_label  # those of unlabelled rows whose target is below the prediction, and above it
    double decay             # L2 on latent vectors where it is the same for all; else 0, and ``separate``
    double offset            # added to every element of both vectors
    double offset_square     # subtracted from each dot product
    double power_t, initial_t
    double first_pass_t      # 0: the rate is constant within the first pass, too
    bint adaptive            # parameters have rates of their own, see learners/dyadic_rates.pxd
    float *rates             # (2^bits, 2) of linear weights the sums of squared gradients and the greatest values so far
    bint has_unit            # labels have a unit, their standard deviation; else it is 1
    double slope_power       # the power of the unit that the slope of the loss grows with
    double pass_decay        # of what is updated n times a pass, times n, from the second pass on
    double scale             # of start values, in units of the labels
    bint positional          # rank 0: feature i of one side is paired with feature i of the other
    bint frozen              # nothing is learned of the range of labels
    bint vw_compat
    bint separate            # decay is a step of its own, see learners/dyadic_decay.pxd
    double decay_power       # the decay of what was updated n times is multiplied by (1 + n)^-decay_power
    double linear_decay      # L2 on linear weights of the pairs' namespaces
    bint decays_weights      # L2 on the vectors themselves, not on what the offset makes of them
    bint fixed_linear        # linear weights are not updated
    bint fixed_constant
    Groups fixed             # nor those of these namespaces
    Groups dropped           # namespaces without linear terms
    size_t pairs
    int group[MAX_PAIRS][2]  # group numbers of both sides
    Latent latent[MAX_PAIRS][2]


cdef inline const Group *group_of(const Learner *m, size_t pair, int side, const Scratch *s) noexcept nogil:
    return find_group(m.group[pair][side], s)


cdef inline double step_rate(const Learner *m) noexcept nogil:
    """The current learning rate."""
    cdef double t1 = m.first_pass_t if m.scalars[LATER] == 0 else 0
    return decayed_rate(m.scalars[RATE_NOW], m.scalars[TIME], t1, m.power_t, m.initial_t)
