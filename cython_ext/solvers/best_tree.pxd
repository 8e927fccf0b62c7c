"""Max-sum over the labellings of a tree, by messages from the leaves to the root; see solvers/label_tree.pxd.

The best labelling that has a wrong label: below a token with its true label all may be true but in one branch, that where a
wrong label costs least. What it costs at least is in ``scale``; ``psi`` tells below which tokens a label has yet to be wrong.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from solvers.best_labels cimport path_score, ways_into
from solvers.label_chain cimport Chain, Lattice, Weights, before_of


cdef inline double best_below(const Chain *c, int64_t first, size_t t, const double *way, bint wrong, const Lattice *f,
                              int32_t *label) noexcept nogil:
    """The best score of what is at and below token ``t`` with the scores ``way`` of its labels, NULL of the root; ``label`` gets
    its label, of equal ones the first. With ``wrong``, where one label of these is wrong.
    """
    cdef const double *now = f.alpha + t * c.labels
    cdef double best = -INFINITY, value
    cdef int32_t y
    label[0] = 0
    for y in range(c.labels):
        value = now[y] if way == NULL else way[y] + now[y]
        if wrong and y == c.label[first + t]:
            value -= f.scale[t]
        if value > best:
            best, label[0] = value, y
    return best


cdef inline void gather_best(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, bint other) noexcept nogil:
    """Fill ``alpha`` with the best scores of all at and below a token by its label, with ``other`` also ``scale``."""
    cdef size_t labels = c.labels, i = tokens, t, p, z
    cdef const double *way
    cdef double best
    cdef int32_t label
    memcpy(f.alpha, f.score, tokens * labels * sizeof(double))
    for t in range(tokens):
        f.scale[t] = INFINITY
    while i > 1 and not c.stop[0]:
        i -= 1
        t = c.order[first + i]
        p = before_of(c, first, t)
        way = ways_into(c, first + t, w, f)
        for z in range(labels):
            best = best_below(c, first, t, way + z * labels, False, f, &label)
            f.alpha[p * labels + z] += best
            if other and <int32_t>z == c.label[first + p]:
                f.scale[p] = min(f.scale[p], best - best_below(c, first, t, way + z * labels, True, f, &label))


cdef inline double best_tree(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, int32_t *found,
                             double *true_score) noexcept nogil:
    """The best labelling and its score. Where ``true_score`` is not NULL, the best one that has a wrong label, -INFINITY if there
    is none; ``true_score`` gets the score of the true one.
    """
    cdef size_t labels = c.labels, i, t, p
    cdef bint wrong, other = true_score != NULL
    cdef const double *way
    cdef double best, free, cost
    cdef int32_t label
    gather_best(c, first, tokens, w, f, other)
    if other:
        true_score[0] = path_score(c, first, tokens, c.label + first, w, f)
    t = c.order[first]
    best = best_below(c, first, t, NULL, other, f, &found[t])
    f.psi[t * labels] = other and found[t] == c.label[first + t]
    for i in range(1, tokens):
        if c.stop[0]:
            return 0
        t = c.order[first + i]
        p = before_of(c, first, t)
        way = ways_into(c, first + t, w, f) + found[p] * labels
        free = best_below(c, first, t, way, False, f, &found[t])
        wrong = False
        if f.psi[p * labels]:
            cost = free - best_below(c, first, t, way, True, f, &label)
            wrong = cost <= f.scale[p]
            if wrong:
                found[t] = label
                f.psi[p * labels] = 0
        f.psi[t * labels] = wrong and found[t] == c.label[first + t]
    return best
