"""Max-sum over label sequences: the Viterbi algorithm, also with the cost of wrong labels added to the scores, and the best
sequence other than the true one. State scores must have been computed; they are those of ``Lattice.score``.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset

from solvers.l1_penalties cimport settle_all
from solvers.label_chain cimport Chain, Lattice, Weights, add_scores, before_of, settle_terms, triples_score, width_of


cdef extern from * nogil:
    """
    /* The inner loop of the Viterbi algorithm (see solvers/best_labels.pxd), without branches: which way is better is hard to
     * predict. */

    #include <stddef.h>

    /* now[y] = the maximum over z of before[z] + way[z * labels + y]. */
    static inline void vwl_best_ways(const double *restrict way, const double *restrict before, size_t labels, double *restrict now) {
        for (size_t y = 0; y < labels; y++)
            now[y] = before[0] + way[y];
        for (size_t z = 1; z < labels; z++) {
            const double *restrict row = way + z * labels;
            const double base = before[z];
            for (size_t y = 0; y < labels; y++) {
                double here = base + row[y];
                now[y] = here > now[y] ? here : now[y];
            }
        }
    }
    """
    void best_ways "vwl_best_ways"(const double *way, const double *before, size_t labels, double *now) noexcept


cdef inline int32_t *room_for_labels(const Chain *c, size_t sequences) noexcept nogil:
    """Of the longest of the first ``sequences`` sequences, to be freed; NULL when memory has run out."""
    cdef size_t row, longest = 1
    for row in range(sequences):
        longest = max(longest, <size_t>(c.sequence[row + 1] - c.sequence[row]))
    return <int32_t *>malloc(longest * sizeof(int32_t))


cdef inline void settle_transitions(const Chain *c, const Weights *w) noexcept nogil:
    if w.memory != NULL and c.transitions:
        settle_all(w.weight + c.first_transition, w.memory + c.first_transition, width_of(c) * c.labels, w.penalty,
                   w.cumulative_penalty)


cdef inline const double *ways_into(const Chain *c, int64_t token, const Weights *w, Lattice *f) noexcept nogil:
    """The scores (L, L) of all transitions into a token."""
    cdef const double *transition = w.weight + c.first_transition
    cdef size_t i, square = <size_t>c.labels * c.labels
    if not c.edges:
        return transition
    memset(f.edge, 0, square * sizeof(double))
    if w.memory != NULL:
        settle_terms(&c.edge, token, w, w.edge_step)
    add_scores(&c.edge, token, w, f.edge)
    for i in range(square):
        f.edge[i] += transition[i]
    return f.edge


cdef inline int32_t origin_of(const double *way, const double *before, size_t labels, size_t y) noexcept nogil:
    """The label that the best way into label ``y`` comes from; of equal ones the first."""
    cdef int32_t origin = 0
    cdef size_t z
    for z in range(1, labels):
        if before[z] + way[z * labels + y] > before[origin] + way[origin * labels + y]:
            origin = <int32_t>z
    return origin


cdef inline int32_t first_best(const double *score, size_t labels) noexcept nogil:
    cdef int32_t best = 0
    cdef size_t y
    for y in range(1, labels):
        if score[y] > score[best]:
            best = <int32_t>y
    return best


cdef inline double viterbi(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, int32_t *found) noexcept nogil:
    """The best label sequence and its score; of equal scores the first label wins."""
    cdef size_t labels = c.labels, t, y
    cdef double *now
    for t in range(tokens):
        if c.stop[0]:
            return 0
        now = f.alpha + t * labels
        if not t:
            memcpy(now, f.score, labels * sizeof(double))
            continue
        best_ways(ways_into(c, first + t, w, f), now - labels, labels, now)
        for y in range(labels):
            now[y] += f.score[t * labels + y]
    t = tokens - 1
    found[t] = first_best(f.alpha + t * labels, labels)
    while t:
        found[t - 1] = origin_of(ways_into(c, first + t, w, f), f.alpha + (t - 1) * labels, labels, found[t])
        t -= 1
    return f.alpha[(tokens - 1) * labels + found[tokens - 1]]


cdef inline void add_costs(const Chain *c, int64_t first, size_t tokens, Lattice *f) noexcept nogil:
    """Add 1 to the score of every wrong label."""
    cdef size_t labels = c.labels, t, y
    for t in range(tokens):
        for y in range(labels):
            if <int32_t>y != c.label[first + t]:
                f.score[t * labels + y] += 1


cdef inline double other_viterbi(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, int32_t *found,
                                 double *true_score) noexcept nogil:
    """The best label sequence that has a wrong label, and its score, -INFINITY if there is none; ``true_score`` gets that of
    the true one. A path is followed in two states: while all its labels are true, of which there is one, whose scores are in
    ``scale``, and after.
    """
    cdef size_t labels = c.labels, t, y
    cdef double *now
    cdef double *same = f.scale
    cdef const double *way
    cdef int32_t right, before
    for t in range(tokens):
        if c.stop[0]:
            return 0
        now, right = f.alpha + t * labels, c.label[first + t]
        same[t] = f.score[t * labels + right]
        if not t:
            memcpy(now, f.score, labels * sizeof(double))
            now[right] = -INFINITY
            continue
        way, before = ways_into(c, first + t, w, f), c.label[first + t - 1]
        best_ways(way, now - labels, labels, now)
        for y in range(labels):
            if <int32_t>y != right:
                now[y] = max(now[y], same[t - 1] + way[before * labels + y])
            now[y] += f.score[t * labels + y]
        same[t] += same[t - 1] + way[before * labels + right]
    true_score[0] = same[tokens - 1]
    t = tokens - 1
    found[t] = first_best(f.alpha + t * labels, labels)
    while t:
        way, before = ways_into(c, first + t, w, f), c.label[first + t - 1]
        now = f.alpha + (t - 1) * labels
        y = found[t]
        found[t - 1] = origin_of(way, now, labels, y)
        if <int32_t>y != c.label[first + t] and same[t - 1] + way[before * labels + y] >= now[found[t - 1]] + way[found[t - 1] * labels + y]:
            break
        t -= 1
    while t:
        t -= 1
        found[t] = c.label[first + t]
    return f.alpha[(tokens - 1) * labels + found[tokens - 1]]


cdef inline double path_score(const Chain *c, int64_t first, size_t tokens, const int32_t *label, const Weights *w,
                              Lattice *f) noexcept nogil:
    """The score of these labels."""
    cdef size_t labels = c.labels, t
    cdef int64_t before
    cdef double total = triples_score(c, tokens, label, w)
    for t in range(tokens):
        total += f.score[t * labels + label[t]]
        before = before_of(c, first, t)
        if c.transitions and before >= 0:
            total += ways_into(c, first + t, w, f)[label[before] * labels + label[t]]
    return total
