"""L1 penalties of stochastic gradient descent, applied when a weight is next used (Tsuruoka, Tsujii, Ananiadou, ACL 2009).

A cell is two numbers: the weight, and what it remembers of its penalties. ``due`` is u_k, the penalty that every weight could
have received so far. Penalties compose: several in a row without a gradient between are one of their sum.
"""

from libc.math cimport pow
from libc.stdint cimport int64_t


cdef enum:                  # in the order of vwlite.l1.config.PENALTIES
    NAIVE = 0
    CLIPPING = 1            # a cell remembers the due of its last penalty
    CUMULATIVE = 2          # a cell remembers q, the penalty received, with its sign


cdef enum:                  # in the order of vwlite.l1.config.RATES
    HARMONIC = 0
    EXPONENTIAL = 1


cdef struct Schedule:
    int penalty
    int rate
    double start            # eta_0
    double decay            # alpha of the exponential rate
    double begin            # passes before this one
    double examples         # N
    double share            # C / N
    double due              # u


cdef inline Schedule open_schedule(source):
    """From a ``vwlite.l1.sgd.Schedule``."""
    cdef Schedule s
    s.penalty, s.rate, s.start, s.decay = source.penalty, source.rate, source.start, source.decay
    s.begin, s.examples, s.share, s.due = source.begin, source.examples, source.share, source.due
    return s


cdef inline double rate_of(const Schedule *s, int64_t step) noexcept nogil:
    """The step size of update ``step`` of this pass, from 0."""
    cdef double passes = s.begin + <double>step / s.examples
    return s.start * pow(s.decay, passes) if s.rate == EXPONENTIAL else s.start / (1 + passes)


cdef inline double settle(double *cell, int penalty, double due) noexcept nogil:
    """Apply what is outstanding; returns the weight. Without branches: signs of weights are hard to foresee."""
    cdef double w = cell[0], up, down, above, below
    if penalty == NAIVE:
        return w
    if penalty == CUMULATIVE:
        up, down = due + cell[1], due - cell[1]
    else:
        up = down = due - cell[1]
        cell[1] = due
    up = up if up > 0 else 0
    down = down if down > 0 else 0
    above, below = w - up, w + down
    above = above if above > 0 else 0
    below = below if below < 0 else 0
    above += below
    if penalty == CUMULATIVE:
        cell[1] += above - w
    cell[0] = above
    return above


cdef inline void shrink_all(double *cell, size_t cells, double step) noexcept nogil:
    """The naive penalty: every weight moves by ``step`` towards 0, and beyond."""
    cdef size_t i
    cdef double w
    for i in range(cells):
        w = cell[2 * i]
        cell[2 * i] = w - step * (<double>(w > 0) - <double>(w < 0))


cdef inline void settle_all(double *cell, size_t cells, const Schedule *s) noexcept nogil:
    cdef size_t i
    for i in range(cells):
        settle(cell + 2 * i, s.penalty, s.due)
