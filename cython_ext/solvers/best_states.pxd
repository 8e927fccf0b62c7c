"""Max-sum over the label sequences of a chain of order 2, whose paths are in states: see solvers/label_chain.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from solvers.best_labels cimport first_best, ways_into
from solvers.label_chain cimport Chain, Lattice, Weights, first_triple, triple_of


cdef inline double after(const Chain *c, int32_t state, int32_t label, const double *way, const Weights *w) noexcept nogil:
    """What a label adds to a path in this state, but for the score of its token."""
    cdef int64_t weight = triple_of(c, state, label)
    return (w.weight[weight] if weight >= 0 else 0) + way[c.last[state] * c.labels + label]


cdef inline void extend_states(const Chain *c, const double *before, const double *way, const Weights *w, Lattice *f,
                               double *now) noexcept nogil:
    """The best paths into each state, but for the scores of the token."""
    cdef size_t labels = c.labels, s, y, i
    cdef const double *triple = w.weight + first_triple(c)
    cdef double *into
    cdef double value
    for i in range(labels * labels):
        f.flow[i] = -INFINITY
    for s in range(c.states):
        into = f.flow + c.last[s] * labels
        for y in range(labels):
            value = before[s] + triple[(s - labels) * labels + y] if s >= labels else before[s]
            into[y] = value if value > into[y] else into[y]
    for s in range(c.states):
        now[s] = -INFINITY
    for i in range(labels * labels):
        value = f.flow[i] + way[i]
        s = c.state_after[i]
        now[s] = value if value > now[s] else now[s]


cdef inline int32_t origin_of_state(const Chain *c, const double *before, const double *way, const Weights *w, int32_t state,
                                    double *best) noexcept nogil:
    """The state that the best way into ``state`` comes from, of equal ones the first; ``best`` gets the score."""
    cdef int32_t origin = 0, s, label = c.last[state]
    cdef double value
    best[0] = -INFINITY
    for s in range(<int32_t>c.states):
        if c.state_after[c.last[s] * c.labels + label] != state:
            continue
        value = before[s] + after(c, s, label, way, w)
        if value > best[0]:
            best[0], origin = value, s
    return origin


cdef inline int32_t true_state(const Chain *c, int64_t first, size_t t) noexcept nogil:
    """The state of the true labels at token ``t`` of a sequence."""
    cdef int64_t token = first + t
    return c.state_after[c.label[token - 1] * c.labels + c.label[token]] if t else c.label[token]


cdef inline void leave_true(const Chain *c, int64_t first, size_t t, const double *way, const Weights *w, Lattice *f,
                            double *now) noexcept nogil:
    """Let the path whose labels were all true, whose scores are in ``scale``, go on with a wrong label."""
    cdef int32_t state = true_state(c, first, t - 1), right = c.label[first + t], y, to
    for y in range(c.labels):
        if y != right:
            to = c.state_after[c.last[state] * c.labels + y]
            now[to] = max(now[to], f.scale[t - 1] + after(c, state, y, way, w))
    f.scale[t] = f.scale[t - 1] + after(c, state, right, way, w) + f.score[t * c.labels + right]


cdef inline void fill_states(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f,
                             bint other) noexcept nogil:
    """Fill ``alpha`` with the scores of the best paths, with ``other`` of those that have a wrong label."""
    cdef size_t labels = c.labels, t, s
    cdef double *now
    cdef const double *way
    for t in range(tokens):
        if c.stop[0]:
            return
        now = f.alpha + t * c.states
        if not t:
            for s in range(c.states):
                now[s] = f.score[s] if s < labels else -INFINITY
            if other:
                f.scale[0] = f.score[c.label[first]]
                now[c.label[first]] = -INFINITY
            continue
        way = ways_into(c, first + t, w, f)
        extend_states(c, now - c.states, way, w, f, now)
        if other:
            leave_true(c, first, t, way, w, f, now)
        for s in range(c.states):
            now[s] += f.score[t * labels + c.last[s]]


cdef inline double best_states(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, int32_t *found,
                               double *true_score) noexcept nogil:
    """The best label sequence and its score, of equal scores the first state wins. Where ``true_score`` is not NULL, the best one
    that has a wrong label, -INFINITY if there is none; ``true_score`` gets the score of the true one.
    """
    cdef size_t t = tokens - 1
    cdef bint other = true_score != NULL
    cdef int32_t state, origin, before
    cdef const double *way
    cdef double value, best
    fill_states(c, first, tokens, w, f, other)
    if c.stop[0]:
        return 0
    if other:
        true_score[0] = f.scale[t]
    state = first_best(f.alpha + t * c.states, c.states)
    best = f.alpha[t * c.states + state]
    found[t] = c.last[state]
    while t:
        way = ways_into(c, first + t, w, f)
        origin = origin_of_state(c, f.alpha + (t - 1) * c.states, way, w, state, &value)
        before = true_state(c, first, t - 1) if other else 0
        if other and found[t] != c.label[first + t] and c.state_after[c.last[before] * c.labels + found[t]] == state:
            if f.scale[t - 1] + after(c, before, found[t], way, w) >= value:
                break
        t -= 1
        state = origin
        found[t] = c.last[state]
    while t:
        t -= 1
        found[t] = c.label[first + t]
    return best
