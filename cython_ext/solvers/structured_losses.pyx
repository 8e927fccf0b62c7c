"""Losses of the best label sequence: stochastic steps and sums of losses (structured perceptron, MIRA, structured hinge), and
block-coordinate Frank-Wolfe for the structured hinge loss with an L2 penalty (Lacoste-Julien, Jaggi, Schmidt, Pletscher, ICML 2013)
by pairwise steps between label sequences that are kept (Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien, ICML 2016).

A loss is the largest ``cost + score(labels) - score(true labels)`` over the label sequences; see solvers/worst_labels.pxd. The dual
variables of a sequence are a distribution over its label sequences, of which those with a share are kept:
w = sum over sequences of importance / l2 * (features of the true labels - expected features). A step moves share from one label
sequence to another, as much as is best for the dual. Of a label sequence that was found the runs of wrong labels are also kept one by
one, as one that is wrong in several places needs them in other shares than together.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy

from base.status cimport NO_MEMORY, OK, STOPPED
from solvers.chain_arrays cimport open_chain
from solvers.l1_penalties cimport NAIVE, NONE, Schedule, iterates_before, open_schedule, rate_of, shrink_all
from solvers.label_chain cimport Chain, Terms, Weights, before_of, reserve_tokens
from solvers.worst_labels cimport (
    HAMMING, Difference, Search, add_difference, close_search, empty, find_worst, open_search, pair_of, squared_norm,
    subtract_path,
)


cdef enum:
    STEPS = 8                   # of one sequence at a time


cdef double NEAR = 1e-9         # losses that differ by no more are as large as each other


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
        subtract_path(c, c.sequence[row], tokens, c.label + c.sequence[row], search.found, d)
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
    int32_t *label              # (room, tokens) label sequences that are kept; those of one sequence are in the same columns
    double *share               # (sequences, room) the probability of each; below 0: none is kept here
    double *cost                # (sequences,) expected cost, times importance
    double *loss                # (room,) of the sequence at hand: cost + score - score of the true labels
    size_t room, tokens
    double l2
    int kind                    # of cost


cdef inline int32_t *kept_labels(const Chain *c, int64_t row, size_t k, const Dual *s) noexcept nogil:
    return s.label + k * s.tokens + c.sequence[row]


cdef inline size_t size_of(const Chain *c, int64_t row) noexcept nogil:
    return c.sequence[row + 1] - c.sequence[row]


cdef double cost_of(const Chain *c, int64_t row, const int32_t *label, int kind) noexcept nogil:
    cdef size_t t
    cdef double wrong = 0
    for t in range(size_of(c, row)):
        wrong += label[t] != c.label[c.sequence[row] + <int64_t>t]
    return wrong if kind == HAMMING else <double>(wrong > 0)


cdef inline double label_score(const Terms *terms, int64_t token, uint32_t label, const double *weight) noexcept nogil:
    cdef int64_t i, pair
    cdef double score = 0
    for i in range(terms.start[token], terms.start[token + 1]):
        pair = pair_of(terms, terms.feature[i], label)
        if pair >= 0:
            score += terms.value[i] * weight[terms.base + pair]
    return score


cdef double loss_of(const Chain *c, int64_t row, const int32_t *label, const Weights *w, int kind) noexcept nogil:
    """The cost of labels, and their score less that of the true ones."""
    cdef int64_t first = c.sequence[row], before
    cdef size_t labels = c.labels, t, way, true_way
    cdef const int32_t *right = c.label + first
    cdef double loss = cost_of(c, row, label, kind)
    for t in range(size_of(c, row)):
        if label[t] != right[t]:
            loss += label_score(&c.state, first + t, label[t], w.weight) - label_score(&c.state, first + t, right[t], w.weight)
        before = before_of(c, first, t)
        if before < 0:
            continue
        way, true_way = label[before] * labels + label[t], right[before] * labels + right[t]
        if way == true_way:
            continue
        loss += w.weight[c.first_transition + way] - w.weight[c.first_transition + true_way]
        if c.edges:
            loss += label_score(&c.edge, first + t, <uint32_t>way, w.weight)
            loss -= label_score(&c.edge, first + t, <uint32_t>true_way, w.weight)
    return loss


cdef size_t count_kept(int64_t row, const Dual *s) noexcept nogil:
    cdef size_t k = 0
    while k < s.room and s.share[row * s.room + k] >= 0:
        k += 1
    return k


cdef size_t drop_unshared(const Chain *c, int64_t row, Dual *s) noexcept nogil:
    """Keep the true labels and label sequences that have a share; returns how many."""
    cdef size_t kept = 1, k
    cdef double *share = s.share + row * s.room
    for k in range(1, count_kept(row, s)):
        if share[k] <= 0:
            continue
        if k != kept:
            memcpy(kept_labels(c, row, kept, s), kept_labels(c, row, k, s), size_of(c, row) * sizeof(int32_t))
            share[kept] = share[k]
        kept += 1
    for k in range(kept, s.room):
        share[k] = -1
    return kept


cdef size_t keep_next(const Chain *c, int64_t row, size_t count, Dual *s) noexcept nogil:
    """Keep the label sequence in place ``count``, without a share, unless it is kept already; returns how many are."""
    cdef size_t k
    for k in range(count):
        if not memcmp(kept_labels(c, row, k, s), kept_labels(c, row, count, s), size_of(c, row) * sizeof(int32_t)):
            return count
    s.share[row * s.room + count] = 0
    return count + 1


cdef size_t keep_found(const Chain *c, int64_t row, const int32_t *found, Dual *s) noexcept nogil:
    """Keep the label sequence that was found, after those that have one run of its wrong labels each, as far as there is room.
    Returns how many are kept.
    """
    cdef size_t count = drop_unshared(c, row, s), tokens = size_of(c, row), t = 0, begin
    cdef const int32_t *right = c.label + c.sequence[row]
    cdef int32_t *labels
    while t < tokens and count < s.room:
        if found[t] == right[t]:
            t += 1
            continue
        begin, labels = t, kept_labels(c, row, count, s)
        while t < tokens and found[t] != right[t]:
            t += 1
        memcpy(labels, right, tokens * sizeof(int32_t))
        memcpy(labels + begin, found + begin, (t - begin) * sizeof(int32_t))
        count = keep_next(c, row, count, s)
    if count < s.room:
        memcpy(kept_labels(c, row, count, s), found, tokens * sizeof(int32_t))
        count = keep_next(c, row, count, s)
    return count


cdef void move_share(const Chain *c, int64_t row, const Weights *w, size_t origin, size_t to, double slope, Dual *s,
                     Difference *d) noexcept nogil:
    """Move share to labels whose loss is larger by ``slope``, as much as is best for the dual."""
    cdef double *share = s.share + row * s.room
    cdef const int32_t *less = kept_labels(c, row, origin, s)
    cdef const int32_t *more = kept_labels(c, row, to, s)
    cdef double scale = c.weight[row] / s.l2, curvature, moved
    subtract_path(c, c.sequence[row], size_of(c, row), less, more, d)
    curvature = scale * squared_norm(d)
    moved = share[origin] if slope >= curvature * share[origin] else slope / curvature
    add_difference(d, moved * scale, w.weight)
    empty(d)
    s.cost[row] += moved * c.weight[row] * (cost_of(c, row, more, s.kind) - cost_of(c, row, less, s.kind))
    share[to] += moved
    share[origin] = share[origin] - moved if moved < share[origin] else 0


cdef void step_to_truth(const Chain *c, int64_t row, const Weights *w, size_t count, Dual *s, Difference *d) noexcept nogil:
    """Move share between each label sequence and the true labels, whose loss is 0."""
    cdef double *share = s.share + row * s.room
    cdef size_t k
    cdef double loss
    for k in range(1, count):
        loss = loss_of(c, row, kept_labels(c, row, k, s), w, s.kind)
        if loss > NEAR and share[0] > 0:
            move_share(c, row, w, 0, k, loss, s, d)
        elif loss < -NEAR and share[k] > 0:
            move_share(c, row, w, k, 0, -loss, s, d)


cdef bint step_between(const Chain *c, int64_t row, const Weights *w, size_t count, Dual *s, Difference *d) noexcept nogil:
    """Move share from the label sequence of the least loss, of those that have any, to that of the largest; False where all are as
    large.
    """
    cdef double *share = s.share + row * s.room
    cdef size_t k, to = 0, origin = count
    for k in range(count):
        s.loss[k] = loss_of(c, row, kept_labels(c, row, k, s), w, s.kind) if k else 0
        if s.loss[k] > s.loss[to] + NEAR:
            to = k
        if share[k] > 0 and (origin == count or s.loss[k] < s.loss[origin] - NEAR):
            origin = k
    if s.loss[to] <= s.loss[origin] + NEAR:
        return False
    move_share(c, row, w, origin, to, s.loss[to] - s.loss[origin], s, d)
    return True


cdef int take_dual_steps(const Chain *c, const int64_t *order, size_t first, size_t last, const Weights *w, Dual *s,
                         Search *search) noexcept nogil:
    cdef size_t j, step, count
    cdef int64_t row
    for j in range(first, last):
        row = order[j]
        if not reserve_tokens(c, size_of(c, row), &search.lattice):
            return NO_MEMORY
        find_worst(c, row, w, s.kind, search)
        if c.stop[0]:
            return STOPPED
        count = keep_found(c, row, search.found, s)
        step_to_truth(c, row, w, count, s, &search.difference)
        for step in range(STEPS):
            if s.share[row * s.room] > 0 or not step_between(c, row, w, count, s, &search.difference):
                break
    return OK


def dual_steps(data, pairs, double[::1] weights, int32_t[:, ::1] label, double[:, ::1] share, double[::1] expected_cost,
               const int64_t[::1] order, int cost, double l2, size_t first, size_t last):
    """Take the steps of the sequences ``first`` to ``last`` (excluded) of a pass in this order, for each after a search for its label
    sequence of the largest loss; returns a status of base/status.pxd.

    ``label`` int32[room, tokens], ``share`` float64[sequences, room] and ``expected_cost`` float64[sequences] as in ``Dual``;
    ``cost`` as in solvers/worst_labels.pxd.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef size_t sequences = data.sequence.shape[0] - 1
    cdef Weights w
    cdef Dual s
    cdef Search search
    cdef int status = NO_MEMORY
    if weights.shape[0] != pairs.weights or last > <size_t>order.shape[0] or <size_t>expected_cost.shape[0] != sequences:
        raise ValueError("the weights, the order or the costs do not fit")
    if label.shape[1] != data.label.shape[0] or <size_t>share.shape[0] != sequences or share.shape[1] != label.shape[0]:
        raise ValueError("the labels or their shares do not fit")
    if label.shape[0] < 2 or not c.transitions or c.states:
        raise ValueError("the chains do not fit")
    if first >= last:
        return OK
    s.label, s.share, s.cost, s.room, s.tokens = &label[0, 0], &share[0, 0], &expected_cost[0], share.shape[1], label.shape[1]
    s.l2, s.kind = l2, cost
    s.loss = <double *>malloc(s.room * sizeof(double))
    w.weight, w.memory = &weights[0], NULL
    w.state_step = w.edge_step = NULL
    with nogil:
        if open_search(&c, sequences, weights.shape[0], &search) and s.loss != NULL:
            status = take_dual_steps(&c, &order[0], first, last, &w, &s, &search)
        close_search(&search)
        free(s.loss)
    return status
