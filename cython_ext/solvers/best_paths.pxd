"""The best label sequence, whatever the structure: a chain of order 1 or 2, or a tree."""

from libc.stdint cimport int32_t, int64_t

from solvers.best_labels cimport other_viterbi, viterbi
from solvers.best_states cimport best_states
from solvers.best_tree cimport best_tree
from solvers.label_chain cimport Chain, Lattice, Weights, is_tree


cdef inline double best_path(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f,
                             int32_t *found) noexcept nogil:
    """The best label sequence and its score; state scores must have been computed."""
    if c.states:
        return best_states(c, first, tokens, w, f, found, NULL)
    if is_tree(c, first):
        return best_tree(c, first, tokens, w, f, found, NULL)
    return viterbi(c, first, tokens, w, f, found)


cdef inline double best_other_path(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, int32_t *found,
                                   double *true_score) noexcept nogil:
    """The best label sequence that has a wrong label, and its score, -INFINITY if there is none; ``true_score`` gets that of
    the true one.
    """
    if c.states:
        return best_states(c, first, tokens, w, f, found, true_score)
    if is_tree(c, first):
        return best_tree(c, first, tokens, w, f, found, true_score)
    return other_viterbi(c, first, tokens, w, f, found, true_score)
