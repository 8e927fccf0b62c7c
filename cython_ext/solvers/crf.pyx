"""Linear-chain CRFs, CRFs on trees and multinomial examples: stochastic steps, batch gradients, Viterbi decoding, marginals.

The parts are in solvers/label_chain.pxd and solvers/best_labels.pxd, the penalties in solvers/l1_penalties.pxd.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from solvers.best_paths cimport best_path
from solvers.chain_arrays cimport open_chain
from solvers.label_chain cimport (
    Chain, Lattice, Terms, Weights, add_to_pairs, backward_step, before_of, close_lattice, compute_scores, compute_state_scores,
    first_triple, is_tree, label_score, open_lattice, reserve_tokens, step_of, triple_of, width_of,
)
from solvers.label_sums cimport (
    add_expected_triples, add_flow, add_shares, backward_states, forward_any, spread, spread_to, sum_expected,
)
from solvers.l1_penalties cimport NAIVE, Schedule, iterates_before, open_schedule, rate_of, shrink_all
from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE


cdef struct Steps:
    const int64_t *order        # (steps,) the sequence of each step
    size_t first, last          # the steps to take are [first, last)
    size_t weights              # number of weights


cdef struct GradientTarget:
    double *out                 # (weights,) where gradients are added; NULL if they are not needed
    double step                 # factor on the gradient
    double *sums                # (weights,) where they are added once more, ``iterates`` times, if that is not 0
    double iterates


cdef inline void add_to_target(const Terms *terms, int64_t token, const double *slope, const GradientTarget *s) noexcept nogil:
    add_to_pairs(terms, token, slope, s.out, s.step)
    if s.iterates > 0:
        add_to_pairs(terms, token, slope, s.sums, s.step * s.iterates)


cdef inline void add_transitions(const Chain *c, int64_t first, size_t tokens, const Lattice *f, double *out,
                                 double step) noexcept nogil:
    """Add ``step`` times the gradient of the transition weights, of one sequence."""
    cdef size_t labels = c.labels, t, i
    cdef bint whole = c.edges or c.states or is_tree(c, first)
    cdef int64_t before
    for i in range(labels * labels):
        out[i] -= step * f.expected[i] * (1 if whole else f.step[i])
    for t in range(tokens):
        before = before_of(c, first, t)
        if before >= 0:
            out[c.label[first + before] * labels + c.label[first + t]] += step


cdef inline void add_triples(const Chain *c, int64_t first, size_t tokens, const Lattice *f, double *out, double step) noexcept nogil:
    """Add ``step`` times the gradient of the weights of histories, of one sequence; ``out`` is of all weights."""
    cdef size_t labels = c.labels, before = labels * labels, t, i
    cdef double *triple = out + first_triple(c)
    cdef int64_t weight
    for i in range((c.states - labels) * labels):
        triple[i] -= step * f.expected_triple[before + i]
    for t in range(2, tokens):
        weight = triple_of(c, c.state_after[c.label[first + t - 2] * labels + c.label[first + t - 1]], c.label[first + t])
        if weight >= 0:
            out[weight] += step


cdef inline void add_edges_of_states(const Chain *c, const double *before, Lattice *f, int64_t token,
                                     const GradientTarget *s) noexcept nogil:
    """Add the gradient of the edge features into a token, from the ``flow`` of ``backward_states``."""
    cdef size_t i
    add_flow(c, before, f, f.edge)
    for i in range(<size_t>c.labels * c.labels):
        f.edge[i] *= -f.flow[i]
    f.edge[c.label[token - 1] * c.labels + c.label[token]] += 1
    add_to_target(&c.edge, token, f.edge, s)


cdef inline void add_gradient_of_states(const Chain *c, int64_t first, size_t tokens, Lattice *f,
                                        const GradientTarget *s) noexcept nogil:
    """As ``add_gradient``, of a chain of order 2."""
    cdef size_t labels = c.labels, t = tokens, i
    cdef double *slope
    cdef const double *before
    memset(f.expected_triple, 0, c.states * labels * sizeof(double))
    for i in range(c.states):
        f.beta[i] = 1
    while t:
        if c.stop[0]:
            return
        t -= 1
        slope = f.score + t * labels
        memset(slope, 0, labels * sizeof(double))
        add_shares(c, t, f.beta, f, -1, slope)
        slope[c.label[first + t]] += 1
        add_to_target(&c.state, first + t, slope, s)
        if t:
            before = f.alpha + (t - 1) * c.states
            backward_states(c, t, f.beta, f)
            add_expected_triples(c, before, f)
            if c.edges:
                add_edges_of_states(c, before, f, first + t, s)
    if tokens < 2:
        return
    sum_expected(c, f)
    add_transitions(c, first, tokens, f, s.out + c.first_transition, s.step)
    add_triples(c, first, tokens, f, s.out, s.step)
    if s.iterates > 0:
        add_transitions(c, first, tokens, f, s.sums + c.first_transition, s.step * s.iterates)
        add_triples(c, first, tokens, f, s.sums, s.step * s.iterates)


cdef inline void add_gradient_of_tree(const Chain *c, int64_t first, size_t tokens, Lattice *f,
                                      const GradientTarget *s) noexcept nogil:
    """As ``add_gradient``, of a tree."""
    cdef size_t labels = c.labels, square = labels * labels, i, j, t
    cdef double *slope
    memset(f.expected, 0, square * sizeof(double))
    for j in range(tokens):
        if c.stop[0]:
            return
        t = c.order[first + j]
        if j:
            spread_to(c, first, t, f)
            for i in range(square):
                f.expected[i] += f.edge[i]
                f.edge[i] *= -1
            if c.edges:
                f.edge[c.label[first + before_of(c, first, t)] * labels + c.label[first + t]] += 1
                add_to_target(&c.edge, first + t, f.edge, s)
        slope = f.score + t * labels
        for i in range(labels):
            slope[i] = -f.alpha[t * labels + i]
        slope[c.label[first + t]] += 1
        add_to_target(&c.state, first + t, slope, s)
    add_transitions(c, first, tokens, f, s.out + c.first_transition, s.step)
    if s.iterates > 0:
        add_transitions(c, first, tokens, f, s.sums + c.first_transition, s.step * s.iterates)


cdef inline void add_expected_transitions(const Chain *c, size_t t, const double *inflow, const double *before, Lattice *f,
                                          int64_t token, const GradientTarget *s) noexcept nogil:
    """Add the expected transitions into token ``t``, without the factors that all tokens share; with edge features also their
    gradient.
    """
    cdef size_t labels = c.labels, y, z
    cdef const double *step
    if not c.edges:
        for z in range(labels):
            for y in range(labels):
                f.expected[z * labels + y] += before[z] * inflow[y]
        return
    step = step_of(c, t, f)
    for z in range(labels):
        for y in range(labels):
            f.edge[z * labels + y] = -before[z] * step[z * labels + y] * inflow[y]
            f.expected[z * labels + y] -= f.edge[z * labels + y]
    f.edge[c.label[token - 1] * labels + c.label[token]] += 1
    add_to_target(&c.edge, token, f.edge, s)


cdef inline void add_gradient(const Chain *c, int64_t first, size_t tokens, Lattice *f, const GradientTarget *s) noexcept nogil:
    """Run the backward pass of one sequence and add the gradient of its log p to the target."""
    cdef size_t labels = c.labels, square = labels * labels, t, y, i
    cdef double *beta = f.beta
    cdef double *inflow = f.beta + labels
    cdef double *slope
    if c.states:
        add_gradient_of_states(c, first, tokens, f, s)
        return
    if is_tree(c, first):
        add_gradient_of_tree(c, first, tokens, f, s)
        return
    if c.transitions:
        memset(f.expected, 0, square * sizeof(double))
    for y in range(labels):
        beta[y] = 1
    for i in range(tokens):
        if c.stop[0]:
            return
        t = tokens - 1 - i
        slope = f.score + t * labels         # overwrites its scores, which are no longer needed
        for y in range(labels):
            slope[y] = -f.alpha[t * labels + y] * beta[y]
        slope[c.label[first + t]] += 1
        add_to_target(&c.state, first + t, slope, s)
        if c.transitions and t:
            backward_step(c, t, beta, beta, inflow, f)
            add_expected_transitions(c, t, inflow, f.alpha + (t - 1) * labels, f, first + t, s)
    if not c.transitions or tokens < 2:
        return
    add_transitions(c, first, tokens, f, s.out + c.first_transition, s.step)
    if s.iterates > 0:
        add_transitions(c, first, tokens, f, s.sums + c.first_transition, s.step * s.iterates)


cdef int take_steps(const Chain *c, const Steps *steps, Weights *w, Schedule *s, Lattice *f) noexcept nogil:
    cdef size_t j, tokens
    cdef int64_t row
    cdef double eta
    cdef bint finite
    cdef GradientTarget slopes
    slopes.out, slopes.sums = w.weight, w.memory
    for j in range(steps.first, steps.last):
        row = steps.order[j]
        tokens = c.sequence[row + 1] - c.sequence[row]
        if not reserve_tokens(c, tokens, f):
            return NO_MEMORY
        w.cumulative_penalty = s.cumulative_penalty
        w.step = <int32_t>(j - steps.first + 1)
        eta = rate_of(s, j)
        compute_scores(c, c.sequence[row], tokens, w, f)
        finite = isfinite(forward_any(c, c.sequence[row], tokens, f))
        if c.stop[0]:
            return STOPPED
        if not finite:
            return UNSTABLE
        if s.penalty == NAIVE:
            shrink_all(w.weight, steps.weights, eta * s.share)
        slopes.step, slopes.iterates = eta * c.weight[row], iterates_before(s, j)
        add_gradient(c, c.sequence[row], tokens, f, &slopes)
        s.cumulative_penalty += eta * s.share
    return OK


def steps(data, pairs, double[:, ::1] table, const int64_t[::1] order, schedule, size_t first, size_t last):
    """Take the steps ``first`` to ``last`` (excluded) of a pass in this order; returns ``(status, cumulative_penalty)``.

    ``table`` is float64[2, weights]: weights, and their ``memory``, see solvers/l1_penalties.pxd; ``schedule`` a
    ``vwlite.solvers.loglinear.sgd.Schedule``.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef Schedule s = open_schedule(schedule)
    cdef Steps selected
    cdef Weights w
    cdef Lattice f
    cdef int status
    if table.shape[0] != 2 or last > <size_t>order.shape[0] or table.shape[1] != pairs.weights:
        raise ValueError("the table or the order does not fit")
    if not table.shape[1] or first >= last:
        return OK, s.cumulative_penalty
    w.weight, w.memory, w.penalty = &table[0, 0], &table[1, 0], s.penalty
    w.state_step = <int32_t *>calloc(pairs.start.shape[0], sizeof(int32_t))
    w.edge_step = <int32_t *>calloc(pairs.edge_start.shape[0], sizeof(int32_t))
    selected.order, selected.first, selected.last, selected.weights = &order[0], first, last, table.shape[1]
    open_lattice(&f)
    with nogil:
        status = NO_MEMORY
        if w.state_step != NULL and w.edge_step != NULL:
            status = take_steps(&c, &selected, &w, &s, &f)
        close_lattice(&f)
        free(w.state_step)
        free(w.edge_step)
    return status, s.cumulative_penalty


cdef int add_likelihoods(const Chain *c, const int64_t *rows, size_t count, Weights *w, GradientTarget *s, Lattice *f,
                         double *total) noexcept nogil:
    cdef size_t j, tokens
    cdef int64_t row
    cdef double log_normalizer
    for j in range(count):
        row = rows[j]
        tokens = c.sequence[row + 1] - c.sequence[row]
        if not reserve_tokens(c, tokens, f):
            return NO_MEMORY
        if c.stop[0]:
            return OK
        log_normalizer = compute_scores(c, c.sequence[row], tokens, w, f) + forward_any(c, c.sequence[row], tokens, f)
        total[0] += c.weight[row] * (label_score(c, c.sequence[row], tokens, w, f) - log_normalizer)
        if s.out != NULL:
            s.step = c.weight[row]
            add_gradient(c, c.sequence[row], tokens, f, s)
    return OK


def likelihood(data, pairs, const double[::1] weights, const int64_t[::1] rows, double[::1] gradient):
    """Sum of log p(y | x) over the sequences ``rows``, times importance; ``gradient`` float64[weights] or None gets its
    gradient added. Raises MemoryError. Undefined when a signal has stopped it.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef Weights w
    cdef GradientTarget s
    cdef Lattice f
    cdef double total = 0
    cdef int status
    if weights.shape[0] != pairs.weights or (gradient is not None and gradient.shape[0] != pairs.weights):
        raise ValueError("the weights do not fit")
    if not weights.shape[0] or not rows.shape[0]:
        return 0.0
    s.sums, s.iterates = NULL, 0
    w.weight, w.memory = <double *>&weights[0], NULL
    w.state_step = w.edge_step = NULL
    s.out = &gradient[0] if gradient is not None else NULL
    open_lattice(&f)
    with nogil:
        status = add_likelihoods(&c, &rows[0], rows.shape[0], &w, &s, &f, &total)
        close_lattice(&f)
    if status != OK:
        raise MemoryError("a sequence is too long for the memory there is")
    return total


cdef void fill_marginals(const Chain *c, int64_t first, size_t tokens, Lattice *f, double *out) noexcept nogil:
    """Fill ``out`` with p(y_t = y | x) of every token and label; ``forward`` must have been called."""
    cdef size_t labels = c.labels, t, y, i
    cdef double *beta = f.beta
    if is_tree(c, first):
        spread(c, first, tokens, f)
        memcpy(out, f.alpha, tokens * labels * sizeof(double))
        return
    for y in range(width_of(c)):
        beta[y] = 1
    for i in range(tokens):
        if c.stop[0]:
            return
        t = tokens - 1 - i
        if c.states:
            memset(out + t * labels, 0, labels * sizeof(double))
            add_shares(c, t, beta, f, 1, out + t * labels)
            if t:
                backward_states(c, t, beta, f)
            continue
        for y in range(labels):
            out[t * labels + y] = f.alpha[t * labels + y] * beta[y]
        if c.transitions and t:
            backward_step(c, t, beta, beta, f.beta + labels, f)


cdef int decode_all(const Chain *c, size_t sequences, Weights *w, Lattice *f, int32_t *label, double *marginal) noexcept nogil:
    cdef size_t row, tokens
    cdef int64_t first
    cdef int status = OK
    for row in range(sequences):
        first, tokens = c.sequence[row], c.sequence[row + 1] - c.sequence[row]
        if not tokens:
            continue
        if not reserve_tokens(c, tokens, f):
            return NO_MEMORY
        if marginal == NULL:
            compute_state_scores(c, first, tokens, w, f)
        else:
            compute_scores(c, first, tokens, w, f)
            if not isfinite(forward_any(c, first, tokens, f)):
                status = UNSTABLE
            fill_marginals(c, first, tokens, f, marginal + first * c.labels)
        best_path(c, first, tokens, w, f, label + first)
        if c.stop[0]:
            return STOPPED
    return status


def decode(data, pairs, const double[::1] weights, int32_t[::1] label, double[:, ::1] marginal):
    """The most likely labels of every sequence into ``label`` int32[tokens]; ``marginal`` float64[tokens, labels] or None gets
    the probabilities of all labels. Returns a status of base/status.pxd.
    """
    cdef Chain c = open_chain(data, pairs)
    cdef Weights w
    cdef Lattice f
    cdef int status
    cdef int32_t *out
    cdef double *marginals
    cdef size_t sequences = data.sequence.shape[0] - 1
    if weights.shape[0] != pairs.weights or label.shape[0] != data.label.shape[0]:
        raise ValueError("the weights or the labels do not fit")
    if marginal is not None and (marginal.shape[0] != label.shape[0] or marginal.shape[1] != c.labels):
        raise ValueError("the marginals do not fit")
    if not label.shape[0]:
        return OK
    w.weight, w.memory = <double *>&weights[0] if weights.shape[0] else NULL, NULL
    w.state_step = w.edge_step = NULL
    out, marginals = &label[0], &marginal[0, 0] if marginal is not None else NULL
    open_lattice(&f)
    with nogil:
        status = decode_all(&c, sequences, &w, &f, out, marginals)
        close_lattice(&f)
    return status
