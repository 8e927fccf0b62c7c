"""L1 penalties of stochastic gradient descent, applied when a weight is next used (Tsuruoka, Tsujii, Ananiadou, ACL 2009).

Beside each weight stands what it remembers of its penalties. ``cumulative_penalty`` is u_k, the penalty that every weight could
have received so far. Penalties compose: several in a row without a gradient between are one of their sum.
"""

from libc.math cimport pow
from libc.stdint cimport int64_t


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.PENALTIES
    NAIVE = 0
    CLIPPING = 1            # remembered: u at the last penalty
    CUMULATIVE = 2          # remembered: q, the penalty received, with its sign


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.RATES
    HARMONIC = 0
    EXPONENTIAL = 1


cdef enum:
    ANEW = 64               # steps between two powers; passes are cut at multiples of it


cdef struct Schedule:
    int penalty
    int rate
    double start            # eta_0
    double decay            # alpha of the exponential rate
    double begin            # passes before this one
    double examples         # N
    double share            # C / N
    double cumulative_penalty              # u
    double power, ratio     # of the exponential rate: at the last step, from a step to the next


cdef inline Schedule open_schedule(source):
    """From a ``vwlite.solvers.loglinear.sgd.Schedule``."""
    cdef Schedule s
    s.penalty, s.rate, s.start, s.decay = source.penalty, source.rate, source.start, source.decay
    s.begin, s.examples, s.share, s.cumulative_penalty = source.begin, source.examples, source.share, source.cumulative_penalty
    s.power, s.ratio = 1, pow(s.decay, 1 / s.examples)
    return s


cdef inline double rate_of(Schedule *s, int64_t step) noexcept nogil:
    """The step size of update ``step`` of this pass, from 0; to be called for one after the other.

    Powers are taken now and then and carried on by products in between, at the same steps wherever a run begins.
    """
    if s.rate == HARMONIC:
        return s.start / (1 + s.begin + <double>step / s.examples)
    if step & (ANEW - 1):
        s.power *= s.ratio
    else:
        s.power = pow(s.decay, s.begin + <double>step / s.examples)
    return s.start * s.power


cdef extern from "solvers/l1_penalties_simd.h" nogil:
    void settle_cumulative "vwl_settle_cumulative"(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept
    double settle_one "vwl_settle_one"(double *weight, double *memory, double cumulative_penalty) noexcept
    void settle_clipping "vwl_settle_clipping"(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept
    void shrink_all "vwl_shrink_all"(double *weight, size_t n, double step) noexcept


cdef inline void settle_all(double *weight, double *memory, size_t weights, int penalty, double cumulative_penalty) noexcept nogil:
    """Apply what is outstanding."""
    if penalty == CUMULATIVE:
        settle_cumulative(weight, memory, weights, cumulative_penalty)
    elif penalty == CLIPPING:
        settle_clipping(weight, memory, weights, cumulative_penalty)
