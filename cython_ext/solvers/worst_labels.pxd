"""The label sequence of the largest loss: ``cost + score(labels) - score(true labels)``; and the features of one label sequence less
those of another, as a sparse vector over the weights.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from solvers.best_labels cimport add_costs, path_score, room_for_labels, settle_transitions
from solvers.best_paths cimport best_other_path, best_path
from solvers.label_chain cimport (
    Chain, Lattice, Terms, Weights, before_of, close_lattice, compute_state_scores, open_lattice, triple_of,
)


cdef struct Difference:
    double *value               # (weights,) 0 but for those in ``weight``
    uint8_t *present            # (weights,) whether a weight is in ``weight``
    int64_t *weight             # (weights,) the first ``count`` are those with a value
    size_t count


cdef inline bint open_difference(size_t weights, Difference *d) noexcept nogil:
    """False when memory has run out."""
    d.value = <double *>calloc(weights, sizeof(double))
    d.present = <uint8_t *>calloc(weights, sizeof(uint8_t))
    d.weight = <int64_t *>malloc(weights * sizeof(int64_t))
    d.count = 0
    return d.value != NULL and d.present != NULL and d.weight != NULL


cdef inline void close_difference(Difference *d) noexcept nogil:
    free(d.value)
    free(d.present)
    free(d.weight)


cdef inline void empty(Difference *d) noexcept nogil:
    cdef size_t i
    for i in range(d.count):
        d.value[d.weight[i]] = 0
        d.present[d.weight[i]] = 0
    d.count = 0


cdef inline void add_value(Difference *d, int64_t weight, double value) noexcept nogil:
    if not d.present[weight]:
        d.present[weight] = 1
        d.weight[d.count] = weight
        d.count += 1
    d.value[weight] += value


cdef inline int64_t pair_of(const Terms *terms, uint32_t feature, uint32_t label) noexcept nogil:
    """The pair of a feature and a label; -1: there is none."""
    cdef int64_t pair
    for pair in range(terms.pair_start[feature], terms.pair_start[feature + 1]):
        if terms.pair_label[pair] == label:
            return pair
    return -1


cdef inline void add_label(const Terms *terms, int64_t token, uint32_t label, double factor, Difference *d) noexcept nogil:
    """Add ``factor`` times the features of a token with this label."""
    cdef int64_t i, pair
    for i in range(terms.start[token], terms.start[token + 1]):
        pair = pair_of(terms, terms.feature[i], label)
        if pair >= 0:
            add_value(d, terms.base + pair, factor * terms.value[i])


cdef inline void add_triples(const Chain *c, size_t tokens, const int32_t *label, double factor, Difference *d) noexcept nogil:
    """Add ``factor`` for each label after a history."""
    cdef int64_t weight
    cdef size_t t
    for t in range(2, tokens):
        weight = triple_of(c, c.state_after[label[t - 2] * c.labels + label[t - 1]], label[t])
        if weight >= 0:
            add_value(d, weight, factor)


cdef inline void subtract_path(const Chain *c, int64_t first, size_t tokens, const int32_t *one, const int32_t *other,
                               Difference *d) noexcept nogil:
    """Add the features of a sequence with the labels ``one``, less those with ``other``."""
    cdef size_t labels = c.labels, t, way, other_way
    cdef int64_t before
    if c.states:
        add_triples(c, tokens, one, 1, d)
        add_triples(c, tokens, other, -1, d)
    for t in range(tokens):
        if one[t] != other[t]:
            add_label(&c.state, first + t, one[t], 1, d)
            add_label(&c.state, first + t, other[t], -1, d)
        before = before_of(c, first, t)
        if not c.transitions or before < 0:
            continue
        way, other_way = one[before] * labels + one[t], other[before] * labels + other[t]
        if way == other_way:
            continue
        add_value(d, c.first_transition + way, 1)
        add_value(d, c.first_transition + other_way, -1)
        if c.edges:
            add_label(&c.edge, first + t, <uint32_t>way, 1, d)
            add_label(&c.edge, first + t, <uint32_t>other_way, -1, d)


cdef inline double squared_norm(const Difference *d) noexcept nogil:
    cdef double total = 0
    cdef size_t i
    for i in range(d.count):
        total += d.value[d.weight[i]] * d.value[d.weight[i]]
    return total


cdef inline void add_difference(const Difference *d, double step, double *out) noexcept nogil:
    cdef size_t i
    for i in range(d.count):
        out[d.weight[i]] += step * d.value[d.weight[i]]


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.COSTS, after that of no cost
    FREE = 0
    HAMMING = 1             # the number of wrong labels
    ZERO_ONE = 2            # 1 where a label is wrong


cdef struct Search:
    Lattice lattice
    int32_t *found              # labels
    Difference difference


cdef inline bint open_search(const Chain *c, size_t sequences, size_t weights, Search *s) noexcept nogil:
    open_lattice(&s.lattice)
    s.found = room_for_labels(c, sequences)
    return open_difference(weights, &s.difference) and s.found != NULL


cdef inline void close_search(Search *s) noexcept nogil:
    close_lattice(&s.lattice)
    free(s.found)
    close_difference(&s.difference)


cdef inline double find_worst(const Chain *c, int64_t row, const Weights *w, int cost, Search *s) noexcept nogil:
    """The labels of the largest loss of a sequence into ``found``; returns that loss, which is never below 0."""
    cdef int64_t first = c.sequence[row]
    cdef size_t tokens = c.sequence[row + 1] - first, t
    cdef Lattice *f = &s.lattice
    cdef double best, true_score = 0
    compute_state_scores(c, first, tokens, w, f)
    settle_transitions(c, w)
    if cost != ZERO_ONE:
        if cost == HAMMING:
            add_costs(c, first, tokens, f)
        best = best_path(c, first, tokens, w, f, s.found)
        return max(best - path_score(c, first, tokens, c.label + first, w, f), <double>0)
    best = 1 + best_other_path(c, first, tokens, w, f, s.found, &true_score)
    if best > true_score:
        return best - true_score
    for t in range(tokens):
        s.found[t] = c.label[first + t]
    return 0
