"""Low-rank quadratic interactions, as Vowpal Wabbit's ``--lrq``: factors of two namespaces, learned in turns.

Every feature has ``2^shift`` slots: its linear weight, then its factors. With the factors of one namespace fixed, those of the
other are the weights of a linear model, which gradient descent updates. The two namespaces take turns.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, uint32_t, uint64_t

from learners.gd_update cimport (
    SCALARS, Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots, sync_if_due, widen_range
)
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport apply_link
from features.row_buffer cimport Group, Scratch, reserve_row_terms
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results
from base.random cimport random_after, random_next

cdef enum:
    SEEN = SCALARS        # index into the scalars: number of rows so far, blank ones included


cdef struct Lrq:
    Learner m
    int shift
    uint32_t mask
    size_t begin            # the row of the batch that SEEN counts up to
    const int32_t *pairs    # (count, 3): two letters, rank
    int count
    bint dropout            # half of the factors are left out of each update, and all are halved in predictions
    uint64_t *random_state  # (1,) state of the random number generator for dropout
    uint64_t passes_ended   # number of passes ended, which also count as turns


cdef inline int add_factors(Lrq *q, Scratch *s, const Group *fixed, const Group *moving, uint32_t rank,
                            bint learning) noexcept nogil:
    """Add terms for the factors of ``moving``; factors of ``fixed`` that are 0 get their initial values when learning, also where
    the row has no features of ``moving``, which is then NULL.
    """
    cdef size_t i, j, size = moving.size if moving != NULL else 0
    cdef uint32_t n
    cdef uint64_t position
    cdef float *weight
    cdef float scale = <float>0.5 if q.dropout and not learning else <float>1
    cdef int status = reserve_row_terms(s, fixed.size * size * rank)
    if status != OK:
        return status
    for i in range(fixed.size):
        for n in range(1, rank + 1):
            if q.dropout and learning and random_next(q.random_state) <= 0.5:
                continue
            position = (<uint64_t>(fixed.index[i] & q.mask) << q.shift) + n
            weight = q.m.table + q.m.stride * (position & q.mask)
            if learning and weight[0] == 0:
                weight[0] = random_after(position * q.m.stride)
            for j in range(size):
                s.index[s.terms] = ((moving.index[j] << q.shift) + n) & q.mask
                s.value[s.terms] = scale * weight[0] * fixed.value[i] * moving.value[j]
                s.terms += 1
    return OK


cdef inline int extend(Lrq *q, Scratch *s, size_t terms, uint64_t turn, bint learning) noexcept nogil:
    """Keep the row's own terms, the first ``terms``, and add those of all factors that are updated in this turn."""
    cdef int pair, left, right, status = OK
    s.terms = terms
    for pair in range(q.count):
        left = s.where[q.pairs[3 * pair + <int>(turn & 1)]]
        right = s.where[q.pairs[3 * pair + 1 - <int>(turn & 1)]]
        if left >= 0 and status == OK:
            status = add_factors(q, s, &s.group[left], &s.group[right] if right >= 0 else NULL, q.pairs[3 * pair + 2], learning)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by the slots of the linear weights."""
    cdef Lrq *q = <Lrq *>learner
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = (s.index[i] << q.shift) & q.mask
    prefetch_slots(&q.m, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Lrq *q = <Lrq *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p, raw
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = learning and labeled and not held, learn = known and weight > 0
    cdef uint64_t turn = <uint64_t>q.m.scalars[SEEN] + (row - q.begin) + q.passes_ended if learn else 0
    cdef size_t terms = s.terms
    cdef int status = OK, extended, rounds, linear = <int>s.linear
    if known and not q.m.frozen:
        widen_range(&q.m, y)
    for rounds in range(2 if learn else 1):
        extended = extend(q, s, terms, turn + rounds, learn)
        if extended != OK:
            return extended
        s.linear = linear
        raw = inner_product(&q.m, s, rows.initial_prediction[row])
        p = clip(raw, &q.m)
        status |= OK if isfinite(raw) else UNSTABLE
        if rounds == 0 or q.m.vw_compat:   # vw reports the raw prediction of the last round
            out.raw[row] = raw
        if rounds == 0:
            out.prediction[row] = apply_link(q.m.link, p)
            out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
        if learn and (q.m.vw_compat or status == OK):
            status |= learn_row(&q.m, s, p, y, weight)
            sync_if_due(&q.m)
    out.features[row] = <uint32_t>s.count
    count_time(&q.m, weight, labeled, held)
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef const int32_t[:, ::1] pairs = config.pairs
    cdef uint64_t[::1] random_state = state.random_state
    cdef Lrq q
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    q.m = open_learner(state, config)
    q.mask, q.shift, q.begin = <uint32_t>q.m.slots - 1, config.shift, call.row
    q.pairs, q.count, q.passes_ended = &pairs[0, 0], <int>pairs.shape[0], state.ends
    q.dropout, q.random_state = config.dropout, &random_state[0]
    check_fit(state, &call)
    if pairs.shape[1] != 3 or state.mask is not None or state.scalars.shape[0] != SCALARS + 1:
        raise ValueError("pairs must be two namespaces and a rank, and there must be no mask")
    with nogil:
        status = process_in_order(&q, prepare, process_example, not q.m.vw_compat, &call)
    q.m.scalars[SEEN] += call.row - q.begin
    return status, call.row
