"""L1 penalties, or an L2 penalty, of stochastic gradient descent, applied when a weight is next used (Tsuruoka, Tsujii, Ananiadou, ACL 2009).

Each weight has a ``memory``, from which its outstanding penalty is computed. ``cumulative_penalty`` is u_k, the total penalty
that a weight could have received so far. Consecutive penalties without a gradient step in between equal one penalty of their
sum, so they can be applied late.
"""

from libc.math cimport exp, pow, sqrt
from libc.stdint cimport int64_t


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.PENALTIES
    NAIVE = 0
    CLIPPING = 1            # memory: u when the weight was last penalised
    CUMULATIVE = 2          # memory: q, the total penalty received, with its sign
    NONE = 3                # memory: of a mean, the sum of each change times the iterates in the mean before it


cdef enum:                  # behind PENALTIES
    CUMULATIVE_ROWS = 4     # CUMULATIVE, of the lengths of rows; memory: the part of each weight in what its row received
    SQUARES = 5             # L2, in place of an L1 penalty; memory: u when the weight was last penalised


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.RATES
    HARMONIC = 0
    EXPONENTIAL = 1


cdef enum:
    STEPS_PER_POWER = 64               # steps between calls of pow; runs stop and resume at multiples of it


cdef struct Schedule:
    int penalty                # NAIVE, CLIPPING, CUMULATIVE, NONE, CUMULATIVE_ROWS or SQUARES
    int rate                   # HARMONIC or EXPONENTIAL
    double start               # eta_0
    double decay               # alpha of the exponential rate
    double begin               # passes completed before this one
    double examples            # in this pass
    double share               # C / N, of a step; of SQUARES lambda / N
    double cumulative_penalty  # u
    double mean_begins         # update of this pass that the mean of the iterates begins with; infinite: there is no mean
    double power, ratio        # exponential rate: decay^passes at the last step; its factor from a step to the next


cdef inline Schedule open_schedule(source):
    """From a ``vwlite.solvers.loglinear.sgd.Schedule``."""
    cdef Schedule s
    s.penalty, s.rate, s.start, s.decay = source.penalty, source.rate, source.start, source.decay
    s.begin, s.examples, s.share, s.cumulative_penalty = source.begin, source.examples, source.share, source.cumulative_penalty
    s.mean_begins = source.mean_begins
    s.power, s.ratio = 1, pow(s.decay, 1 / s.examples)
    return s


cdef inline double rate_of(Schedule *s, int64_t step) noexcept nogil:
    """The learning rate of update ``step`` of this pass, counted from 0. Must be called for consecutive steps.

    Powers are computed every STEPS_PER_POWER steps and continued by multiplication in between, so that a resumed run gets the
    same rates.
    """
    if s.rate == HARMONIC:
        return s.start / (1 + s.begin + <double>step / s.examples)
    if step & (STEPS_PER_POWER - 1):
        s.power *= s.ratio
    else:
        s.power = pow(s.decay, s.begin + <double>step / s.examples)
    return s.start * s.power


cdef inline double iterates_before(const Schedule *s, int64_t step) noexcept nogil:
    """How many iterates the mean is of before update ``step`` of this pass; 0 where there is no mean."""
    cdef double count = <double>step - s.mean_begins
    return count if count > 0 else 0


cdef extern from "solvers/l1_penalties_simd.h" nogil:
    void settle_cumulative "vwl_settle_cumulative"(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept
    double settle_one "vwl_settle_one"(double *weight, double *memory, double cumulative_penalty) noexcept
    void settle_clipping "vwl_settle_clipping"(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept
    void shrink_all "vwl_shrink_all"(double *weight, size_t n, double step) noexcept


cdef inline void settle_row(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept nogil:
    """Make of a row what the gradient steps alone would have made of it, shortened by all that it could have received."""
    cdef size_t i
    cdef double unpenalised, square = 0, length, share
    for i in range(n):
        unpenalised = weight[i] - memory[i]
        square += unpenalised * unpenalised
    length = sqrt(square)
    share = (length - cumulative_penalty) / length if length > cumulative_penalty else 0
    for i in range(n):
        unpenalised = weight[i] - memory[i]
        weight[i] = unpenalised * share if share > 0 else 0
        memory[i] = weight[i] - unpenalised


cdef inline void settle_squares(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept nogil:
    """The flow of w' = -w over the time since the last penalty: what many small steps come to."""
    cdef size_t i
    cdef double due, before = 0, share = 1
    for i in range(n):
        due = cumulative_penalty - memory[i]
        if due != before:  # mostly the weights of a row were last used together
            before, share = due, exp(-due)
        weight[i] *= share
        memory[i] = cumulative_penalty


cdef inline void settle_all(double *weight, double *memory, size_t weights, int penalty,
                            double cumulative_penalty) noexcept nogil:
    """Apply the outstanding penalties of ``weights`` consecutive weights, which are one row if penalties are of rows."""
    if penalty == CUMULATIVE:
        settle_cumulative(weight, memory, weights, cumulative_penalty)
    elif penalty == CLIPPING:
        settle_clipping(weight, memory, weights, cumulative_penalty)
    elif penalty == CUMULATIVE_ROWS:
        settle_row(weight, memory, weights, cumulative_penalty)
    elif penalty == SQUARES:
        settle_squares(weight, memory, weights, cumulative_penalty)
