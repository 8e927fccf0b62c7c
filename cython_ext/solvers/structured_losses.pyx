"""Losses of the best label sequence: stochastic steps and sums of losses (structured perceptron, MIRA, structured hinge), and
block-coordinate Frank-Wolfe for the structured hinge loss with an L2 penalty (Lacoste-Julien, Jaggi, Schmidt, Pletscher, ICML 2013):
a step for each sequence towards its label sequence of the largest loss, of the length that is best for the dual.

A loss is the largest ``cost + score(labels) - score(true labels)`` over the label sequences; see solvers/worst_labels.pxd. The dual
variables of a sequence are a distribution over its label sequences, of which only marginals matter:
w = sum over sequences of importance / l2 * (features of the true labels - expected features).
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from base.status cimport NO_MEMORY, OK, STOPPED
from solvers.chain_arrays cimport open_chain
from solvers.l1_penalties cimport NAIVE, NONE, Schedule, iterates_before, open_schedule, rate_of, shrink_all
from solvers.label_chain cimport Chain, Terms, Weights, before_of, reserve_tokens
from solvers.worst_labels cimport (
    HAMMING, Difference, Search, add_difference, add_value, close_search, empty, find_worst, inner_product,
    open_search, squared_norm, subtract_path,
)


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


cdef struct Dual:
    double *node                # (tokens, labels) marginals of labels
    double *way                 # (sequences, labels, labels) expected transitions; with edge features (tokens, labels, labels)
    double *loss                # (sequences,) expected cost, times importance
    double l2
    int cost


cdef inline void add_expected(const Terms *terms, int64_t token, const double *expected, Difference *d) noexcept nogil:
    """Add the features of a token, as often as ``expected`` has each label."""
    cdef int64_t i, pair
    cdef double times
    for i in range(terms.start[token], terms.start[token + 1]):
        for pair in range(terms.pair_start[terms.feature[i]], terms.pair_start[terms.feature[i] + 1]):
            times = expected[terms.pair_label[pair]]
            if times != 0:
                add_value(d, terms.base + pair, times * terms.value[i])


cdef inline bint any_of(const double *values, size_t count) noexcept nogil:
    cdef size_t i
    for i in range(count):
        if values[i] != 0:
            return True
    return False


cdef double *way_of(const Chain *c, const Dual *s, int64_t row, size_t t) noexcept nogil:
    """The expected transitions into token ``t`` of a sequence, or of the whole sequence."""
    return s.way + <size_t>(c.sequence[row] + t if c.edges else row) * c.labels * c.labels


cdef void turn(const Chain *c, int64_t row, const int32_t *found, double direction, Dual *s) noexcept nogil:
    """Add ``direction`` to the marginals of the labels found."""
    cdef size_t labels = c.labels, t, tokens = c.sequence[row + 1] - c.sequence[row]
    cdef int64_t before
    for t in range(tokens):
        s.node[(c.sequence[row] + t) * labels + found[t]] += direction
        before = before_of(c, c.sequence[row], t)
        if before >= 0:
            way_of(c, s, row, t)[found[before] * labels + found[t]] += direction


cdef void add_marginals(const Chain *c, int64_t row, const Dual *s, Difference *d) noexcept nogil:
    """Add the expected features of a sequence."""
    cdef size_t labels = c.labels, t, i, tokens = c.sequence[row + 1] - c.sequence[row]
    cdef int64_t token
    cdef const double *way
    for t in range(tokens):
        token = c.sequence[row] + t
        if any_of(s.node + token * labels, labels):
            add_expected(&c.state, token, s.node + token * labels, d)
        if before_of(c, c.sequence[row], t) < 0 if c.edges else t != 1:
            continue
        way = way_of(c, s, row, t)
        for i in range(labels * labels):
            if way[i] != 0:
                add_value(d, c.first_transition + i, way[i])
        if c.edges and any_of(way, labels * labels):
            add_expected(&c.edge, token, way, d)


cdef void scale_marginals(const Chain *c, int64_t row, double factor, Dual *s) noexcept nogil:
    cdef size_t labels = c.labels, i
    cdef int64_t tokens = c.sequence[row + 1] - c.sequence[row]
    cdef double *node = s.node + c.sequence[row] * labels
    cdef double *way = way_of(c, s, row, 0)
    for i in range(tokens * labels):
        node[i] *= factor
    for i in range((tokens if c.edges else 1) * labels * labels):
        way[i] *= factor


cdef double cost_of(const Chain *c, int64_t row, const int32_t *found, int cost) noexcept nogil:
    cdef int64_t t
    cdef double wrong = 0
    for t in range(c.sequence[row + 1] - c.sequence[row]):
        wrong += found[t] != c.label[c.sequence[row] + t]
    return wrong if cost == HAMMING else <double>(wrong > 0)


cdef double best_length(double slope, double curvature) noexcept nogil:
    """The step in [0, 1] at which ``slope * step - curvature / 2 * step^2`` is largest."""
    if slope <= 0:
        return 0
    return slope / curvature if slope < curvature else 1


cdef int take_dual_steps(const Chain *c, const int64_t *order, size_t first, size_t last, const Weights *w, Dual *s,
                         Search *search) noexcept nogil:
    cdef size_t j
    cdef int64_t row
    cdef double scale, gained, length
    cdef Difference *d = &search.difference
    for j in range(first, last):
        row = order[j]
        if not reserve_tokens(c, c.sequence[row + 1] - c.sequence[row], &search.lattice):
            return NO_MEMORY
        find_worst(c, row, w, s.cost, search)
        if c.stop[0]:
            return STOPPED
        scale = c.weight[row] / s.l2
        turn(c, row, search.found, -1, s)       # now the marginals less those of the labels found
        add_marginals(c, row, s, d)
        gained = c.weight[row] * cost_of(c, row, search.found, s.cost) - s.loss[row]
        length = best_length(gained - s.l2 * scale * inner_product(d, w.weight), s.l2 * scale * scale * squared_norm(d))
        add_difference(d, length * scale, w.weight)
        empty(d)
        scale_marginals(c, row, 1 - length, s)
        turn(c, row, search.found, 1, s)
        s.loss[row] += length * gained
    return OK


def dual_steps(data, pairs, double[::1] weights, double[:, ::1] node, double[:, ::1] way, double[::1] loss,
               const int64_t[::1] order, int cost, double l2, size_t first, size_t last):
    """Take the steps ``first`` to ``last`` (excluded) of a pass in this order; returns a status of base/status.pxd.

    ``node`` float64[tokens, labels], ``way`` float64[sequences or, with edge features, tokens; labels * labels] and ``loss``
    float64[sequences] as in ``Dual``; ``cost`` as in solvers/worst_labels.pxd.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef size_t sequences = data.sequence.shape[0] - 1
    cdef Weights w
    cdef Dual s
    cdef Search search
    cdef int status = NO_MEMORY
    if weights.shape[0] != pairs.weights or last > <size_t>order.shape[0] or <size_t>loss.shape[0] != sequences:
        raise ValueError("the weights, the order or the losses do not fit")
    if node.shape[0] != data.label.shape[0] or node.shape[1] != c.labels or way.shape[1] != <Py_ssize_t>c.labels * c.labels:
        raise ValueError("the marginals do not fit")
    if way.shape[0] != (node.shape[0] if c.edges else loss.shape[0]) or not c.transitions:
        raise ValueError("the transitions do not fit")
    if first >= last:
        return OK
    s.node, s.way, s.loss, s.l2, s.cost = &node[0, 0], &way[0, 0], &loss[0], l2, cost
    w.weight, w.memory = &weights[0], NULL
    w.state_step = w.edge_step = NULL
    with nogil:
        if open_search(&c, sequences, weights.shape[0], &search):
            status = take_dual_steps(&c, &order[0], first, last, &w, &s, &search)
        close_search(&search)
    return status
