"""Binary logistic regression, log p(y | x) = -log(1 + exp(-y w.x)), with an L1 penalty (see solvers/l1_penalties.pxd)."""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t

from base.byte_scan cimport prefetch, unlikely
from losses.logistic cimport sigmoid, softplus
from solvers.l1_penalties cimport CUMULATIVE, NAIVE, Schedule, iterates_before, open_schedule, rate_of, settle_all, settle_one, shrink_all
from base.status cimport OK, STOPPED, UNSTABLE


cdef enum:
    CACHED = 1 << 14          # up to this number of weights fit into the processor's cache and need no prefetch
    AHEAD = 3                 # rows between the prefetch of a row and its use


cdef struct Data:
    size_t examples
    const int64_t *start          # (examples + 1,) first term of each example
    const uint32_t *feature       # (terms,)
    const float *value            # (terms,)
    const double *label           # (examples,) -1 or 1
    const double *weight          # (examples,) importance
    const volatile uint8_t *stop  # set to 1 when a signal asks to stop


cdef struct Steps:
    const int64_t *order      # (steps,) the row of each step
    size_t first, last        # the steps to take are [first, last)
    size_t weights            # number of weights


cdef Data open_data(source) except *:
    """From a ``vwlite.solvers.loglinear.problems.Examples``, whose arrays must outlive the call."""
    cdef const int64_t[::1] start = source.terms.indptr
    cdef const uint32_t[::1] feature = source.terms.indices
    cdef const float[::1] value = source.terms.values
    cdef const double[::1] label = source.label, weight = source.weight
    cdef const uint8_t[::1] stop = source.stop
    cdef Data d
    d.examples, d.stop = label.shape[0], &stop[0]
    if start.shape[0] != label.shape[0] + 1 or weight.shape[0] != label.shape[0]:
        raise ValueError("the arrays do not fit together")
    d.start = &start[0]
    d.feature = &feature[0] if feature.shape[0] else NULL
    d.value = &value[0] if value.shape[0] else NULL
    d.label = &label[0] if d.examples else NULL
    d.weight = &weight[0] if d.examples else NULL
    return d


cdef inline double neg_gradient(double margin, double y) noexcept nogil:
    """The derivative of log p by the margin: y / (1 + exp(y margin))."""
    return y * sigmoid(-y * margin)


cdef inline void prefetch_weights(const Data *d, size_t row, const double *weight, const double *memory) noexcept nogil:
    cdef int64_t i
    for i in range(d.start[row], d.start[row + 1]):
        prefetch(weight + d.feature[i])
        prefetch(memory + d.feature[i])


cdef inline void prefetch_row(const Data *d, size_t row) noexcept nogil:
    """Prefetch a row's terms: rows come in random order."""
    prefetch(d.feature + d.start[row])
    prefetch(d.value + d.start[row])
    prefetch(d.label + row)
    prefetch(d.weight + row)


cdef int take_steps(const Data *d, const Steps *steps, double *weight, double *memory, Schedule *s) noexcept nogil:
    cdef size_t j, row
    cdef int64_t i
    cdef double eta, margin, step, iterates
    cdef bint large = steps.weights > CACHED
    for j in range(steps.first, steps.last):
        if unlikely(d.stop[0]):
            return STOPPED
        row = steps.order[j]
        if j + AHEAD < steps.last:
            prefetch_row(d, steps.order[j + AHEAD])
        if large and j + 1 < steps.last:
            prefetch_weights(d, steps.order[j + 1], weight, memory)
        margin = 0
        if s.penalty == CUMULATIVE:
            for i in range(d.start[row], d.start[row + 1]):
                margin += settle_one(weight + d.feature[i], memory + d.feature[i], s.cumulative_penalty) * d.value[i]
        else:
            for i in range(d.start[row], d.start[row + 1]):
                settle_all(weight + d.feature[i], memory + d.feature[i], 1, s.penalty, s.cumulative_penalty)
                margin += weight[d.feature[i]] * d.value[i]
        if not isfinite(margin):
            return UNSTABLE
        eta = rate_of(s, j)
        if s.penalty == NAIVE:
            shrink_all(weight, steps.weights, eta * s.share)
        step = eta * d.weight[row] * neg_gradient(margin, d.label[row])
        for i in range(d.start[row], d.start[row + 1]):
            weight[d.feature[i]] += step * d.value[i]
        iterates = iterates_before(s, j)
        if iterates > 0:
            for i in range(d.start[row], d.start[row + 1]):
                memory[d.feature[i]] += iterates * step * d.value[i]
        s.cumulative_penalty += eta * s.share
    return OK


def steps(data, double[:, ::1] table, const int64_t[::1] order, schedule, size_t first, size_t last):
    """Take the steps ``first`` to ``last`` (excluded) of a pass in this order; returns ``(status, cumulative_penalty)``.

    ``table`` is float64[2, features]: weights, and their ``memory``, see solvers/l1_penalties.pxd; ``schedule`` a
    ``vwlite.solvers.loglinear.sgd.Schedule``.
    """
    cdef Data d = open_data(data)
    cdef Schedule s = open_schedule(schedule)
    cdef Steps selected
    cdef int status
    if table.shape[0] != 2 or last > <size_t>order.shape[0]:
        raise ValueError("the table or the order does not fit")
    if not table.shape[1] or first >= last:
        return OK, s.cumulative_penalty
    selected.order, selected.first, selected.last, selected.weights = &order[0], first, last, table.shape[1]
    with nogil:
        status = take_steps(&d, &selected, &table[0, 0], &table[1, 0], &s)
    return status, s.cumulative_penalty


def settle_table(double[:, ::1] table, schedule):
    """Apply the outstanding penalty to every weight."""
    cdef Schedule s = open_schedule(schedule)
    if table.shape[0] == 2 and table.shape[1]:
        with nogil:
            settle_all(&table[0, 0], &table[1, 0], table.shape[1], s.penalty, s.cumulative_penalty)


def likelihood(data, const double[::1] weights, const int64_t[::1] rows, double[::1] gradient):
    """Sum of log p over ``rows``, times importance; ``gradient`` float64[features] or None gets its gradient added.

    Undefined when a signal has stopped it.
    """
    cdef Data d = open_data(data)
    cdef double total = 0, margin, factor
    cdef size_t j, row
    cdef int64_t i
    cdef bint slopes = gradient is not None
    with nogil:
        for j in range(<size_t>rows.shape[0]):
            if unlikely(d.stop[0]):
                break
            row = rows[j]
            margin = 0
            for i in range(d.start[row], d.start[row + 1]):
                margin += weights[d.feature[i]] * d.value[i]
            total -= d.weight[row] * softplus(-d.label[row] * margin)
            if slopes:
                factor = d.weight[row] * neg_gradient(margin, d.label[row])
                for i in range(d.start[row], d.start[row + 1]):
                    gradient[d.feature[i]] += factor * d.value[i]
    return total
