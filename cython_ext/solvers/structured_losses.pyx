"""Losses of the best label sequence (structured perceptron, MIRA, structured hinge): stochastic steps and sums of losses.

A loss is the largest ``cost + score(labels) - score(true labels)`` over the label sequences. The parts are in
solvers/worst_labels.pxd and solvers/label_difference.pxd.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from base.status cimport NO_MEMORY, OK, STOPPED
from solvers.chain_arrays cimport open_chain
from solvers.l1_penalties cimport NAIVE, NONE, Schedule, iterates_before, open_schedule, rate_of, shrink_all
from solvers.label_chain cimport Chain, Weights, reserve_tokens
from solvers.label_difference cimport Difference, add_difference, empty, squared_norm, subtract_path
from solvers.worst_labels cimport Search, close_search, find_worst, open_search


cdef struct Rule:
    int cost
    bint margin             # steps are those of the schedule, not of full size
    double most             # largest step of MIRA, for an importance of 1; 0: there is no such step


cdef double step_size(const Rule *r, double importance, double loss, double eta, const Difference *d) noexcept nogil:
    cdef double norm
    if r.margin:
        return eta * importance
    if not r.most:
        return importance
    norm = squared_norm(d)
    return min(r.most * importance, loss / norm) if norm > 0 else 0


cdef int take_steps(const Chain *c, const int64_t *order, size_t first, size_t last, size_t weights, Weights *w, double *sums,
                    Schedule *s, const Rule *r, Search *search) noexcept nogil:
    cdef size_t j, tokens
    cdef int64_t row
    cdef double eta, size, loss, iterates
    cdef Difference *d = &search.difference
    for j in range(first, last):
        row = order[j]
        tokens = c.sequence[row + 1] - c.sequence[row]
        if not reserve_tokens(c, tokens, &search.lattice):
            return NO_MEMORY
        w.cumulative_penalty = s.cumulative_penalty
        w.step = <int32_t>(j - first + 1)
        eta = rate_of(s, j)
        loss = find_worst(c, row, w, r.cost, search)
        if c.stop[0]:
            return STOPPED
        subtract_path(c, c.sequence[row], tokens, search.found, d)
        size = step_size(r, c.weight[row], loss, eta, d)
        if s.penalty == NAIVE:
            shrink_all(w.weight, weights, eta * s.share)
        add_difference(d, size, w.weight)
        iterates = iterates_before(s, j)
        if iterates > 0:
            add_difference(d, size * iterates, sums)
        empty(d)
        s.cumulative_penalty += eta * s.share
    return OK


def steps(data, pairs, double[:, ::1] table, const int64_t[::1] order, schedule, rule, size_t first, size_t last):
    """Take the steps ``first`` to ``last`` (excluded) of a pass in this order; returns ``(status, cumulative_penalty)``.

    ``table`` and ``schedule`` as in crf.pyx; ``rule`` a ``vwlite.solvers.loglinear.frank_wolfe.Rule``.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef Schedule s = open_schedule(schedule)
    cdef size_t sequences = data.sequence.shape[0] - 1
    cdef Rule r
    cdef Weights w
    cdef Search search
    cdef int status
    if table.shape[0] != 2 or last > <size_t>order.shape[0] or table.shape[1] != pairs.weights:
        raise ValueError("the table or the order does not fit")
    if not table.shape[1] or first >= last:
        return OK, s.cumulative_penalty
    r.cost, r.margin, r.most = rule.cost, rule.margin, rule.most
    w.weight, w.memory, w.penalty = &table[0, 0], &table[1, 0] if s.penalty != NONE else NULL, s.penalty
    w.state_step = <int32_t *>calloc(pairs.start.shape[0], sizeof(int32_t))
    w.edge_step = <int32_t *>calloc(pairs.edge_start.shape[0], sizeof(int32_t))
    with nogil:
        status = NO_MEMORY
        if open_search(&c, sequences, table.shape[1], &search) and w.state_step != NULL and w.edge_step != NULL:
            status = take_steps(&c, &order[0], first, last, table.shape[1], &w, &table[1, 0], &s, &r, &search)
        close_search(&search)
        free(w.state_step)
        free(w.edge_step)
    return status, s.cumulative_penalty


cdef int add_losses(const Chain *c, const int64_t *rows, size_t count, const Weights *w, int cost, Search *search,
                    double *total) noexcept nogil:
    cdef size_t j
    cdef int64_t row
    for j in range(count):
        row = rows[j]
        if not reserve_tokens(c, c.sequence[row + 1] - c.sequence[row], &search.lattice):
            return NO_MEMORY
        total[0] += c.weight[row] * find_worst(c, row, w, cost, search)
        if c.stop[0]:
            return STOPPED
    return OK


def losses(data, pairs, const double[::1] weights, const int64_t[::1] rows, int cost):
    """The sum of the losses of the sequences ``rows``, times importance; ``cost`` as in ``Rule``. Raises MemoryError. Undefined
    when a signal has stopped it.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef size_t sequences = data.sequence.shape[0] - 1
    cdef Weights w
    cdef Search search
    cdef double total = 0
    cdef int status = NO_MEMORY
    if weights.shape[0] != pairs.weights:
        raise ValueError("the weights do not fit")
    if not weights.shape[0] or not rows.shape[0]:
        return 0.0
    w.weight, w.memory = <double *>&weights[0], NULL
    w.state_step = w.edge_step = NULL
    with nogil:
        if open_search(&c, sequences, 1, &search):
            status = add_losses(&c, &rows[0], rows.shape[0], &w, cost, &search, &total)
        close_search(&search)
    if status == NO_MEMORY:
        raise MemoryError("a sequence is too long for the memory there is")
    return total
