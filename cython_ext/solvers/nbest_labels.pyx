"""The K best label sequences of chains of order 1 or 2 and of trees, exactly.

A labelling is a row of choices, one a token: of a chain from its last token to the first, where ``alpha`` of the Viterbi algorithm
has the best score of all before; of a tree from its root to the leaves, where ``alpha`` has that of all below. A choice that is
not the best one costs what it is worse by, and nothing after it need cost more. So all labellings but those that are found are
divided into sets, each by a labelling that is found, a token up to which it is followed, and the next best choice there, whose
best members and their scores are known (Lawler, Management Science 1972; Nilsson and Goldberger, IJCAI 2001).
"""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from solvers.best_labels cimport room_for_labels, ways_into
from solvers.best_paths cimport after, best_path
from solvers.chain_arrays cimport open_chain
from solvers.label_chain cimport (
    Chain, Lattice, Weights, before_of, close_lattice, compute_scores, compute_state_scores, is_tree, open_lattice,
    reserve_tokens, width_of,
)
from solvers.label_sums cimport forward_any


cdef struct Candidate:          # the best labelling of a set
    double score
    size_t path                 # the labelling that it follows
    size_t place                # up to this choice, which is another one
    int32_t state               # that choice


cdef struct Search:             # of one sequence
    size_t most                 # labellings wanted
    size_t found                # labellings found
    int32_t *path               # (most, tokens) their states
    double *score               # (most,)
    size_t *place               # (most,) the choice that sets each apart from those found before it
    Candidate *candidates       # (most,) the best ones, the best first and of equal ones the first
    size_t waiting              # how many there are
    double *value               # (width,) the best scores of labellings by a choice, but for what all have in common
    int32_t *labels             # (tokens,) room for one labelling


cdef inline size_t token_of(const Chain *c, int64_t first, size_t tokens, size_t place) noexcept nogil:
    return c.order[first + place] if is_tree(c, first) else tokens - 1 - place


cdef inline void weigh_choices(const Chain *c, int64_t first, size_t tokens, size_t place, const int32_t *path,
                               const Weights *w, Lattice *f, double *value) noexcept nogil:
    """Fill ``value`` for a choice after those of ``path``, -INFINITY where it is none."""
    cdef size_t width = width_of(c), t = token_of(c, first, tokens, place), s
    cdef const double *now = f.alpha + t * width
    cdef const double *way
    cdef int32_t label
    if not place:
        memcpy(value, now, width * sizeof(double))
    elif is_tree(c, first):
        way = ways_into(c, first + t, w, f) + path[before_of(c, first, t)] * c.labels
        for s in range(width):
            value[s] = way[s] + now[s]
    elif c.states:
        way, label = ways_into(c, first + t + 1, w, f), c.last[path[t + 1]]
        for s in range(width):
            value[s] = -INFINITY
            if c.state_after[c.last[s] * c.labels + label] == path[t + 1]:
                value[s] = now[s] + after(c, <int32_t>s, label, way, w)
    else:
        way = ways_into(c, first + t + 1, w, f)
        for s in range(width):
            value[s] = now[s] + way[s * c.labels + path[t + 1]]


cdef inline int32_t next_choice(const double *value, size_t width, int32_t state) noexcept nogil:
    """The best choice that comes after ``state`` (-1: the best of all), of equal ones the first; -1: there is none."""
    cdef int32_t best = -1, s
    for s in range(<int32_t>width):
        if value[s] == -INFINITY or (state >= 0 and (value[s] > value[state] or (value[s] == value[state] and s <= state))):
            continue
        if best < 0 or value[s] > value[best]:
            best = s
    return best


cdef inline void add_candidate(Search *s, const Candidate *one) noexcept nogil:
    """Without those that are worse than as many as are still wanted."""
    cdef size_t most = s.most - s.found, low = 0, high = s.waiting, middle
    while low < high:
        middle = (low + high) // 2
        if s.candidates[middle].score >= one.score:
            low = middle + 1
        else:
            high = middle
    if low >= most:
        return
    s.waiting = min(s.waiting + 1, most)
    memmove(s.candidates + low + 1, s.candidates + low, (s.waiting - 1 - low) * sizeof(Candidate))
    s.candidates[low] = one[0]


cdef inline void divide(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, Search *s) noexcept nogil:
    """Add the best of what is in the set of the last labelling found beside itself."""
    cdef size_t last = s.found - 1, width = width_of(c), place, t
    cdef const int32_t *path = s.path + last * tokens
    cdef Candidate one
    if s.found == s.most:
        return
    one.path = last
    for place in range(s.place[last], tokens):
        if c.stop[0]:
            return
        t = token_of(c, first, tokens, place)
        weigh_choices(c, first, tokens, place, path, w, f, s.value)
        one.place, one.state = place, next_choice(s.value, width, path[t])
        if one.state >= 0:
            one.score = s.score[last] + (s.value[one.state] - s.value[path[t]])
            add_candidate(s, &one)


cdef inline void take_path(const Chain *c, int64_t first, size_t tokens, const Candidate *one, const Weights *w, Lattice *f,
                           Search *s) noexcept nogil:
    """Make of a candidate a labelling that is found. The first one is of no other."""
    cdef size_t place = one.place, width = width_of(c)
    cdef int32_t *path = s.path + s.found * tokens
    s.score[s.found], s.place[s.found] = one.score, one.place
    if s.found:
        memcpy(path, s.path + one.path * tokens, tokens * sizeof(int32_t))
        path[token_of(c, first, tokens, place)] = one.state
        place += 1
    while place < tokens:
        if c.stop[0]:
            return
        weigh_choices(c, first, tokens, place, path, w, f, s.value)
        path[token_of(c, first, tokens, place)] = max(next_choice(s.value, width, -1), 0)
        place += 1
    s.found += 1


cdef inline void find_paths(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f, Search *s) noexcept nogil:
    """The best labellings of a sequence, whose state scores must have been computed."""
    cdef Candidate one
    s.found = s.waiting = 0
    one.path, one.place, one.state = 0, 0, 0
    one.score = best_path(c, first, tokens, w, f, s.labels)
    while not c.stop[0]:
        take_path(c, first, tokens, &one, w, f, s)
        divide(c, first, tokens, w, f, s)
        if s.found == s.most or not s.waiting:
            return
        one = s.candidates[0]
        s.waiting -= 1
        memmove(s.candidates, s.candidates + 1, s.waiting * sizeof(Candidate))


cdef int find_all(const Chain *c, size_t sequences, const Weights *w, Lattice *f, Search *s, bint normalized, int32_t *label,
                  double *score, size_t all_tokens) noexcept nogil:
    cdef size_t row, tokens, i, t
    cdef int64_t first
    cdef double log_normalizer = 0
    cdef int status = OK
    for row in range(sequences):
        first, tokens = c.sequence[row], c.sequence[row + 1] - c.sequence[row]
        for i in range(s.most):
            score[i * sequences + row] = -INFINITY
        if not tokens:
            score[row] = 0
            continue
        if not reserve_tokens(c, tokens, f):
            return NO_MEMORY
        if normalized:
            log_normalizer = compute_scores(c, first, tokens, w, f) + forward_any(c, first, tokens, f)
        else:
            compute_state_scores(c, first, tokens, w, f)
        find_paths(c, first, tokens, w, f, s)
        if c.stop[0]:
            return STOPPED
        if not isfinite(log_normalizer) or not isfinite(s.score[0]):
            status = UNSTABLE
        for i in range(s.found):
            score[i * sequences + row] = s.score[i] - log_normalizer
            for t in range(tokens):
                label[i * all_tokens + first + t] = s.path[i * tokens + t]
                if c.states:
                    label[i * all_tokens + first + t] = c.last[s.path[i * tokens + t]]
    return status


def nbest(data, pairs, const double[::1] weights, bint normalized, int32_t[:, ::1] label, double[:, ::1] score):
    """The best labels of every sequence into ``label`` int32[K, tokens], the best first, and their scores into ``score``
    float64[K, sequences], -infinity where there are fewer; ``normalized``: logarithms of their probabilities. Returns a status of
    base/status.pxd.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef Weights w
    cdef Lattice f
    cdef Search s
    cdef int status = NO_MEMORY
    cdef size_t sequences = data.sequence.shape[0] - 1, longest = max(data.longest, 1)
    if weights.shape[0] != pairs.weights or label.shape[1] != data.label.shape[0] or not label.shape[0]:
        raise ValueError("the weights or the labels do not fit")
    if score.shape[0] != label.shape[0] or <size_t>score.shape[1] != sequences:
        raise ValueError("the scores do not fit")
    if not label.shape[1]:
        return OK
    w.weight, w.memory = <double *>&weights[0] if weights.shape[0] else NULL, NULL
    w.state_step = w.edge_step = NULL
    s.most = label.shape[0]
    s.path = <int32_t *>malloc(s.most * longest * sizeof(int32_t))
    s.score = <double *>malloc(s.most * sizeof(double))
    s.place = <size_t *>malloc(s.most * sizeof(size_t))
    s.candidates = <Candidate *>malloc(s.most * sizeof(Candidate))
    s.value = <double *>malloc(width_of(&c) * sizeof(double))
    s.labels = room_for_labels(&c, sequences)
    open_lattice(&f)
    with nogil:
        if s.path and s.score and s.place and s.candidates and s.value and s.labels:
            status = find_all(&c, sequences, &w, &f, &s, normalized, &label[0, 0], &score[0, 0], label.shape[1])
        close_lattice(&f)
        free(s.path)
        free(s.score)
        free(s.place)
        free(s.candidates)
        free(s.value)
        free(s.labels)
    return status
