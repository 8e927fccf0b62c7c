"""Linear-chain conditional random fields: sums over all label sequences (Lafferty, McCallum, Pereira, ICML 2001; scaling as in
Rabiner, 1989). A sequence of one token without transitions is a multinomial example.

A feature has a list of pairs, the labels it goes with; a pair is a weight. An edge feature's labels are pairs of labels, the
one before times ``labels`` plus this one. Weights: state pairs, then edge pairs, then labels * labels transitions.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from base.byte_scan cimport prefetch
from solvers.l1_penalties cimport settle_all


cdef enum:
    AHEAD = 2                   # tokens between a prefetch and its use


cdef struct Terms:
    const int64_t *start        # (tokens + 1,)
    const uint32_t *feature
    const float *value
    const int64_t *pair_start   # (features + 1,) numbers of weights
    const uint32_t *pair_label  # from the first of these pairs on
    size_t base                 # number of the first pair's weight


cdef struct Chain:
    const int64_t *sequence     # (sequences + 1,) first token of each
    const int32_t *label        # (tokens,)
    const double *weight        # (sequences,) importance
    Terms state, edge
    bint edges                  # whether there are edge features
    int labels
    bint transitions
    size_t first_transition     # number of the weight
    const volatile uint8_t *stop  # not 0: a signal asks to stop, and what is calculated has no meaning


cdef struct Weights:
    double *weight
    double *memory              # see solvers/l1_penalties.pxd; NULL: no penalties are outstanding
    int penalty
    double cumulative_penalty
    int32_t *state_step         # (features,) the step a feature's weights were last settled for
    int32_t *edge_step
    int32_t step                # this one


cdef struct Field:              # of one sequence; L is the number of labels
    double *psi                 # (room, L) exp of the state scores less their maximum
    double *score               # (room, L) the state scores
    double *alpha               # (room, L) scaled, sums to 1 per token
    double *scale               # (room,)
    double *step                # (L, L) exp of the transitions less their maximum; or (room, L, L) with edges
    double *turned              # (L, L) the same transposed
    double *expected            # (L, L)
    double *beta                # (2, L)
    double *edge                # (L, L) scores of a token's edge features
    size_t room
    double steepest             # maximum of the transitions


cdef inline bint grow(double **array, size_t size) noexcept nogil:
    cdef void *grown = realloc(array[0], (size if size else 1) * sizeof(double))
    if grown == NULL:
        return False
    array[0] = <double *>grown
    return True


cdef inline void open_field(Field *f) noexcept nogil:
    memset(f, 0, sizeof(Field))


cdef inline void close_field(Field *f) noexcept nogil:
    free(f.psi)
    free(f.score)
    free(f.alpha)
    free(f.scale)
    free(f.step)
    free(f.turned)
    free(f.expected)
    free(f.beta)
    free(f.edge)


cdef inline bint make_room(const Chain *c, size_t tokens, Field *f) noexcept nogil:
    """False when memory has run out."""
    cdef size_t labels = c.labels, square = labels * labels
    if f.room and tokens <= f.room:
        return True
    tokens = max(2 * f.room, max(tokens, <size_t>64))
    if not (grow(&f.psi, tokens * labels) and grow(&f.score, tokens * labels) and grow(&f.alpha, tokens * labels)):
        return False
    if not (grow(&f.scale, tokens) and grow(&f.step, (tokens if c.edges else 1) * square) and grow(&f.turned, square)):
        return False
    if not (grow(&f.expected, square) and grow(&f.beta, 2 * labels) and grow(&f.edge, square)):
        return False
    f.room = tokens
    return True


cdef inline void settle_terms(const Terms *terms, int64_t token, const Weights *w, int32_t *settled) noexcept nogil:
    """Apply outstanding penalties to the weights of a token, once in a step."""
    cdef int64_t i, pair, place
    cdef uint32_t feature
    for i in range(terms.start[token], terms.start[token + 1]):
        feature = terms.feature[i]
        if settled[feature] == w.step:
            continue
        settled[feature] = w.step
        pair = terms.pair_start[feature]
        place = terms.base + pair
        settle_all(w.weight + place, w.memory + place, terms.pair_start[feature + 1] - pair, w.penalty, w.cumulative_penalty)


cdef inline void fetch(const Terms *terms, int64_t token, const Weights *w, const int32_t *settled, bint near) noexcept nogil:
    """Where the features of a token to come lead; ``near``: to their weights."""
    cdef int64_t i, pair
    cdef uint32_t feature
    for i in range(terms.start[token], terms.start[token + 1]):
        feature = terms.feature[i]
        if not near:
            prefetch(terms.pair_start + feature)
            prefetch(settled + feature)
            continue
        pair = terms.pair_start[feature]
        prefetch(terms.pair_label + pair)
        prefetch(w.weight + terms.base + pair)
        if w.memory != NULL:
            prefetch(w.memory + terms.base + pair)


cdef inline void add_scores(const Terms *terms, int64_t token, const Weights *w, double *score) noexcept nogil:
    cdef int64_t i, pair
    cdef uint32_t feature
    cdef double value
    cdef const double *weight = w.weight + terms.base
    for i in range(terms.start[token], terms.start[token + 1]):
        feature, value = terms.feature[i], terms.value[i]
        for pair in range(terms.pair_start[feature], terms.pair_start[feature + 1]):
            score[terms.pair_label[pair]] += value * weight[pair]


cdef inline void add_slopes(const Terms *terms, int64_t token, const double *slope, double *out, double step) noexcept nogil:
    """Add ``step`` times the slopes by label to the pairs of a token, in ``out``."""
    cdef int64_t i, pair
    cdef uint32_t feature
    cdef double value
    out += terms.base
    for i in range(terms.start[token], terms.start[token + 1]):
        feature, value = terms.feature[i], step * terms.value[i]
        for pair in range(terms.pair_start[feature], terms.pair_start[feature + 1]):
            out[pair] += value * slope[terms.pair_label[pair]]


cdef inline void read_transitions(const Chain *c, const Weights *w, Field *f) noexcept nogil:
    cdef size_t labels = c.labels, i, j
    cdef double *way = w.weight + c.first_transition
    f.steepest = -INFINITY
    if w.memory != NULL:
        settle_all(way, w.memory + c.first_transition, labels * labels, w.penalty, w.cumulative_penalty)
    for i in range(labels * labels):
        if way[i] > f.steepest:
            f.steepest = way[i]
    for i in range(labels):
        for j in range(labels):
            f.step[i * labels + j] = exp(way[i * labels + j] - f.steepest)
            f.turned[j * labels + i] = f.step[i * labels + j]


cdef inline double *step_of(const Chain *c, size_t t, Field *f) noexcept nogil:
    """The factors between the tokens ``t - 1`` and ``t``."""
    return f.step + t * c.labels * c.labels if c.edges else f.step


cdef inline void read_edges(const Chain *c, int64_t first, size_t tokens, const Weights *w, Field *f) noexcept nogil:
    """The factors of every token, from those of the transitions, which stand in the first token's place."""
    cdef size_t t, i, square = <size_t>c.labels * c.labels
    cdef double *step
    for t in range(1, tokens):
        if c.stop[0]:
            return
        memset(f.edge, 0, square * sizeof(double))
        if w.memory != NULL:
            settle_terms(&c.edge, first + t, w, w.edge_step)
        add_scores(&c.edge, first + t, w, f.edge)
        step = f.step + t * square
        for i in range(square):
            step[i] = f.step[i] * exp(f.edge[i]) if f.edge[i] != 0 else f.step[i]


cdef inline double read_scores(const Chain *c, int64_t first, size_t tokens, const Weights *w, Field *f) noexcept nogil:
    """State scores and their exponentials; returns the sum of what was taken off."""
    cdef size_t labels = c.labels, t, y
    cdef double *score
    cdef double top, taken = 0
    memset(f.score, 0, tokens * labels * sizeof(double))
    for t in range(tokens):
        score = f.score + t * labels
        if t + 2 * AHEAD < tokens:
            fetch(&c.state, first + t + 2 * AHEAD, w, w.state_step, False)
        if t + AHEAD < tokens:
            fetch(&c.state, first + t + AHEAD, w, w.state_step, True)
        if w.memory != NULL:
            settle_terms(&c.state, first + t, w, w.state_step)
        add_scores(&c.state, first + t, w, score)
        top = score[0]
        for y in range(1, labels):
            top = score[y] if score[y] > top else top
        for y in range(labels):
            f.psi[t * labels + y] = exp(score[y] - top)
        taken += top
    if c.transitions and tokens > 1:
        read_transitions(c, w, f)
        taken += (tokens - 1) * f.steepest
        if c.edges:
            read_edges(c, first, tokens, w, f)
    return taken


cdef inline double forward(const Chain *c, size_t tokens, Field *f) noexcept nogil:
    """Fill ``alpha`` and ``scale``; returns the log of the sum over all label sequences of what ``read_scores`` left."""
    cdef size_t labels = c.labels, t, y, z
    cdef const double *step
    cdef double *now
    cdef double *before
    cdef double total, log_normalizer = 0
    for t in range(tokens):
        if c.stop[0]:
            break
        now = f.alpha + t * labels
        if t == 0 or not c.transitions:
            for y in range(labels):
                now[y] = f.psi[t * labels + y]
        else:
            before, step = now - labels, step_of(c, t, f)
            for y in range(labels):
                now[y] = 0
            for z in range(labels):
                for y in range(labels):
                    now[y] += before[z] * step[z * labels + y]
            for y in range(labels):
                now[y] *= f.psi[t * labels + y]
        total = 0
        for y in range(labels):
            total += now[y]
        f.scale[t] = total
        log_normalizer += log(total)
        total = 1 / total
        for y in range(labels):
            now[y] *= total
    return log_normalizer


cdef inline double label_score(const Chain *c, int64_t first, size_t tokens, const Weights *w, const Field *f) noexcept nogil:
    """The score of the true labels; what is outstanding of penalties has been applied."""
    cdef size_t labels = c.labels, t, way
    cdef double total = 0
    for t in range(tokens):
        total += f.score[t * labels + c.label[first + t]]
        if c.transitions and t:
            way = c.label[first + t - 1] * labels + c.label[first + t]
            if c.edges:
                total += log(f.step[t * labels * labels + way]) + f.steepest
            else:
                total += w.weight[c.first_transition + way]
    return total


cdef inline void backward_step(const Chain *c, size_t t, const double *beta, double *earlier, double *inflow, Field *f) noexcept nogil:
    """``earlier`` becomes the beta of token ``t - 1``; ``inflow`` gets psi beta / scale of token ``t``."""
    cdef size_t labels = c.labels, y, z
    cdef const double *step
    cdef double total
    for y in range(labels):
        inflow[y] = f.psi[t * labels + y] * beta[y] / f.scale[t]
        earlier[y] = 0
    if c.edges:
        step = step_of(c, t, f)
        for z in range(labels):
            total = 0
            for y in range(labels):
                total += step[z * labels + y] * inflow[y]
            earlier[z] = total
    else:
        for y in range(labels):
            for z in range(labels):
                earlier[z] += f.turned[y * labels + z] * inflow[y]
