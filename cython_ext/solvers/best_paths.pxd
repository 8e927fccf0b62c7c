"""The best label sequence, whatever the structure: a chain of order 1 (see solvers/best_labels.pxd) or 2, whose paths are in states (see
solvers/label_chain.pxd), or a tree, by messages from the leaves to the root.

The best labelling of a tree that has a wrong label: below a token with its true label all may be true but in one branch, that where
a wrong label costs least. What it costs at least is in ``scale``; ``psi`` tells below which tokens a label has yet to be wrong.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from solvers.best_labels cimport first_best, other_viterbi, path_score, viterbi, ways_into
from solvers.label_chain cimport Chain, Lattice, Weights, before_of, first_triple, is_tree, triple_of


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
