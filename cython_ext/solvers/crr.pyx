"""Combined regression and ranking by stochastic gradient steps (Sculley, KDD 2010, algorithm 1).

The weights are ``scale`` times the table, so that the L2 shrinkage of a step is one multiplication; an L1 penalty is due to an
entry when it is next used. A step takes time proportional to the terms of the example, or of both examples of a pair, whose difference is not stored.

Beside them: random candidate pairs for Python, the table of the alias method, by which queries are drawn, and groups of near labels.
"""

from libc.math cimport INFINITY, isfinite, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from base.byte_scan cimport prefetch, unlikely
from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from features.kernel_views cimport open_plan
from features.row_buffer cimport Scratch, close_scratch, open_scratch, reserve_terms
from learners.latent_vectors cimport merge_slots
from solvers.crr_model cimport (
    ADDRESSES, AVERAGED, SCALE, SCALE_SUM, SQUARE, SQUARED, TOTAL_PENALTY, Data, DrawnStep, Model, count, draw_step,
    longest_step, loss_of, neg_gradient, open_model, prefetch_received, prefetch_row_data, rate_of, read_terms,
    settle_entry, settle_terms, target_of, target_of_pair,
)
from solvers.pair_draws cimport DrawnRow, PairIndex, draw_pair, open_pair_index


COLUMNS = 10               # columns of the address table of vwlite.data.shuffle.Rows
STATE = ("scale", "square", "examples", "example_loss", "pairs", "pair_loss", "scale_sum", "averaged", "penalty")

cdef enum:
    AHEAD = 16             # steps that are drawn ahead, to prefetch their rows; a power of 2


cdef struct Step:             # an example, or a pair (a, b) as the example a - b
    Scratch terms[2]          # of a, of b
    bint pair
    double initial_prediction
    double target             # the label in the terms of the loss, see target_of


cdef inline int read_step(const Model *m, const Data *data, const DrawnStep *drawn, Step *step) noexcept nogil:
    """Read the terms of a step. In a pair the constant cancels, so its value is set to 0."""
    cdef double initial, label, other
    cdef int status = read_terms(data, drawn.position[0], &step.terms[0], &step.initial_prediction, &label)
    step.pair = drawn.pair
    if status != OK or not drawn.pair:
        step.target = target_of(m.loss, m.low, m.high, label)
        return status
    status = read_terms(data, drawn.position[1], &step.terms[1], &initial, &other)
    if status == OK:
        step.initial_prediction -= initial
        step.target = target_of_pair(m.pair_loss, m.low, m.high, label, other)
        if data.plan.constant:
            step.terms[0].value[step.terms[0].linear - 1] = 0
            step.terms[1].value[step.terms[1].linear - 1] = 0
    return status


cdef inline void prefetch_slots(const Model *m, const Step *step) noexcept nogil:
    cdef size_t i
    for i in range(step.terms[0].terms):
        prefetch(m.table + step.terms[0].index[i])
        if m.sums != NULL:
            prefetch(<const float *>(m.sums + step.terms[0].index[i]))
    if m.received != NULL:
        prefetch_received(m.received, &step.terms[0])
        if step.pair:
            prefetch_received(m.received, &step.terms[1])
    if step.pair:
        for i in range(step.terms[1].terms):
            prefetch(m.table + step.terms[1].index[i])
            if m.sums != NULL:
                prefetch(<const float *>(m.sums + step.terms[1].index[i]))


cdef inline double dot(const Model *m, const Scratch *s) noexcept nogil:
    """The inner product of weights and terms, in four independent sums."""
    cdef size_t i = 0, last = s.terms & ~<size_t>3
    cdef double a = 0, b = 0, c = 0, d = 0
    while i < last:
        a += <double>m.table[s.index[i]] * s.value[i]
        b += <double>m.table[s.index[i + 1]] * s.value[i + 1]
        c += <double>m.table[s.index[i + 2]] * s.value[i + 2]
        d += <double>m.table[s.index[i + 3]] * s.value[i + 3]
        i += 4
    for i in range(last, s.terms):
        a += <double>m.table[s.index[i]] * s.value[i]
    return (a + b) + (c + d)


cdef inline double squares(const Scratch *s) noexcept nogil:
    cdef size_t i = 0, last = s.terms & ~<size_t>1
    cdef double a = 0, b = 0
    while i < last:
        a += <double>s.value[i] * s.value[i]
        b += <double>s.value[i + 1] * s.value[i + 1]
        i += 2
    return a + b + (<double>s.value[last] * s.value[last] if last < s.terms else 0)


cdef inline void add_terms(Model *m, const Scratch *s, double step) noexcept nogil:
    cdef size_t i
    cdef float *slot
    cdef float old
    cdef double change = 0
    if not m.project and m.sums == NULL:
        for i in range(s.terms):
            m.table[s.index[i]] += <float>(step * s.value[i])
        return
    for i in range(s.terms):
        slot = m.table + s.index[i]
        old = slot[0]
        slot[0] = <float>(old + step * s.value[i])
        change += <double>slot[0] * slot[0] - <double>old * old
        if m.sums != NULL:
            m.sums[s.index[i]] += m.state[SCALE_SUM] * (<double>slot[0] - old)
    m.state[SQUARE] += change


cdef inline double merge_and_square(Step *step) noexcept nogil:
    """Merge the terms of a pair into those of its first example, one term for each slot, and return their squared norm.

    Negative when memory has run out.
    """
    cdef Scratch *a = &step.terms[0]
    cdef const Scratch *b = &step.terms[1]
    cdef size_t i
    if step.pair:
        if not reserve_terms(a, b.terms):
            return -1
        memcpy(a.index + a.terms, b.index, b.terms * sizeof(uint32_t))
        for i in range(b.terms):
            a.value[a.terms + i] = -b.value[i]
        a.terms += b.terms
        step.pair = False
    a.terms = merge_slots(a.index, a.value, a.terms)
    return squares(a)


cdef inline double squared_length_bound(const Step *step) noexcept nogil:
    """An upper bound on the squared norm of the step's terms, by the triangle inequality for a pair."""
    cdef double a = squares(&step.terms[0]), b
    if not step.pair:
        return a
    b = squares(&step.terms[1])
    return a + b + 2 * sqrt(a * b)


cdef inline void rescale(Model *m, double scale) noexcept nogil:
    """Multiply the table by ``scale`` and set the scale to 1. Rarely needed, before numbers leave the range of single
    precision.
    """
    cdef size_t slot
    for slot in range(m.slots):
        if m.sums != NULL:                               # the sum of the iterates, with its sign turned
            m.sums[slot] -= m.state[SCALE_SUM] * m.table[slot]
        m.table[slot] = <float>(m.table[slot] * scale)
        if m.received != NULL:
            m.received[slot] *= scale
    m.state[TOTAL_PENALTY] *= scale
    m.state[SCALE_SUM] = 0
    m.state[SQUARE] *= scale * scale
    m.state[SCALE] = 1


cdef inline int take_step(Model *m, Step *step, uint64_t i) noexcept nogil:
    """Take step i: shrink the weights and add a multiple of the step's terms."""
    cdef double p, neg_grad, rate = rate_of(m, i), square, longest
    cdef int loss = m.pair_loss if step.pair else m.loss
    if m.received != NULL:
        settle_terms(m.table, m.received, m.state[TOTAL_PENALTY], &step.terms[0])
        if step.pair:
            settle_terms(m.table, m.received, m.state[TOTAL_PENALTY], &step.terms[1])
    p = step.initial_prediction + m.state[SCALE] * (
        dot(m, &step.terms[0]) - (dot(m, &step.terms[1]) if step.pair else 0))
    neg_grad = neg_gradient(loss, p, step.target)
    count(m, step.pair, loss_of(loss, p, step.target))
    if unlikely(not isfinite(p)):
        return UNSTABLE
    longest = longest_step(loss, p, step.target)
    if longest < INFINITY and rate * squared_length_bound(step) > longest:
        square = merge_and_square(step)
        if square < 0:
            return NO_MEMORY
        if rate * square > longest:
            if loss == SQUARED:
                rate = longest / square
            else:                                        # which is to shrink the weights as much as any other step
                neg_grad *= longest / (rate * square)
    if i > 1:                                            # before the first step all weights are 0
        m.state[SCALE] *= 1 - rate * m.penalty
    if neg_grad != 0:
        add_terms(m, &step.terms[0], rate * neg_grad / m.state[SCALE])
        if step.pair:
            add_terms(m, &step.terms[1], -rate * neg_grad / m.state[SCALE])
    m.state[TOTAL_PENALTY] += rate * m.l1 / m.state[SCALE]
    if m.project:
        square = m.state[SCALE] * m.state[SCALE] * m.state[SQUARE] * m.penalty
        if square > 1:
            m.state[SCALE] /= sqrt(square)
    if m.sums != NULL and i > m.after:
        m.state[SCALE_SUM] += m.state[SCALE]
        m.state[AVERAGED] += 1
    if unlikely(m.state[SCALE] < 1e-9):
        rescale(m, m.state[SCALE])
    return OK


cdef int run_steps(Model *m, const Data *data, uint64_t *i, uint64_t last, Step *steps) noexcept nogil:
    """Take the steps ``i[0]`` to ``last``. The slots of the next step are prefetched while one is taken."""
    cdef DrawnStep drawn[AHEAD]
    cdef Step *current
    cdef Step *following = steps + (i[0] & 1)
    cdef uint64_t k
    cdef int status
    for k in range(i[0], i[0] + AHEAD):          # steps after the last are drawn but not taken
        draw_step(data, m.seed, m.alpha, k, &drawn[k & (AHEAD - 1)])
    status = read_step(m, data, &drawn[i[0] & (AHEAD - 1)], following)
    while status == OK and i[0] <= last:
        if unlikely(data.plan.stop[0]):
            return STOPPED
        current, following = following, steps + ((i[0] + 1) & 1)
        if i[0] < last:
            draw_step(data, m.seed, m.alpha, i[0] + AHEAD, &drawn[i[0] & (AHEAD - 1)])
            for k in range(3):
                prefetch_row_data(data, &drawn[(i[0] + AHEAD - 4 - 4 * k) & (AHEAD - 1)], <int>k)
            status = read_step(m, data, &drawn[(i[0] + 1) & (AHEAD - 1)], following)
            if status != OK:
                break
            prefetch_slots(m, following)
        status = take_step(m, current, i[0])
        i[0] += 1
    return status


def take_steps(model, pair_index, const uint64_t[:, ::1] address, plan, uint64_t first, uint64_t last):
    """Take the steps ``first`` to ``last``, numbered from 1. Returns ``(status, step)``: OK and ``last + 1``, or another status
    and the step at which the run stopped.

    ``model`` is a ``vwlite.solvers.crr.train.Weights``; ``address`` says where the arrays of each batch begin
    (``vwlite.data.shuffle.Rows``).
    """
    cdef Data data
    cdef Model m
    cdef Step steps[2]
    cdef int status, k
    data.pair_index, data.plan = open_pair_index(pair_index), open_plan(plan)
    if open_model(model, &m) or m.slots != <size_t>data.plan.mask + 1:
        raise ValueError("the table or the state does not fit")
    if address.shape[1] != ADDRESSES or first < 1 or (m.alpha < 1 and not data.pair_index.queries):
        raise ValueError("the addresses do not fit, or there is no pair to draw")
    data.address = &address[0, 0]
    for k in range(2):
        open_scratch(&steps[k].terms[0])
        open_scratch(&steps[k].terms[1])
    with nogil:
        status = run_steps(&m, &data, &first, last, steps) if first <= last else OK
        for k in range(2):
            close_scratch(&steps[k].terms[0])
            close_scratch(&steps[k].terms[1])
    return status, first


def finish(model):
    """Apply the L1 penalty still due and multiply the table by the scale, so that it holds the weights, or put their mean there."""
    cdef Model m
    cdef size_t slot
    open_model(model, &m)
    with nogil:
        if m.received != NULL:
            for slot in range(m.slots):
                settle_entry(m.table + slot, m.received + slot, m.state[TOTAL_PENALTY])
        rescale(&m, m.state[SCALE])
        if m.sums != NULL and m.state[AVERAGED] > 0:
            for slot in range(m.slots):
                m.table[slot] = <float>(-m.sums[slot] / m.state[AVERAGED])


def score_rows(model, pair_index, const uint64_t[:, ::1] address, plan, double[:, ::1] out):
    """Fill ``out``, float64[rows, 3], with the dot product of weights and terms, the initial prediction and the label of the rows
    of the index, for a model that is finished. Returns a status.
    """
    cdef Data data
    cdef Model m
    cdef Scratch s
    cdef size_t row
    cdef int status = OK
    data.pair_index, data.plan = open_pair_index(pair_index), open_plan(plan)
    if open_model(model, &m) or m.slots != <size_t>data.plan.mask + 1:
        raise ValueError("the table or the state does not fit")
    if address.shape[1] != ADDRESSES or <size_t>out.shape[0] != data.pair_index.rows or out.shape[1] != 3:
        raise ValueError("the addresses or the scores do not fit")
    data.address = &address[0, 0]
    open_scratch(&s)
    with nogil:
        for row in range(data.pair_index.rows):
            status = STOPPED if unlikely(data.plan.stop[0]) else read_terms(&data, row, &s, &out[row, 1], &out[row, 2])
            if status != OK:
                break
            out[row, 0] = m.state[SCALE] * dot(&m, &s)
        close_scratch(&s)
    return status


def draw(pair_index, uint64_t seed, uint64_t first, int64_t[:, ::1] out):
    """Fill ``out``, int64[n, 2], with the pairs that the steps from ``first`` on draw, as positions among the rows of the
    index.
    """
    cdef PairIndex pairs = open_pair_index(pair_index)
    cdef DrawnRow a, b
    cdef Py_ssize_t i
    if out.shape[1] != 2 or not pairs.queries:
        raise ValueError("a pair has two rows, and the index must have a pair")
    with nogil:
        for i in range(out.shape[0]):
            draw_pair(&pairs, seed, first + <uint64_t>i, &a, &b)
            out[i, 0], out[i, 1] = <int64_t>a.position, <int64_t>b.position


def near_groups(const double[::1] label, const int64_t[::1] query_start, const int64_t[::1] query_end, double least,
                int64_t[::1] near_start, int64_t[::1] near_end):
    """Fill ``near_start`` and ``near_end``, int64[groups], of the groups of the queries: the first group of the same query, and one
    past the last, whose label differs by less than ``least``, which is above 0. Labels ascend within a query.
    """
    cdef Py_ssize_t query
    cdef int64_t group, begin, end
    if near_start.shape[0] != label.shape[0] or near_end.shape[0] != label.shape[0] or not least > 0:
        raise ValueError("the arrays differ in length, or groups are to differ by nothing")
    if query_end.shape[0] != query_start.shape[0]:
        raise ValueError("the arrays differ in length")
    with nogil:
        for query in range(query_start.shape[0]):
            begin = end = query_start[query]
            for group in range(query_start[query], query_end[query]):
                while label[group] - label[begin] >= least:
                    begin += 1
                while end < query_end[query] and label[end] - label[group] < least:
                    end += 1
                near_start[group], near_end[group] = begin, end


def alias(const double[::1] weight, double[::1] alias_prob, int64_t[::1] alias_index, int64_t[::1] stack):
    """Fill the alias method's table (Vose 1991) for drawing with probabilities proportional to ``weight``. All arrays are (n,);
    ``stack`` is scratch memory.
    """
    cdef Py_ssize_t n = weight.shape[0], small = 0, large = n, i
    cdef int64_t less, more
    cdef double total = 0
    if alias_prob.shape[0] != n or alias_index.shape[0] != n or stack.shape[0] != n:
        raise ValueError("the arrays differ in length")
    with nogil:
        for i in range(n):
            total += weight[i]
        for i in range(n):
            alias_prob[i], alias_index[i] = weight[i] * <double>n / total, i
            if alias_prob[i] < 1:
                stack[small] = i
                small += 1
            else:
                large -= 1
                stack[large] = i
        while small > 0 and large < n:
            small -= 1
            less, more = stack[small], stack[large]
            alias_index[less] = more
            alias_prob[more] -= 1 - alias_prob[less]
            if alias_prob[more] < 1:
                large += 1
                stack[small] = more
                small += 1
        while large < n:
            alias_prob[stack[large]] = 1
            large += 1
        while small > 0:
            small -= 1
            alias_prob[stack[small]] = 1
