"""What the steps of combined regression and ranking change: the weights, and sums beside them."""

from libc.math cimport sqrt
from libc.stdint cimport uint64_t

cdef enum:                 # indices into the state, in the order of STATE of ``solvers/crr.pyx``
    SCALE = 0              # factor of the weights on the table
    SQUARE = 1             # squared norm of the table
    EXAMPLES = 2           # number of steps on examples so far
    EXAMPLE_LOSS = 3       # sum of their losses, each before its step
    PAIRS = 4              # the same for steps on pairs, or on the pairs of a query
    PAIR_LOSS = 5
    SCALE_SUM = 6          # sum of the scales after the steps that are averaged
    AVERAGED = 7           # number of these steps
    TOTAL_PENALTY = 8      # L1 penalty that an entry of the table could have received, see ``solvers/crr_penalty.pxd``
    STATES = 9

cdef enum:                 # learning rate of step i
    INVERSE = 0            # 1 / (lambda i)
    INVERSE_ROOT = 1       # rate / sqrt(i)
    CONSTANT_RATE = 2
    ADAPTIVE = 3           # rate / root of a weight's sum of squared gradients: steps on queries only


cdef struct Model:
    float *table           # (slots,)
    size_t slots
    double *state          # (STATES,)
    double *sums           # (slots,) of each change of the table, times SCALE_SUM before it; NULL: no mean is taken
    uint64_t after         # steps before the mean
    double *received       # (slots,) of the L1 penalty; NULL: there is none
    double l1              # the penalty C
    int loss               # of examples: a code of ``solvers/half_losses.pxd``
    int pair_loss          # of pairs
    double low, high       # labels of probability 0 and 1; equal where labels are no probabilities
    int schedule           # INVERSE, INVERSE_ROOT, CONSTANT_RATE or ADAPTIVE
    double rate            # initial learning rate
    double penalty         # lambda
    double alpha           # probability that a step takes an example
    bint project           # whether weights are projected onto the ball of radius 1 / sqrt(lambda)
    uint64_t seed


cdef inline double rate_of(const Model *m, uint64_t i) noexcept nogil:
    if m.schedule == INVERSE:
        return 1 / (m.penalty * <double>i)
    return m.rate / sqrt(<double>i) if m.schedule == INVERSE_ROOT else m.rate


cdef inline void count(Model *m, bint pair, double loss) noexcept nogil:
    m.state[PAIRS if pair else EXAMPLES] += 1
    m.state[PAIR_LOSS if pair else EXAMPLE_LOSS] += loss


cdef inline double *doubles_of(source, size_t size) except? NULL:
    """The array float64[size]; NULL for None. Raises ValueError where it has another size."""
    cdef double[::1] values
    if source is None:
        return NULL
    values = source
    if <size_t>values.shape[0] != size:
        raise ValueError("arrays beside the table do not fit it")
    return &values[0]


cdef inline int open_model(source, Model *m) except -1:
    """A view of a ``vwlite.solvers.crr.weights.Weights``, whose arrays must outlive it."""
    cdef float[:, ::1] table = source.table
    if table.shape[1] != 1:
        raise ValueError("the table has more than a weight for each slot")
    m.table, m.slots, m.state = &table[0, 0], table.shape[0], doubles_of(source.state, STATES)
    m.sums, m.received = doubles_of(source.sums, m.slots), doubles_of(source.received, m.slots)
    m.after = source.average_after if m.sums != NULL else 0
    m.l1, m.penalty, m.project = source.l1, source.penalty, source.project
    m.loss, m.pair_loss, m.low, m.high = source.loss_code, source.pair_loss_code, source.low, source.high
    m.schedule, m.rate, m.alpha, m.seed = source.schedule, source.rate, source.alpha, source.seed
    return 0
