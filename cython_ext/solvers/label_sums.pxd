"""Sums over all label sequences of a chain of order 2, whose paths are in states (see solvers/label_chain.pxd), and over all labellings
of a tree, by messages from the leaves to the root and back (belief propagation, which is exact on trees: Pearl 1988; Wainwright and
Jordan 2008, 2.5).

The state after a label depends on this label and the one before it alone, so all that goes over a transition goes on together.
Messages add to scores by their logarithms: a token may have any number of children, whose product has no bounds.
"""

from libc.math cimport exp, log
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from solvers.label_chain cimport Chain, Lattice, before_of, forward, is_tree, normalize, step_of


cdef inline void add_flow(const Chain *c, const double *before, const Lattice *f, double *flow) noexcept nogil:
    """Set ``flow`` (L, L) to what goes from the states ``before`` over each transition, without the factors of these."""
    cdef size_t labels = c.labels, s, y
    cdef double *into
    cdef const double *triple
    memset(flow, 0, labels * labels * sizeof(double))
    for s in range(c.states):
        if before[s] == 0:
            continue
        into, triple = flow + c.last[s] * labels, f.triple + s * labels
        for y in range(labels):
            into[y] += before[s] * triple[y]


cdef inline double forward_states(const Chain *c, size_t tokens, Lattice *f) noexcept nogil:
    """As ``forward``."""
    cdef size_t labels = c.labels, t, i
    cdef const double *step
    cdef double *now
    cdef double log_normalizer = 0
    for t in range(tokens):
        if c.stop[0]:
            break
        now = f.alpha + t * c.states
        memset(now, 0, c.states * sizeof(double))
        if not t:
            for i in range(labels):
                now[i] = f.psi[i]
        else:
            add_flow(c, now - c.states, f, f.flow)
            step = step_of(c, t, f)
            for i in range(labels * labels):
                now[c.state_after[i]] += f.flow[i] * step[i]
            for i in range(c.states):
                now[i] *= f.psi[t * labels + c.last[i]]
        log_normalizer += normalize(now, c.states, &f.scale[t])
    return log_normalizer


cdef inline void backward_states(const Chain *c, size_t t, double *beta, Lattice *f) noexcept nogil:
    """Make of the beta of token ``t`` that of token ``t - 1``; ``flow`` gets step * psi * beta / scale of each transition."""
    cdef size_t labels = c.labels, y, z, s, i
    cdef const double *step = step_of(c, t, f)
    cdef const double *triple
    cdef const double *into
    cdef double total
    for z in range(labels):
        for y in range(labels):
            i = z * labels + y
            f.flow[i] = step[i] * f.psi[t * labels + y] * beta[c.state_after[i]] / f.scale[t]
    for s in range(c.states):
        into, triple = f.flow + c.last[s] * labels, f.triple + s * labels
        total = 0
        for y in range(labels):
            total += triple[y] * into[y]
        beta[s] = total


cdef inline void add_expected_triples(const Chain *c, const double *before, Lattice *f) noexcept nogil:
    """Add the expected labels after each state, from the ``flow`` of ``backward_states``."""
    cdef size_t labels = c.labels, s, y
    cdef const double *into
    cdef double *expected
    for s in range(c.states):
        if before[s] == 0:
            continue
        into, expected = f.flow + c.last[s] * labels, f.expected_triple + s * labels
        for y in range(labels):
            expected[y] += before[s] * into[y]


cdef inline void sum_expected(const Chain *c, Lattice *f) noexcept nogil:
    """Apply the factors ``triple`` to ``expected_triple``; ``expected`` gets the sums by transition."""
    cdef size_t labels = c.labels, s, y, i
    memset(f.expected, 0, labels * labels * sizeof(double))
    for s in range(c.states):
        for y in range(labels):
            i = s * labels + y
            f.expected_triple[i] *= f.triple[i]
            f.expected[c.last[s] * labels + y] += f.expected_triple[i]


cdef inline void add_shares(const Chain *c, size_t t, const double *beta, const Lattice *f, double factor,
                            double *out) noexcept nogil:
    """Add ``factor`` times p(y_t = y | x) to ``out``, float64[L]."""
    cdef size_t s
    for s in range(c.states):
        out[c.last[s]] += factor * f.alpha[t * c.states + s] * beta[s]


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
