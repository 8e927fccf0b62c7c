"""Matrix factorisation as Vowpal Wabbit's ``--rank`` has it: linear weights and factors of pairs of namespaces, by one rate.

A feature has a row of the table: its linear weight, ``rank`` factors as a member of a pair's first namespace, and as many of the
second. A row begins at random, by its place alone, when it is first met: until then it is of zeros, in the table and in models.
"""

from libc.math cimport isfinite, isnan, powf
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from base.status cimport NO_MEMORY, OK, UNSTABLE
from base.random cimport random_next
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.plan cimport LETTERS
from features.row_buffer cimport Group, Scratch
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport RATE_NOW, SCALARS, TIME, Learner, clip, count_time, open_learner, prefetch_slots, widen_range
from losses.loss_types cimport apply_link

cdef enum:
    SHARE = 3              # by which vw divides the rate


cdef struct VwRank:
    Learner m
    bint writable
    uint32_t rank
    uint32_t mask
    uint64_t stride        # of vw's table, a power of two: where its random numbers begin
    const int32_t *pairs   # (count, 2): two letters each
    int count
    float *begun           # (m.stride,) a row that is not in the table yet
    float *sums            # (count, 2, rank) of each pair's two sides


cdef inline bint is_zero(const float *row, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if row[i] != 0:
            return False
    return True


cdef inline float *row_of(VwRank *q, uint32_t slot) noexcept nogil:
    """The row of a slot, valid until the next call where the table cannot be written."""
    cdef float *row = q.m.table + q.m.stride * slot
    cdef uint64_t state = slot * q.stride
    cdef size_t i
    if row[0] != 0 or not is_zero(row, q.m.stride):
        return row
    row = row if q.writable else q.begun
    for i in range(q.m.stride):
        row[i] = <float>0.1 * random_next(&state)
        state += 1
    return row


cdef inline Group *side_of(const VwRank *q, Scratch *s, int pair, int side) noexcept nogil:
    cdef int place = s.where[q.pairs[2 * pair + side]]
    return &s.group[place] if place >= 0 else NULL


cdef inline bint has_pair(const VwRank *q, Scratch *s, int pair) noexcept nogil:
    cdef Group *left = side_of(q, s, pair, 0)
    cdef Group *right = side_of(q, s, pair, 1)
    return left != NULL and right != NULL and left.size > 0 and right.size > 0


cdef inline void sum_side(VwRank *q, const Group *group, uint32_t first, float *sums) noexcept nogil:
    cdef size_t i
    cdef uint32_t n
    cdef const float *row
    memset(sums, 0, q.rank * sizeof(float))
    for i in range(group.size):
        row = row_of(q, group.index[i] & q.mask) + first
        for n in range(q.rank):
            sums[n] += row[n] * group.value[i]


cdef inline float predict(VwRank *q, Scratch *s, float start, size_t *features) noexcept nogil:
    """The prediction before it is clipped; adds the factors met to ``features``, and leaves each pair's sums."""
    cdef size_t i
    cdef int pair
    cdef uint32_t n
    cdef float p = start
    cdef float *sums
    for i in range(s.terms):
        p += row_of(q, s.index[i])[0] * s.value[i]
    for pair in range(q.count):
        if has_pair(q, s, pair):
            sums = q.sums + 2 * q.rank * <size_t>pair
            sum_side(q, side_of(q, s, pair, 0), 1, sums)
            sum_side(q, side_of(q, s, pair, 1), 1 + q.rank, sums + q.rank)
            for n in range(q.rank):
                p += sums[n] * sums[q.rank + n]
            features[0] += (side_of(q, s, pair, 0).size + side_of(q, s, pair, 1).size) * q.rank
    return p


cdef inline void move_side(VwRank *q, const Group *group, uint32_t column, float step, float shrink) noexcept nogil:
    cdef size_t i
    cdef float *w
    for i in range(group.size):
        w = q.m.table + q.m.stride * (group.index[i] & q.mask) + column
        w[0] += step * group.value[i] - shrink * w[0]


cdef inline int learn(VwRank *q, Scratch *s, float p, float y, float weight) noexcept nogil:
    """A step of all weights. Of several pairs vw takes every one's step from the sums of the first that is there."""
    cdef float t = <float>(q.m.scalars[TIME] + weight)
    cdef float rate = <float>q.m.scalars[RATE_NOW] / powf(t, -q.m.rates.minus_power) / SHARE * weight
    cdef float step = q.m.loss.update(&q.m.params, p, y, rate, 1), shrink = rate * q.m.l2
    cdef float *sums = NULL
    cdef float *w
    cdef size_t i
    cdef uint32_t n
    cdef int pair
    if not isfinite(step) or not isfinite(shrink):
        return UNSTABLE
    for i in range(s.terms):
        w = q.m.table + q.m.stride * s.index[i]
        w[0] += step * s.value[i] - shrink * w[0]
    for pair in range(q.count):
        if has_pair(q, s, pair):
            sums = q.sums + 2 * q.rank * <size_t>pair if sums == NULL else sums
            for n in range(q.rank):
                move_side(q, side_of(q, s, pair, 0), 1 + n, step * sums[q.rank + n], shrink)
                move_side(q, side_of(q, s, pair, 1), 1 + q.rank + n, step * sums[n], shrink)
    return OK


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(&(<VwRank *>learner).m, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef VwRank *q = <VwRank *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p, raw
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = learning and labeled and not held
    cdef size_t features = s.count
    cdef int status
    if known and not q.m.frozen:
        widen_range(&q.m, y)
    raw = predict(q, s, rows.initial_prediction[row], &features)
    p = clip(raw, &q.m)
    status = OK if isfinite(raw) else UNSTABLE
    out.raw[row] = raw
    out.prediction[row] = apply_link(q.m.link, p)
    out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
    if known and weight > 0 and status == OK:
        status = learn(q, s, p, y, weight)
    out.features[row] = <uint32_t>features
    count_time(&q.m, weight, labeled, held)
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef const int32_t[:, ::1] pairs = config.pairs
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef VwRank q
    cdef int status = NO_MEMORY, i
    q.m = open_learner(state, config)
    q.rank, q.stride, q.mask, q.writable = config.rank, config.vw_stride, <uint32_t>q.m.slots - 1, call.learning
    q.pairs, q.count = &pairs[0, 0], <int>pairs.shape[0]
    check_fit(state, &call)
    if pairs.shape[1] != 2 or q.m.stride != 2 * <size_t>q.rank + 1 or state.mask is not None or state.scalars.shape[0] != SCALARS:
        raise ValueError("pairs must be two namespaces, rows a weight and two sets of factors, and there must be no mask")
    for i in range(q.count):
        if not (0 <= q.pairs[2 * i] < LETTERS and 0 <= q.pairs[2 * i + 1] < LETTERS):
            raise ValueError("pairs must be of letters")
    q.begun = <float *>malloc(q.m.stride * sizeof(float))
    q.sums = <float *>malloc(2 * q.rank * <size_t>q.count * sizeof(float))
    if q.begun != NULL and q.sums != NULL:
        with nogil:
            status = process_in_order(&q, prepare, process_example, not q.m.vw_compat, &call)
    free(q.begun)
    free(q.sums)
    return status, call.row
