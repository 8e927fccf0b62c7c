"""Steps on all pairs of one query, alike or weighted by what a metric changes when the two rows change places.

A step is one of LambdaRank (Burges, Ragno, Le, NIPS 2006) in a linear model: logistic loss of every pair of which the first row is
preferred, times its weight, at the scores that the weights give before the step. It reads every row of the query once. With
probability ``alpha`` a step is on a single row, as in ``solvers/crr.pyx``.
"""

from libc.math cimport exp2, fabs, isfinite, log2, sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, qsort

from base.byte_scan cimport unlikely
from base.memory cimport grow
from base.random cimport mix64
from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from losses.logistic cimport sigmoid, softplus
from features.kernel_views cimport open_plan
from features.row_buffer cimport Scratch, close_scratch, grow_pair, open_scratch
from solvers.crr_model cimport (
    ADDRESSES, AVERAGED, SCALE_SUM, Data, Model, count, doubles_of, loss_of, neg_gradient, open_model, rate_of,
    read_terms, target_of,
)
from solvers.pair_draws cimport draw_query, draw_row, open_pair_index, uniform


cdef struct QueryRow:
    double score
    double label
    double importance
    double gain            # 2^label - 1; 0 for labels below 0
    double coefficient     # of the row's terms in the change of the weights
    size_t group           # first row of the query that has its label
    size_t end             # of its terms
    size_t rank            # from 1, best score first


cdef struct RankedRow:
    double score
    size_t row


cdef struct Query:              # rows by label, lowest first
    QueryRow *row               # (rows,)
    RankedRow *ranked           # (rows,) best score first, of equal ones the lowest label first
    double *discount            # (discounts,) of ranks from 1, as NDCG of LETOR 4.0 has them
    double *hits                # (rows + 1,) labels above 0 among the first ranks
    double *hit_shares          # (rows + 1,) sum of 1 / rank of these
    uint32_t *index             # (terms,) slots of the terms of all rows
    float *value                # (terms,)
    size_t rows, max_rows, terms, max_terms, discounts


cdef inline void open_query(Query *q) noexcept nogil:
    q.row = NULL
    q.ranked = NULL
    q.discount = q.hits = q.hit_shares = NULL
    q.index, q.value = NULL, NULL
    q.rows = q.max_rows = q.terms = q.max_terms = q.discounts = 0


cdef inline void close_query(Query *q) noexcept nogil:
    free(q.row)
    free(q.ranked)
    free(q.discount)
    free(q.hits)
    free(q.hit_shares)
    free(q.index)
    free(q.value)


cdef inline bint reserve_rows(Query *q, size_t rows) noexcept nogil:
    """Allocate memory for rows and the discounts of their ranks; False if there is not enough."""
    cdef size_t size = rows + rows // 2 + 16, rank
    if rows <= q.max_rows:
        return True
    if not (grow(<void **>&q.row, size * sizeof(QueryRow)) and grow(<void **>&q.ranked, size * sizeof(RankedRow))
            and grow(<void **>&q.discount, size * sizeof(double)) and grow(<void **>&q.hits, (size + 1) * sizeof(double))
            and grow(<void **>&q.hit_shares, (size + 1) * sizeof(double))):
        return False
    for rank in range(q.discounts + 1, size + 1):
        q.discount[rank - 1] = 1 / log2(<double>rank) if rank > 2 else 1
    q.max_rows = q.discounts = size
    return True


cdef inline bint keep_terms(Query *q, QueryRow *row, const Scratch *s) noexcept nogil:
    """Copy the terms of a row behind those of the rows before it; False when memory has run out."""
    cdef size_t i
    if q.terms + s.terms > q.max_terms and not grow_pair(&q.index, &q.value, &q.max_terms, q.terms + s.terms):
        return False
    for i in range(s.terms):
        q.index[q.terms + i], q.value[q.terms + i] = s.index[i], s.value[i]
    q.terms += s.terms
    row.end = q.terms
    return True


cdef inline int by_score(const void *a, const void *b) noexcept nogil:
    cdef const RankedRow *x = <const RankedRow *>a
    cdef const RankedRow *y = <const RankedRow *>b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return -1 if x.row < y.row else 1


cdef inline void rank_rows(Query *q) noexcept nogil:
    """Put the rows in order, and count what is relevant in it."""
    cdef size_t i, row
    cdef bint hit
    for i in range(q.rows):
        q.ranked[i].score, q.ranked[i].row = q.row[i].score, i
    qsort(q.ranked, q.rows, sizeof(RankedRow), &by_score)
    q.hits[0] = q.hit_shares[0] = 0
    for i in range(q.rows):
        row = q.ranked[i].row
        q.row[row].rank, hit = i + 1, q.row[row].label > 0
        q.hits[i + 1] = q.hits[i] + hit
        q.hit_shares[i + 1] = q.hit_shares[i] + (1 / <double>(i + 1) if hit else 0)


cdef inline double ideal_gain(const Query *q, size_t ranks) noexcept nogil:
    """The discounted gain of the best order, of its first ``ranks``."""
    cdef size_t i
    cdef double total = 0
    for i in range(min(q.rows, ranks)):
        total += q.row[q.rows - 1 - i].gain * q.discount[i]
    return total


cdef inline double gain_change(const Query *q, const QueryRow *a, const QueryRow *b, size_t ranks) noexcept nogil:
    """How much the discounted gain of the first ``ranks`` changes when two rows change places."""
    cdef double at_a = q.discount[a.rank - 1] if a.rank <= ranks else 0
    cdef double at_b = q.discount[b.rank - 1] if b.rank <= ranks else 0
    return (a.gain - b.gain) * (at_a - at_b)


cdef inline double precision_change(const Query *q, const QueryRow *a, const QueryRow *b) noexcept nogil:
    """How much the sum of the precisions at relevant rows changes when a, relevant, and b, not relevant, change places."""
    cdef size_t i = a.rank, j = b.rank
    if i < j:        # the relevant row moves down: those between lose a hit above them
        return q.hits[j] / <double>j - q.hits[i] / <double>i - (q.hit_shares[j] - q.hit_shares[i])
    return (q.hits[j] + 1) / <double>j - q.hits[i] / <double>i + q.hit_shares[i - 1] - q.hit_shares[j]


cdef enum:                 # weights of pairs
    ALIKE = 0
    BY_NDCG = 1
    BY_MAP = 2

cdef enum:
    DRAWN = 50             # of the rows below a row, where a query is too large for all of them

cdef double CANCELLED = 1e-12   # a sum this small beside its summands is 0 but for rounding


cdef struct Steps:
    int weighting          # ALIKE, BY_NDCG or BY_MAP
    bint mean              # whether a query counts as the mean of its pairs, not as their sum
    size_t ranks           # the first ranks that NDCG counts
    size_t most_rows       # of a query whose pairs are all taken
    double *gradient       # (slots, 2) sum of a slot's terms times coefficients, and of its absolute values; 0 between steps
    double *squares        # (slots,) of squared gradients; NULL where rates are not adaptive


cdef inline double score_of(const Model *m, const Scratch *s) noexcept nogil:
    cdef size_t i
    cdef double total = 0
    for i in range(s.terms):
        total += <double>m.table[s.index[i]] * s.value[i]
    return total


cdef inline int read_row(const Model *m, const Data *data, size_t position, Query *q, Scratch *s) noexcept nogil:
    """Append the row at a position of the index to the query, with its score. Raises nothing; returns a status."""
    cdef QueryRow *row = q.row + q.rows
    cdef const double *before = data.pair_index.cumulative_importance
    cdef double initial
    cdef int status = read_terms(data, position, s, &initial, &row.label)
    if status != OK:
        return status
    row.score = initial + score_of(m, s)
    row.importance = before[position + 1] - before[position] if before != NULL else 1
    row.gain = exp2(row.label) - 1 if row.label > 0 else 0
    row.coefficient = 0
    if not keep_terms(q, row, s):
        return NO_MEMORY
    q.rows += 1
    return OK if isfinite(row.score) else UNSTABLE


cdef int read_query(const Model *m, const Data *data, size_t query, Query *q, Scratch *s) noexcept nogil:
    """Read the rows of a query. The constant cancels in every pair, so its value is set to 0."""
    cdef size_t begin = <size_t>data.pair_index.query_start[query], end = <size_t>data.pair_index.query_end[query]
    cdef size_t first = <size_t>data.pair_index.group_start[begin], last = <size_t>data.pair_index.group_start[end], group
    cdef size_t position
    cdef int status
    q.rows = q.terms = 0
    if not reserve_rows(q, last - first):
        return NO_MEMORY
    for group in range(begin, end):
        for position in range(<size_t>data.pair_index.group_start[group], <size_t>data.pair_index.group_start[group + 1]):
            q.row[q.rows].group = <size_t>data.pair_index.group_start[group] - first
            status = read_row(m, data, position, q, s)
            if status != OK:
                return status
            if data.plan.constant:
                q.value[q.terms - s.terms + s.linear - 1] = 0
    return OK


cdef inline double weight_of(const Steps *steps, const Query *q, const QueryRow *a, const QueryRow *b) noexcept nogil:
    """Of the pair in which ``a`` has the higher label."""
    if steps.weighting == ALIKE:
        return a.importance * b.importance
    if steps.weighting == BY_NDCG:
        return fabs(gain_change(q, a, b, steps.ranks))
    return fabs(precision_change(q, a, b)) if a.label > 0 >= b.label else 0


cdef inline double add_pair(
    const Steps *steps, const Query *q, QueryRow *a, QueryRow *b, double share, double *loss
) noexcept nogil:
    """Add what the pair pulls at the scores of its rows, times ``share``, and return its weight."""
    cdef double weight = share * weight_of(steps, q, a, b), pull
    if weight > 0:
        pull = weight * sigmoid(b.score - a.score)
        a.coefficient += pull
        b.coefficient -= pull
        loss[0] += weight * softplus(b.score - a.score)
    return weight


cdef double add_pairs(const Steps *steps, Query *q, uint64_t seed, double *loss) noexcept nogil:
    """Add the pairs of all rows; of a large query every row with DRAWN random ones below it, which stand for all of these. Returns
    the sum of the weights.
    """
    cdef size_t a, b, k, below
    cdef double total = 0
    for a in range(q.rows):
        below = q.row[a].group
        if q.rows <= steps.most_rows or below <= DRAWN:
            for b in range(below):
                total += add_pair(steps, q, q.row + a, q.row + b, 1, loss)
        else:
            for k in range(<size_t>DRAWN):
                b = min(<size_t>(uniform(seed, a * DRAWN + k, 0) * <double>below), below - 1)
                total += add_pair(steps, q, q.row + a, q.row + b, <double>below / DRAWN, loss)
    return total


cdef inline double normaliser(const Steps *steps, const Query *q, double total) noexcept nogil:
    """What the pairs' pulls are divided by; 0 where the query has nothing to learn from."""
    if steps.weighting == BY_NDCG:
        return ideal_gain(q, steps.ranks)
    if steps.weighting == BY_MAP:
        return q.hits[q.rows]
    return total if steps.mean else 1


cdef inline void gather(const Steps *steps, const Query *q) noexcept nogil:
    """Sum the terms of all rows times their coefficients by slot."""
    cdef size_t i = 0, row
    cdef double part
    for row in range(q.rows):
        if q.row[row].coefficient == 0:
            i = q.row[row].end
        while i < q.row[row].end:
            part = q.row[row].coefficient * q.value[i]
            steps.gradient[2 * <size_t>q.index[i]] += part
            steps.gradient[2 * <size_t>q.index[i] + 1] += fabs(part)
            i += 1


cdef inline void move(Model *m, const Steps *steps, const Query *q, double factor, double rate) noexcept nogil:
    """Change the weights by the gathered sums times ``factor``, and set the sums to 0."""
    cdef size_t i, slot
    cdef double change
    cdef float old
    for i in range(q.terms):
        slot = q.index[i]
        change = steps.gradient[2 * slot] * factor
        if fabs(steps.gradient[2 * slot]) <= CANCELLED * steps.gradient[2 * slot + 1]:
            change = 0
        steps.gradient[2 * slot] = steps.gradient[2 * slot + 1] = 0
        if change == 0:
            continue
        if steps.squares != NULL:
            steps.squares[slot] += change * change
            change /= sqrt(steps.squares[slot])
        old = m.table[slot]
        m.table[slot] = <float>(old + rate * change)
        if m.sums != NULL:
            m.sums[slot] += m.state[SCALE_SUM] * (<double>m.table[slot] - old)


cdef int query_step(Model *m, const Data *data, const Steps *steps, uint64_t i, Query *q, Scratch *s) noexcept nogil:
    cdef double loss = 0, total, divisor
    cdef int status = read_query(m, data, draw_query(&data.pair_index, uniform(m.seed, i, 1)), q, s)
    if status != OK:
        return status
    rank_rows(q)
    total = add_pairs(steps, q, mix64(m.seed + i), &loss)
    divisor = normaliser(steps, q, total)
    count(m, True, loss / total if total > 0 else 0)
    if total > 0 and divisor > 0:
        gather(steps, q)
        move(m, steps, q, 1 / divisor, rate_of(m, i))
    return OK


cdef int example_step(Model *m, const Data *data, const Steps *steps, uint64_t i, Query *q, Scratch *s) noexcept nogil:
    cdef size_t position = draw_row(&data.pair_index, 0, data.pair_index.rows, uniform(m.seed, i, 1))
    cdef double target
    cdef int status
    q.rows = q.terms = 0
    if not reserve_rows(q, 1):
        return NO_MEMORY
    status = read_row(m, data, position, q, s)
    if status == OK:
        target = target_of(m.loss, m.low, m.high, q.row[0].label)
        count(m, False, loss_of(m.loss, q.row[0].score, target))
        q.row[0].coefficient = neg_gradient(m.loss, q.row[0].score, target)
        gather(steps, q)
        move(m, steps, q, 1, rate_of(m, i))
    return status


cdef int run_steps(
    Model *m, const Data *data, const Steps *steps, uint64_t *i, uint64_t last, Query *q, Scratch *s
) noexcept nogil:
    cdef int status = OK
    while i[0] <= last:
        if unlikely(data.plan.stop[0]):
            return STOPPED
        if uniform(m.seed, i[0], 0) < m.alpha:
            status = example_step(m, data, steps, i[0], q, s)
        else:
            status = query_step(m, data, steps, i[0], q, s)
        if status != OK:
            return status
        if m.sums != NULL and i[0] > m.after:
            m.state[SCALE_SUM] += 1
            m.state[AVERAGED] += 1
        i[0] += 1
    return OK


def take_steps(model, pair_index, const uint64_t[:, ::1] address, plan, uint64_t first, uint64_t last):
    """Take the steps ``first`` to ``last``, as ``take_steps`` of ``solvers/crr.pyx``; the model has ``weighting``, ``mean_of_pairs``,
    ``ranks``, ``query_limit``, ``gradient`` and ``squares`` in addition.
    """
    cdef Data data
    cdef Model m
    cdef Steps steps
    cdef Query q
    cdef Scratch s
    cdef int status
    data.pair_index, data.plan = open_pair_index(pair_index), open_plan(plan)
    if open_model(model, &m) or m.slots != <size_t>data.plan.mask + 1:
        raise ValueError("the table or the state does not fit")
    if address.shape[1] != ADDRESSES or first < 1 or (m.alpha < 1 and not data.pair_index.queries):
        raise ValueError("the addresses do not fit, or there is no query to draw")
    data.address = &address[0, 0]
    steps.weighting, steps.mean, steps.most_rows = model.weighting, model.mean_of_pairs, model.query_limit
    steps.ranks = model.ranks
    steps.gradient, steps.squares = doubles_of(model.gradient, 2 * m.slots), doubles_of(model.squares, m.slots)
    if steps.gradient == NULL:
        raise ValueError("there is no memory for the gradient")
    open_scratch(&s)
    open_query(&q)
    with nogil:
        status = run_steps(&m, &data, &steps, &first, last, &q, &s)
        close_query(&q)
        close_scratch(&s)
    return status, first
