"""Linear-chain conditional random fields: sums over all label sequences (Lafferty, McCallum, Pereira, ICML 2001; scaling as in
Rabiner, 1989). A sequence of one token without transitions is a multinomial example.

A pair of a feature and a label has a weight; each feature has a list of its pairs. For an edge feature the label of a pair is
combined from two labels: the previous token's times ``labels`` plus this token's. The weights are those of state pairs, then of
edge pairs, then of labels * labels transitions, then, in a chain of order 2, those of a label after each ``history``.

Each token but the first is after the one before it. In a tree a token is after its parent, and the root is after none. A sequence
of a tree whose tokens are each after the one before is a chain, and is computed as one.

A chain of order 2 has weights for labels after some pairs of labels, the histories. A path is in a state at every token: in a
history, if its last two labels are one, else in its last label alone. States are numbered as labels are, then histories.
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
    const int64_t *start        # (tokens + 1,) first feature of each token
    const uint32_t *feature     # (terms,)
    const float *value          # (terms,)
    const int64_t *pair_start   # (features + 1,) first pair of each feature
    const uint32_t *pair_label  # (pairs,)
    size_t base                 # index of the first pair's weight


cdef struct Chain:
    const int64_t *sequence       # (sequences + 1,) first token of each sequence
    const int32_t *label          # (tokens,)
    const double *weight          # (sequences,) importance
    Terms state, edge             # features of tokens, and of pairs of adjacent tokens
    bint edges                    # whether there are edge features
    int labels                    # number of labels
    bint transitions              # whether there are transition weights
    size_t first_transition       # index of the first transition's weight
    size_t states                 # labels and histories; 0: there are no histories
    const int32_t *last           # (states,) the label of each state
    const int32_t *state_after    # (L, L) the state of a path that ends with these two labels
    const int32_t *parent         # (tokens,) the token that a token is after, -1: none; numbers within the sequence; NULL: chains
    const int32_t *order          # (tokens,) a sequence's tokens, parents first; where it is a chain, its first entry is -1
    const volatile uint8_t *stop  # set to 1 when a signal asks to stop; results are then undefined


cdef struct Weights:
    double *weight              # (weights,)
    double *memory              # (weights,) see solvers/l1_penalties.pxd; NULL: no penalties are outstanding
    int penalty                 # as in Schedule
    double cumulative_penalty   # u_k
    int32_t *state_step         # (features,) the step in which the weights of a feature were last settled
    int32_t *edge_step          # (edge features,) likewise
    int32_t step                # the current step


cdef struct Lattice:            # forward-backward variables of one sequence; L is the number of labels
    double *psi              # (capacity, L) exp(state score - maximum over the token's labels)
    double *score            # (capacity, L) state scores; in the backward pass their gradient
    double *alpha            # (capacity, width) forward variables, scaled to sum to 1 per token; width: states, or L
    double *scale            # (capacity,) the sums they are divided by
    double *step             # (L, L) exp(transition - max_transition); with edge features (capacity, L, L)
    double *step_transposed  # (L, L) step transposed
    double *expected         # (L, L) expected counts of transitions
    double *beta             # (2, width) backward variables of a token, and a buffer
    double *edge             # (L, L) scores of a token's edge features; in the backward pass their gradient
    double *triple           # (states, L) exp(weight of the label after the state - max_triple); of a label alone the weight is 0
    double *expected_triple  # (states, L) expected counts, without the factor ``triple``
    double *flow             # (L, L) what goes over each transition into a token
    size_t root              # the token of a tree that is after none, 0 of a chain
    size_t capacity
    double max_transition    # maximum of the transition weights
    double max_triple        # maximum of the histories' weights, and of 0


cdef inline bint grow(double **array, size_t size) noexcept nogil:
    cdef void *grown = realloc(array[0], (size if size else 1) * sizeof(double))
    if grown == NULL:
        return False
    array[0] = <double *>grown
    return True


cdef inline void open_lattice(Lattice *f) noexcept nogil:
    memset(f, 0, sizeof(Lattice))


cdef inline void close_lattice(Lattice *f) noexcept nogil:
    free(f.psi)
    free(f.score)
    free(f.alpha)
    free(f.scale)
    free(f.step)
    free(f.step_transposed)
    free(f.expected)
    free(f.beta)
    free(f.edge)
    free(f.triple)
    free(f.expected_triple)
    free(f.flow)


cdef inline bint is_tree(const Chain *c, int64_t first) noexcept nogil:
    """Whether the sequence that begins with token ``first`` is a tree, and no chain."""
    return c.order != NULL and c.order[first] >= 0


cdef inline int64_t before_of(const Chain *c, int64_t first, size_t t) noexcept nogil:
    """The token of the sequence that token ``t`` is after; -1: none."""
    return c.parent[first + t] if c.parent != NULL else <int64_t>t - 1


cdef inline size_t width_of(const Chain *c) noexcept nogil:
    """How many states a path may be in."""
    return c.states if c.states else <size_t>c.labels


cdef inline size_t first_triple(const Chain *c) noexcept nogil:
    """The index of the weight of label 0 after the first history."""
    return c.first_transition + <size_t>c.labels * c.labels


cdef inline int64_t triple_of(const Chain *c, int32_t state, int32_t label) noexcept nogil:
    """The index of the weight of a label after a state; -1 after a label alone."""
    return <int64_t>first_triple(c) + <int64_t>(state - c.labels) * c.labels + label if state >= c.labels else -1


cdef inline bint reserve_tokens(const Chain *c, size_t tokens, Lattice *f) noexcept nogil:
    """False when memory has run out."""
    cdef size_t labels = c.labels, square = labels * labels, width = width_of(c)
    if f.capacity and tokens <= f.capacity:
        return True
    tokens = max(2 * f.capacity, max(tokens, <size_t>64))
    if not (grow(&f.psi, tokens * labels) and grow(&f.score, tokens * labels) and grow(&f.alpha, tokens * width)):
        return False
    if not (grow(&f.scale, tokens) and grow(&f.step, (tokens if c.edges else 1) * square) and grow(&f.step_transposed, square)):
        return False
    if not (grow(&f.expected, square) and grow(&f.beta, 2 * width) and grow(&f.edge, square)):
        return False
    if c.states and not (grow(&f.triple, width * labels) and grow(&f.expected_triple, width * labels) and grow(&f.flow, square)):
        return False
    f.capacity = tokens
    return True


cdef inline void settle_terms(const Terms *terms, int64_t token, const Weights *w, int32_t *settled) noexcept nogil:
    """Apply outstanding penalties to the weights of a token's features, once for each feature in a step."""
    cdef int64_t i, pair, number
    cdef uint32_t feature
    for i in range(terms.start[token], terms.start[token + 1]):
        feature = terms.feature[i]
        if settled[feature] == w.step:
            continue
        settled[feature] = w.step
        pair = terms.pair_start[feature]
        number = terms.base + pair
        settle_all(w.weight + number, w.memory + number, terms.pair_start[feature + 1] - pair, w.penalty, w.cumulative_penalty)


cdef inline void prefetch_token(const Terms *terms, int64_t token, const Weights *w, const int32_t *settled,
                                bint weights) noexcept nogil:
    """Prefetch the data of a later token: the offsets of its features' pairs or, with ``weights``, the pairs and their weights.
    """
    cdef int64_t i, pair
    cdef uint32_t feature
    for i in range(terms.start[token], terms.start[token + 1]):
        feature = terms.feature[i]
        if not weights:
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


cdef inline void add_to_pairs(const Terms *terms, int64_t token, const double *slope, double *out, double step) noexcept nogil:
    """Add ``step`` times the gradient by label, ``slope``, to the entries of a token's pairs in ``out``."""
    cdef int64_t i, pair
    cdef uint32_t feature
    cdef double value
    out += terms.base
    for i in range(terms.start[token], terms.start[token + 1]):
        feature, value = terms.feature[i], step * terms.value[i]
        for pair in range(terms.pair_start[feature], terms.pair_start[feature + 1]):
            out[pair] += value * slope[terms.pair_label[pair]]


cdef inline void compute_triples(const Chain *c, const Weights *w, Lattice *f) noexcept nogil:
    cdef size_t square = <size_t>c.labels * c.labels, weights = (c.states - c.labels) * c.labels, i
    cdef const double *weight = w.weight + first_triple(c)
    f.max_triple = 0
    for i in range(weights):
        f.max_triple = max(f.max_triple, weight[i])
    for i in range(square):
        f.triple[i] = exp(-f.max_triple)
    for i in range(weights):
        f.triple[square + i] = exp(weight[i] - f.max_triple)


cdef inline void compute_transitions(const Chain *c, const Weights *w, Lattice *f) noexcept nogil:
    cdef size_t labels = c.labels, i, j
    cdef double *transition = w.weight + c.first_transition
    f.max_transition = -INFINITY
    if w.memory != NULL:
        for i in range(width_of(c)):
            settle_all(transition + i * labels, w.memory + c.first_transition + i * labels, labels, w.penalty,
                       w.cumulative_penalty)
    for i in range(labels * labels):
        if transition[i] > f.max_transition:
            f.max_transition = transition[i]
    for i in range(labels):
        for j in range(labels):
            f.step[i * labels + j] = exp(transition[i * labels + j] - f.max_transition)
            f.step_transposed[j * labels + i] = f.step[i * labels + j]
    if c.states:
        compute_triples(c, w, f)


cdef inline double *step_of(const Chain *c, size_t t, Lattice *f) noexcept nogil:
    """The transition factors (L, L) into token ``t``. Those of token 0 of a tree are in the place of the root, which has none."""
    return f.step + (t if t else f.root) * c.labels * c.labels if c.edges else f.step


cdef inline void compute_edges(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f) noexcept nogil:
    """Fill ``step`` for the tokens that are after others: the transition factors, which are stored first, times exp of the edge
    scores.
    """
    cdef size_t t, i, square = <size_t>c.labels * c.labels
    cdef double *step
    for t in range(tokens):
        if c.stop[0]:
            return
        if t == f.root:
            continue
        memset(f.edge, 0, square * sizeof(double))
        if w.memory != NULL:
            settle_terms(&c.edge, first + t, w, w.edge_step)
        add_scores(&c.edge, first + t, w, f.edge)
        step = step_of(c, t, f)
        for i in range(square):
            step[i] = f.step[i] * exp(f.edge[i]) if f.edge[i] != 0 else f.step[i]


cdef inline void compute_state_scores(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f) noexcept nogil:
    cdef size_t labels = c.labels, t
    memset(f.score, 0, tokens * labels * sizeof(double))
    for t in range(tokens):
        if t + 2 * AHEAD < tokens:
            prefetch_token(&c.state, first + t + 2 * AHEAD, w, w.state_step, False)
        if t + AHEAD < tokens:
            prefetch_token(&c.state, first + t + AHEAD, w, w.state_step, True)
        if w.memory != NULL:
            settle_terms(&c.state, first + t, w, w.state_step)
        add_scores(&c.state, first + t, w, f.score + t * labels)


cdef inline double exponentiate(const Chain *c, size_t tokens, Lattice *f) noexcept nogil:
    """Fill ``psi``; returns the sum of the maxima that were subtracted."""
    cdef size_t labels = c.labels, t, y
    cdef double *score
    cdef double top, subtracted = 0
    for t in range(tokens):
        score = f.score + t * labels
        top = score[0]
        for y in range(1, labels):
            top = score[y] if score[y] > top else top
        for y in range(labels):
            f.psi[t * labels + y] = exp(score[y] - top)
        subtracted += top
    return subtracted


cdef inline double compute_scores(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f) noexcept nogil:
    """Compute scores and their exponentials; returns the sum of the maxima that were subtracted before exp."""
    cdef double subtracted = 0
    f.root = c.order[first] if is_tree(c, first) else 0
    compute_state_scores(c, first, tokens, w, f)
    if not is_tree(c, first):
        subtracted = exponentiate(c, tokens, f)
    if c.transitions and tokens > 1:
        compute_transitions(c, w, f)
        subtracted += (tokens - 1) * (f.max_transition + (f.max_triple if c.states else 0))
        if c.edges:
            compute_edges(c, first, tokens, w, f)
    return subtracted


cdef inline double normalize(double *values, size_t n, double *sum) noexcept nogil:
    """Scale values to sum to 1; returns the log of the sum, which ``sum`` gets."""
    cdef double total = 0, share
    cdef size_t i
    for i in range(n):
        total += values[i]
    sum[0] = total
    share = 1 / total
    for i in range(n):
        values[i] *= share
    return log(total)


cdef inline double forward(const Chain *c, size_t tokens, Lattice *f) noexcept nogil:
    """Fill ``alpha`` and ``scale``; returns the log of the normaliser, without the maxima that ``compute_scores`` subtracted."""
    cdef size_t labels = c.labels, t, y, z
    cdef const double *step
    cdef double *now
    cdef double *before
    cdef double log_normalizer = 0
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
        log_normalizer += normalize(now, labels, &f.scale[t])
    return log_normalizer


cdef inline double triples_score(const Chain *c, size_t tokens, const int32_t *label, const Weights *w) noexcept nogil:
    """What the weights of histories add to the score of these labels."""
    cdef double total = 0
    cdef int64_t weight
    cdef size_t t
    if not c.states:
        return 0
    for t in range(2, tokens):
        weight = triple_of(c, c.state_after[label[t - 2] * c.labels + label[t - 1]], label[t])
        if weight >= 0:
            total += w.weight[weight]
    return total


cdef inline double label_score(const Chain *c, int64_t first, size_t tokens, const Weights *w, Lattice *f) noexcept nogil:
    """The score of the true labels; outstanding penalties must have been applied."""
    cdef size_t labels = c.labels, t, edge_index
    cdef int64_t before
    cdef double total = triples_score(c, tokens, c.label + first, w)
    for t in range(tokens):
        total += f.score[t * labels + c.label[first + t]]
        before = before_of(c, first, t)
        if c.transitions and before >= 0:
            edge_index = c.label[first + before] * labels + c.label[first + t]
            if c.edges:
                total += log(step_of(c, t, f)[edge_index]) + f.max_transition
            else:
                total += w.weight[c.first_transition + edge_index]
    return total


cdef inline void backward_step(const Chain *c, size_t t, const double *beta, double *earlier, double *inflow,
                               Lattice *f) noexcept nogil:
    """Set ``earlier`` to the beta of token ``t - 1``, and ``inflow`` to psi * beta / scale of token ``t``."""
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
                earlier[z] += f.step_transposed[y * labels + z] * inflow[y]
