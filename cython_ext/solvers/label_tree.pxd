"""Sums over all labellings of a tree by messages from the leaves to the root and back (belief propagation, which is exact on
trees: Pearl 1988; Wainwright and Jordan 2008, 2.5).

Messages add to scores by their logarithms: a token may have any number of children, whose product has no bounds.
"""

from libc.math cimport exp, log
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from solvers.label_chain cimport Chain, Lattice, before_of, forward, is_tree, normalize, step_of
from solvers.label_states cimport forward_states


cdef inline double gather(const Chain *c, int64_t first, size_t tokens, Lattice *f) noexcept nogil:
    """Fill ``alpha`` with p(label of a token | features of it and all below it), and ``psi`` with the messages to parents, by the
    parent's label; returns the log of the normaliser, without the maxima of transitions.
    """
    cdef size_t labels = c.labels, i = tokens, t, y, z
    cdef double top, total, log_normalizer = 0
    cdef double *now
    cdef double *above
    cdef const double *step
    memcpy(f.alpha, f.score, tokens * labels * sizeof(double))
    while i and not c.stop[0]:
        i -= 1
        t = c.order[first + i]
        now = f.alpha + t * labels
        top = now[0]
        for y in range(1, labels):
            top = max(top, now[y])
        for y in range(labels):
            now[y] = exp(now[y] - top)
        log_normalizer += top + normalize(now, labels, &f.scale[t])
        if not i:
            break
        step, above = step_of(c, t, f), f.alpha + before_of(c, first, t) * labels
        for z in range(labels):
            total = 0
            for y in range(labels):
                total += step[z * labels + y] * now[y]
            f.psi[t * labels + z] = total
            above[z] += log(total)
    return log_normalizer


cdef inline void spread_to(const Chain *c, int64_t first, size_t t, Lattice *f) noexcept nogil:
    """Make of ``alpha`` of a token p(label | features of the tree), and fill ``edge`` with the probabilities of its parent's label
    and its own together. ``alpha`` of the parent is final already; that of the root is from the beginning.
    """
    cdef size_t labels = c.labels, y, z
    cdef const double *above = f.alpha + before_of(c, first, t) * labels
    cdef const double *step = step_of(c, t, f)
    cdef double *now = f.alpha + t * labels
    cdef double share
    for z in range(labels):
        share = above[z] / f.psi[t * labels + z] if above[z] > 0 else 0
        for y in range(labels):
            f.edge[z * labels + y] = share * step[z * labels + y] * now[y]
    for y in range(labels):
        now[y] = 0
        for z in range(labels):
            now[y] += f.edge[z * labels + y]


cdef inline void spread(const Chain *c, int64_t first, size_t tokens, Lattice *f) noexcept nogil:
    """Fill ``alpha`` with p(label | features of the tree) of all tokens, after ``gather``."""
    cdef size_t i
    for i in range(1, tokens):
        if c.stop[0]:
            return
        spread_to(c, first, c.order[first + i], f)


cdef inline double forward_any(const Chain *c, int64_t first, size_t tokens, Lattice *f) noexcept nogil:
    """As ``forward``, of a chain of either order or a tree."""
    if is_tree(c, first):
        return gather(c, first, tokens, f)
    return forward_states(c, tokens, f) if c.states else forward(c, tokens, f)
