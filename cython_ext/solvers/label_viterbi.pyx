"""The best label sequences of tokens that are scored one by one, with scores for labels in turn (Viterbi, 1967).

Labels are numbered from 0, ``L`` of them; number L stands for what is before a sequence.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from base.status cimport NO_MEMORY, OK, STOPPED


cdef struct Scores:
    const float *token          # (tokens, L)
    const float *pair           # (tokens, L + 1, L) by the label before; NULL: none
    const float *triple         # (L + 1, L + 1, L) by the two labels before; NULL: none
    const uint8_t *allowed      # (L + 1, L) whether a label may follow another one
    size_t labels
    size_t beam                 # pairs of labels that paths go on from, with triples; 0: all


cdef struct Paths:              # of one sequence
    double *best                # (2, L + 1, L) of the paths that end with two labels, at a token and the one before it
    int32_t *before             # (tokens, L + 1, L) the label before those two
    int32_t *kept               # (beam) the pairs that go on, first label times L plus second


cdef inline double step(const Scores *s, size_t t, size_t before, size_t label) noexcept nogil:
    """What a label adds at token ``t`` after another one, -infinity where it may not follow."""
    cdef size_t labels = s.labels
    if not s.allowed[before * labels + label]:
        return -INFINITY
    cdef double sum = s.token[t * labels + label]
    if s.pair != NULL:
        sum += s.pair[(t * (labels + 1) + before) * labels + label]
    return sum


cdef inline void begin_path(const Scores *s, size_t first, double *best) noexcept nogil:
    """Paths of one token: the label before it is L."""
    cdef size_t labels = s.labels, y, z
    for z in range(labels + 1):
        for y in range(labels):
            best[z * labels + y] = -INFINITY
    for y in range(labels):
        best[labels * labels + y] = step(s, first, labels, y)
        if s.triple != NULL:
            best[labels * labels + y] += s.triple[(labels * (labels + 1) + labels) * labels + y]


cdef inline double best_before(const Scores *s, const double *best, size_t z, size_t y, int32_t *before) noexcept nogil:
    """The best path that ends with label ``z`` and goes on with ``y``, and the label before ``z``; of equal ones the first."""
    cdef size_t labels = s.labels, x
    cdef double here = -INFINITY, value
    before[0] = 0
    for x in range(labels + 1):
        value = best[x * labels + z]
        if s.triple != NULL:
            value += s.triple[(x * (labels + 1) + z) * labels + y]
        if value > here:
            here = value
            before[0] = <int32_t>x
    return here


cdef inline void extend_paths(const Scores *s, size_t t, const double *best, double *longer, int32_t *before) noexcept nogil:
    """Paths of one token more. Without scores of triples the label before two others does not depend on the last."""
    cdef size_t labels = s.labels, y, z
    cdef double here
    cdef int32_t chosen
    for y in range(labels):
        longer[labels * labels + y] = -INFINITY
    for z in range(labels):
        here = best_before(s, best, z, 0, &chosen)
        for y in range(labels):
            if y and s.triple != NULL:
                here = best_before(s, best, z, y, &chosen)
            before[z * labels + y] = chosen
            longer[z * labels + y] = here + step(s, t, z, y)


cdef inline size_t keep_best(const double *best, size_t states, size_t most, int32_t *kept) noexcept nogil:
    """The ``most`` best states that can be reached, the best first and of equal ones the first; how many there are."""
    cdef size_t count = 0, i, k
    for i in range(states):
        if best[i] == -INFINITY or (count == most and not best[i] > best[kept[count - 1]]):
            continue
        k = count if count < most else count - 1
        count = k + 1
        while k and best[i] > best[kept[k - 1]]:
            kept[k] = kept[k - 1]
            k -= 1
        kept[k] = <int32_t>i
    return count


cdef inline void extend_kept(const Scores *s, size_t t, const double *best, const int32_t *kept, size_t count,
                             double *longer, int32_t *before) noexcept nogil:
    """Paths of one token more than those that end with the pairs ``kept``."""
    cdef size_t labels = s.labels, i, x, y, z, to
    cdef double here
    for i in range((labels + 1) * labels):
        longer[i] = -INFINITY
        before[i] = 0
    for i in range(count):
        x, z = <size_t>kept[i] // labels, <size_t>kept[i] % labels
        for y in range(labels):
            to = z * labels + y
            here = best[kept[i]] + s.triple[(x * (labels + 1) + z) * labels + y] + step(s, t, z, y)
            if here > longer[to] or (here == longer[to] and <int32_t>x < before[to]):
                longer[to] = here
                before[to] = <int32_t>x


cdef void best_path(const Scores *s, size_t first, size_t tokens, Paths *p, int32_t *out) noexcept nogil:
    cdef size_t labels = s.labels, states = (s.labels + 1) * s.labels, t, i, at = 0
    cdef double *now = p.best
    cdef double *then
    begin_path(s, first, now)
    for t in range(1, tokens):
        then, now = now, p.best + (t % 2) * states
        if s.beam:
            extend_kept(s, first + t, then, p.kept, keep_best(then, states, s.beam, p.kept), now, p.before + t * states)
        else:
            extend_paths(s, first + t, then, now, p.before + t * states)
    for i in range(1, states):
        if now[i] > now[at]:
            at = i
    for i in range(tokens):
        t = tokens - 1 - i
        out[t] = <int32_t>(at % labels)
        if t:
            at = <size_t>p.before[t * states + at] * labels + at // labels


def decode(const float[:, ::1] token, pair, triple, const uint8_t[:, ::1] allowed, const int64_t[::1] sequence,
           int32_t[::1] label, const uint8_t[::1] stop, size_t beam):
    """The best labels of every sequence into ``label``, int32[tokens]. A sequence begins at each entry of ``sequence``, whose
    last one is the number of tokens. ``pair`` and ``triple`` may be None; ``beam``, which counts with ``triple``, is that of
    ``Scores``. Returns a status of base/status.pxd.
    """
    cdef const float[:, :, ::1] pairs
    cdef const float[:, :, ::1] triples
    cdef Scores s
    cdef Paths p
    cdef size_t row, longest = 0, states
    cdef int status = OK
    cdef const volatile uint8_t *stopped = &stop[0]
    s.labels = token.shape[1]
    if label.shape[0] != token.shape[0] or sequence[sequence.shape[0] - 1] != token.shape[0] or not s.labels:
        raise ValueError("the arrays do not fit together")
    if allowed.shape[0] != token.shape[1] + 1 or allowed.shape[1] != token.shape[1]:
        raise ValueError("what may follow does not fit the labels")
    if not token.shape[0]:
        return OK
    s.token, s.allowed, s.pair, s.triple, s.beam = &token[0, 0], &allowed[0, 0], NULL, NULL, 0
    if pair is not None:
        pairs = pair
        if pairs.shape[0] != token.shape[0] or pairs.shape[1] != token.shape[1] + 1 or pairs.shape[2] != token.shape[1]:
            raise ValueError("the scores of pairs do not fit the labels")
        s.pair = &pairs[0, 0, 0]
    if triple is not None:
        triples = triple
        if triples.shape[0] != allowed.shape[0] or triples.shape[1] != allowed.shape[0] or triples.shape[2] != allowed.shape[1]:
            raise ValueError("the scores of triples do not fit the labels")
        s.triple = &triples[0, 0, 0]
        s.beam = min(beam, (s.labels + 1) * s.labels)
    for row in range(<size_t>sequence.shape[0] - 1):
        longest = max(longest, <size_t>(sequence[row + 1] - sequence[row]))
    states = (s.labels + 1) * s.labels
    p.best = <double *>malloc(2 * states * sizeof(double))
    p.before = <int32_t *>malloc(longest * states * sizeof(int32_t))
    p.kept = <int32_t *>malloc((s.beam + 1) * sizeof(int32_t))
    if p.best == NULL or p.before == NULL or p.kept == NULL:
        status = NO_MEMORY
    with nogil:
        for row in range(<size_t>sequence.shape[0] - 1):
            if stopped[0]:
                status = STOPPED
            if status != OK:
                break
            if sequence[row + 1] > sequence[row]:
                best_path(&s, sequence[row], sequence[row + 1] - sequence[row], &p, &label[sequence[row]])
    free(p.best)
    free(p.before)
    free(p.kept)
    return status
