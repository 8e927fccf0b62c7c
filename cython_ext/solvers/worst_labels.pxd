"""The label sequence of the largest loss: ``cost + score(labels) - score(true labels)``."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

from solvers.best_labels cimport add_costs, path_score, room_for_labels, settle_transitions
from solvers.best_paths cimport best_other_path, best_path
from solvers.label_chain cimport Chain, Lattice, Weights, close_lattice, compute_state_scores, open_lattice
from solvers.label_difference cimport Difference, close_difference, open_difference


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
