"""What the steps of combined regression and ranking need: the weights that they change, and sums beside them; losses of an example
and of a pair; the L1 penalty; and the terms of rows.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, sqrt
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from base.byte_scan cimport prefetch
from losses.logistic cimport sigmoid, softplus
from losses.margin_losses cimport huber_neg_gradient, huber_value_of
from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from solvers.pair_draws cimport DrawnRow, PairIndex, draw_pair, draw_row, uniform

cdef enum:                 # indices into the state, in the order of STATE of ``solvers/crr.pyx``
    SCALE = 0              # factor of the weights on the table
    SQUARE = 1             # squared norm of the table
    EXAMPLES = 2           # number of steps on examples so far
    EXAMPLE_LOSS = 3       # sum of their losses, each before its step
    PAIRS = 4              # the same for steps on pairs, or on the pairs of a query
    PAIR_LOSS = 5
    SCALE_SUM = 6          # sum of the scales after the steps that are averaged
    AVERAGED = 7           # number of these steps
    TOTAL_PENALTY = 8      # L1 penalty that an entry of the table could have received, see ``settle_entry``
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
    int loss               # of examples: a code as of ``loss_of``
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


cdef inline void settle_entry(float *entry, double *received, double total) noexcept nogil:
    """The cumulative L1 penalty (Tsuruoka, Tsujii, Ananiadou, ACL 2009) on a float32 table of which weights are a multiple.

    ``total`` is what a table entry could have received so far, ``received`` what it did, with its sign, both in units of the
    table: a penalty c on the weight is one of c / scale on the entry, so that both commute with the L2 shrinkage of the scale. An
    entry is settled before it is read.
    """
    cdef double before = entry[0]
    if before > 0:
        entry[0] = <float>fmax(0, fmin(before, before - (total + received[0])))
    elif before < 0:
        entry[0] = <float>fmin(0, fmax(before, before + (total - received[0])))
    received[0] += entry[0] - before


cdef inline void settle_terms(float *table, double *received, double total, const Scratch *s) noexcept nogil:
    cdef size_t i
    for i in range(s.terms):
        settle_entry(table + s.index[i], received + s.index[i], total)


cdef inline void prefetch_received(const double *received, const Scratch *s) noexcept nogil:
    cdef size_t i
    for i in range(s.terms):
        prefetch(<const float *>(received + s.index[i]))


cdef enum:
    ADDRESSES = 10         # columns of the address table
    LINE = 16              # features in a cache line


cdef struct Data:
    const uint64_t *address   # (batches, ADDRESSES) addresses of the arrays of each batch
    PairIndex pair_index
    Plan plan


cdef struct DrawnStep:            # what a step was drawn to take
    bint pair                 # a pair of rows, not one row
    size_t position[2]        # among the rows of the index


cdef inline int read_terms(
    const Data *data, size_t position, Scratch *s, double *initial, double *label
) noexcept nogil:
    """Read terms, initial prediction and label of the row at a position of the index."""
    cdef const uint64_t *at = data.address + ADDRESSES * <size_t>data.pair_index.batch[position]
    cdef size_t row = data.pair_index.row[position]
    cdef Rows rows
    rows.label, rows.importance = <const float *>at[0], <const float *>at[1]
    rows.initial_prediction = <const float *>at[2]
    rows.flags, rows.row_namespace = <const uint8_t *>at[3], <const uint32_t *>at[4]
    rows.namespace_char, rows.namespace_hash = <const uint8_t *>at[5], <const uint32_t *>at[6]
    rows.namespace_start, rows.hash, rows.value = <const uint32_t *>at[7], <const uint32_t *>at[8], <const float *>at[9]
    rows.size = row + 1
    initial[0], label[0] = rows.initial_prediction[row], rows.label[row]
    return expand(&rows, row, &data.plan, s)


cdef inline void draw_step(
    const Data *data, uint64_t seed, double alpha, uint64_t i, DrawnStep *drawn
) noexcept nogil:
    """Draw the rows of step i, which is counted from 1: with probability ``alpha`` one row, else a pair."""
    cdef DrawnRow a, b
    cdef int k
    drawn.pair = uniform(seed, i, 0) >= alpha
    if drawn.pair:
        draw_pair(&data.pair_index, seed, i, &a, &b)
        drawn.position[0], drawn.position[1] = a.position, b.position
    else:
        drawn.position[0] = draw_row(&data.pair_index, 0, data.pair_index.rows, uniform(seed, i, 1))
    for k in range(1 + drawn.pair):
        prefetch(<const float *>(data.pair_index.batch + drawn.position[k]))
        prefetch(<const float *>(data.pair_index.row + drawn.position[k]))


cdef inline void prefetch_row_data(const Data *data, const DrawnStep *drawn, int stage) noexcept nogil:
    """Prefetch the rows of a later step, which are scattered in memory, in three stages: each reads the offsets that the one
    before it prefetched.
    """
    cdef const uint64_t *at
    cdef const uint32_t *row_namespace
    cdef const uint32_t *namespace_start
    cdef size_t row, first, last, line
    cdef int k
    for k in range(1 + drawn.pair):
        at = data.address + ADDRESSES * <size_t>data.pair_index.batch[drawn.position[k]]
        row = data.pair_index.row[drawn.position[k]]
        row_namespace, namespace_start = <const uint32_t *>at[4], <const uint32_t *>at[7]
        if stage == 0:
            prefetch(<const float *>at[0] + row)
            prefetch(<const float *>at[2] + row)
            prefetch(row_namespace + row)
        elif stage == 1:
            prefetch(<const uint8_t *>at[5] + row_namespace[row])
            prefetch(namespace_start + row_namespace[row])
        else:
            first, last = namespace_start[row_namespace[row]], namespace_start[row_namespace[row + 1]]
            for line in range(min((last - first + LINE - 1) // LINE, <size_t>8)):
                prefetch(<const uint32_t *>at[8] + first + LINE * line)
                prefetch(<const float *>at[9] + first + LINE * line)
