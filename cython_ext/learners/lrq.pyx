"""Low-rank quadratic interactions, as Vowpal Wabbit's ``--lrq``: factors of two namespaces, learned in turns.

Every feature has ``2^shift`` slots: its linear weight, then its factors. With the factors of one namespace held still
those of the other are weights of a linear model, to which gradient descent is left.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, uint32_t, uint64_t

from core.descent cimport (
    SCALARS, Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots, sync_if_due, widen_range
)
from core.expand cimport expand
from core.groups cimport Rows
from core.links cimport apply_link
from core.plan cimport Plan
from core.rows cimport BLANK, SAVE
from core.scratch cimport Group, Scratch, close_scratch, open_scratch, room_for_terms
from core.status cimport NO_MEMORY, OK, UNSTABLE
from core.view cimport Results, open_plan, open_results, open_rows

cdef extern from *:
    """
    static inline float vwl_first_factor(uint64_t position) {
        union { uint32_t bits; float number; } shown;
        uint64_t state = position * 0xeece66d5deece66dull + 2147483647u;
        shown.bits = (uint32_t)(state >> 25 & 0x7fffff) | 0x3f800000u;
        return shown.number - 1;
    }
    static inline int vwl_coin(uint64_t *state) {
        float chance = vwl_first_factor(*state);
        *state = *state * 0xeece66d5deece66dull + 2147483647u;
        return chance > 0.5f;
    }
    """
    bint toss "vwl_coin"(uint64_t *state) noexcept nogil
    float first_factor "vwl_first_factor"(uint64_t position) noexcept nogil

cdef enum:
    SEEN = SCALARS        # position in the scalars: rows so far, blank ones too


cdef struct Lrq:
    Learner m
    int shift
    uint32_t mask
    size_t slots
    const int32_t *pairs  # (count, 3): two letters, rank
    int count
    bint dropout           # half of the factors are left out of each turn, and all count half when predicting
    uint64_t *chance       # state of the random numbers that choose them
    uint64_t ends          # of passes, which take turns too


cdef inline int add_factors(Lrq *q, Scratch *s, const Group *still, const Group *moving, uint32_t rank,
                            bint learning) noexcept nogil:
    """Terms for the factors of ``moving``; those of ``still``, where they begin to learn, get their first values."""
    cdef size_t i, j
    cdef uint32_t n
    cdef uint64_t position
    cdef float *weight
    cdef float scale = <float>0.5 if q.dropout and not learning else <float>1
    if not room_for_terms(s, still.size * moving.size * rank):
        return NO_MEMORY
    for i in range(still.size):
        for n in range(1, rank + 1):
            if q.dropout and learning and not toss(q.chance):
                continue
            position = (<uint64_t>(still.index[i] & q.mask) << q.shift) + n
            weight = q.m.table + q.m.stride * (position & q.mask)
            if learning and weight[0] == 0:
                weight[0] = first_factor(position * q.m.stride)
            for j in range(moving.size):
                s.index[s.terms] = ((moving.index[j] << q.shift) + n) & q.mask
                s.value[s.terms] = scale * weight[0] * still.value[i] * moving.value[j]
                s.terms += 1
    return OK


cdef inline int extend(Lrq *q, Scratch *s, size_t terms, uint64_t turn, bint learning) noexcept nogil:
    """The row's own terms, the first ``terms``, and those of all factors that move in this turn."""
    cdef int pair, left, right, status = OK
    s.terms = terms
    for pair in range(q.count):
        left = s.where[q.pairs[3 * pair + <int>(turn & 1)]]
        right = s.where[q.pairs[3 * pair + 1 - <int>(turn & 1)]]
        if left >= 0 and right >= 0 and status == OK:
            status = add_factors(q, s, &s.group[left], &s.group[right], q.pairs[3 * pair + 2], learning)
    return status


cdef inline int visit(Lrq *q, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef float y = rows.label[row], weight = rows.importance[row], p, raw
    cdef bint labeled = not isnan(y), held = out.held != NULL and out.held[row]
    cdef bint learn = learning and labeled and not held
    cdef uint64_t turn = <uint64_t>q.m.scalars[SEEN] + q.ends if learn else 0
    cdef size_t i, terms = s.terms
    cdef int status = OK, rounds, linear = <int>s.linear
    for i in range(terms):
        s.index[i] = (s.index[i] << q.shift) & q.mask
    if learn and not q.m.frozen:
        widen_range(&q.m, y)
    for rounds in range(2 if learn else 1):
        if extend(q, s, terms, turn + rounds, learn) != OK:
            return NO_MEMORY
        s.linear = linear
        raw = inner_product(&q.m, s, rows.base[row])
        p = clip(raw, &q.m)
        status |= OK if isfinite(raw) else UNSTABLE
        if rounds == 0:
            out.raw[row] = raw
            out.prediction[row] = apply_link(q.m.link, p)
            out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
        if learn and weight > 0 and not (q.m.strict and status != OK):
            status |= learn_row(&q.m, s, p, y, weight)
            sync_if_due(&q.m, q.slots)
    out.features[row] = <uint32_t>s.count
    count_time(&q.m, weight, labeled, held)
    return status


cdef int run(Lrq *q, const Rows *rows, const Plan *plan, Results *out, size_t *row, size_t end, bint learning,
             Scratch *s) noexcept nogil:
    cdef int status = OK
    while row[0] < end and status == OK:
        if rows.flags[row[0]] & (BLANK | SAVE):
            out.raw[row[0]] = out.prediction[row[0]] = out.loss[row[0]] = 0
            out.features[row[0]] = 0
        else:
            status = expand(rows, row[0], plan, s)
            if status == OK:
                status = visit(q, rows, row[0], s, out, learning)
                if status == UNSTABLE and not q.m.strict:
                    status = OK
        q.m.scalars[SEEN] += 1
        row[0] += 1
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef const int32_t[:, ::1] pairs = config.pairs
    cdef uint64_t[::1] chance = state.chance
    cdef Lrq q
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef Scratch scratch
    cdef int status
    q.m = open_learner(state, config)
    q.slots, q.mask, q.shift = state.weights.shape[0], state.weights.shape[0] - 1, config.shift
    q.pairs, q.count, q.ends = &pairs[0, 0], <int>pairs.shape[0], state.ends
    q.dropout, q.chance = config.dropout, &chance[0]
    if q.slots != <size_t>native_plan.mask + 1 or end > rows.size:
        raise ValueError("table, plan and batch do not belong together")
    if pairs.shape[1] != 3 or state.mask is not None or state.scalars.shape[0] != SCALARS + 1:
        raise ValueError("pairs are two letters and a rank, and go with no mask")
    if learning and not state.weights.flags.writeable:
        raise ValueError("a read-only table cannot learn")
    open_scratch(&scratch)
    with nogil:
        status = run(&q, &rows, &native_plan, &out, &begin, end, learning, &scratch)
    close_scratch(&scratch)
    return status, begin
