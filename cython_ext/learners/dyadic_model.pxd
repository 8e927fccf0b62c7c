"""What the kernel of dyadic models knows of its model, scratch memory for the update of one row, and what updates of all models with
dot products share: the sides of a row's products, and the moves of their latent vectors.
"""

from libc.math cimport exp, expm1, isfinite, pow, sqrt
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from losses.loss_types cimport Loss, LossParams
from features.row_buffer cimport Group, Scratch, close_scratch, open_scratch
from learners.dyadic_flow cimport Component, safe_exp
from learners.frozen_terms cimport Groups, find_group
from learners.latent_vectors cimport Latent, Side, merge_slots
from learners.query_choice cimport Asking


cdef struct DyadicScratch:
    Scratch row                   # the expanded row
    uint32_t *index               # (capacity,) slots of all sides, concatenated
    float *value                  # (capacity,) their values
    double *vector                # (capacity, rank) sums of the sides' latent vectors
    Side *side                    # (capacity, 2)
    Component *component          # (capacity,)
    size_t capacity
    size_t components             # number of components of the row
    bint repeats                  # rank 0: a slot is repeated on a side, so the components are not independent


cdef inline void open_work(DyadicScratch *work) noexcept nogil:
    open_scratch(&work.row)
    work.capacity = work.components = 0
    work.index = NULL
    work.value = NULL
    work.vector = NULL
    work.side = NULL
    work.component = NULL


cdef inline void drop_arrays(DyadicScratch *work) noexcept nogil:
    free(work.index)
    free(work.value)
    free(work.vector)
    free(work.side)
    free(work.component)


cdef inline void close_work(DyadicScratch *work) noexcept nogil:
    close_scratch(&work.row)
    drop_arrays(work)


cdef inline bint reserve(DyadicScratch *work, size_t capacity, size_t rank) noexcept nogil:
    """Grow the arrays to ``capacity``; their contents are lost. False when memory has run out."""
    if capacity <= work.capacity:
        return True
    drop_arrays(work)
    work.index = <uint32_t *>malloc(capacity * sizeof(uint32_t))
    work.value = <float *>malloc(capacity * sizeof(float))
    work.vector = <double *>malloc(capacity * rank * sizeof(double))
    work.side = <Side *>malloc(2 * capacity * sizeof(Side))
    work.component = <Component *>malloc(capacity * sizeof(Component))
    work.capacity = capacity
    return (work.index != NULL and work.value != NULL and work.vector != NULL and work.side != NULL
            and work.component != NULL)


cdef inline void add_side(DyadicScratch *work, const Latent *latent, int which, const uint32_t *index, const float *value,
                          size_t size, size_t *used, uint32_t mask) noexcept nogil:
    """Add one side of the component being built, without its vector; its features are copied, and those that share a slot are
    merged.
    """
    cdef size_t i
    cdef Side *side = &work.side[2 * work.components + which]
    side.latent = latent
    side.index, side.value = work.index + used[0], work.value + used[0]
    for i in range(size):
        side.index[i] = index[i] & mask
        side.value[i] = value[i]
    side.size = merge_slots(side.index, side.value, size)
    side.vector = work.vector + (2 * work.components + which) * latent.rank
    used[0] += side.size
    side.square = 0
    for i in range(side.size):
        side.square += <double>side.value[i] * side.value[i]


cdef inline bint can_move(const Side *a, const Side *b) noexcept nogil:
    """False where a side is all zeros: such a dot product never changes and contributes a constant."""
    return a.square > 0 and b.square > 0 and isfinite(a.square * b.square)


cdef inline Component component_of(const double *a, const double *b, double a_square, double b_square, size_t rank) noexcept nogil:
    """The component of two vectors, float64[rank], and the squared values of their sides."""
    cdef Component c
    cdef double root, sum, difference
    cdef size_t d
    c.omega = sqrt(a_square) * sqrt(b_square)
    c.kappa = sqrt(a_square / b_square)
    root = sqrt(c.kappa)
    c.plus = c.minus = c.square = 0
    for d in range(rank):
        sum = a[d] / root + b[d] * root
        difference = a[d] / root - b[d] * root
        c.plus += sum * sum
        c.minus += difference * difference
    return c


cdef inline double decayed_rate(double rate, double time, double first_pass_t, double power_t, double initial_t) noexcept nogil:
    """The current learning rate: decayed by passes and, unless power_t is 0, by ``(t0 / (t0 + t))^power_t`` within them.

    With power_t 0 it is multiplied by ``sqrt(t1 / (t1 + t))`` where t1, ``first_pass_t``, is above 0.
    """
    if power_t == 0:
        return rate * (sqrt(first_pass_t / (first_pass_t + time)) if first_pass_t > 0 else 1)
    return rate * pow(initial_t / (initial_t + time), power_t)


cdef inline double growth(double exponent, double fade) noexcept nogil:
    """e^-fade (e^way - 1), without overflow in between."""
    return exp(-fade) * expm1(exponent) if exponent < 1 else safe_exp(exponent - fade) - exp(-fade)


cdef inline void vector_changes(const Component *component, double s, double fade, double a_square, double b_square,
                                size_t rank, double *a, double *b) noexcept nogil:
    """Replace two vectors by their changes along the flow up to ``s``, for a value of 1, before they decay by e^-fade."""
    cdef double exponent = component.omega * s, root = sqrt(component.kappa), sum, difference
    cdef double grow = 0.5 * growth(exponent, fade), fall = 0.5 * growth(-exponent, fade)
    cdef size_t d
    for d in range(rank):                            # the terms of plus shrink by e^-exponent, those of minus grow
        sum = (a[d] / root + b[d] * root) * fall
        difference = (a[d] / root - b[d] * root) * grow
        a[d] = root / a_square * (sum + difference)
        b[d] = (sum - difference) / (b_square * root)


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
    bint separate            # decay is a step of its own, see learners/dyadic_components.pxd
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
