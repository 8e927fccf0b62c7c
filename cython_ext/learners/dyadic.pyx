"""Dyadic models: a linear part and dot products of latent vectors, updated along the exact gradient flow."""

from libc.math cimport INFINITY, isfinite, isnan
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from base.byte_scan cimport prefetch, unlikely
from features.expand_row cimport expand
from learners.dyadic_flow cimport Flow, Step, flow_step, importance_to_flip, safe_exp
from features.namespace_groups cimport Rows
from learners.dyadic_moves cimport add_side, can_move, component_of, decayed_rate, vector_changes
from learners.latent_vectors cimport Latent, Side, merge_slots, move_vector, start_value
from losses.links cimport apply_link
from losses.loss_types cimport Loss, LossParams, read_params
from losses.losses cimport get_loss
from features.plan cimport Plan
from text.batch_builder cimport BLANK, SAVE
from features.row_buffer cimport LONG_ROW, Group, Scratch, free_terms
from base.status cimport NO_MEMORY, OK, STOPPED, TOO_MANY, UNSTABLE
from features.kernel_views cimport Results, open_plan, open_results, open_rows
from learners.dyadic_scratch cimport DyadicScratch, close_work, reserve, open_work


cdef enum:                 # positions in Dyadic.scalars, named in vwlite/learners/dyadic.py
    TIME = 0               # sum of importance of the examples learned
    MIN_LABEL = 1
    MAX_LABEL = 2
    RATE_NOW = 3           # learning rate, decayed by the passes so far
    UNBOUNDED = 4          # number of updates that hit an iteration limit
    MISMATCHED = 5         # number of rows whose sides cannot be paired by position (rank 0)
    LATER = 6              # 0 in the first pass
    SCALARS = 7
    MAX_PAIRS = 16


cdef struct Learner:
    float *table             # (2^bits,) the linear weights
    double *scalars          # (SCALARS,)
    Loss loss
    LossParams params
    int loss_code
    int link
    double decay             # L2 on latent vectors
    double offset            # added to every element of both vectors
    double power_t, initial_t
    double first_pass_t      # 0: the rate is constant within the first pass, too
    bint positional          # rank 0: feature i of one side is paired with feature i of the other
    bint frozen
    bint vw_compat
    size_t pairs
    int group[MAX_PAIRS][2]  # group numbers of both sides
    Latent latent[MAX_PAIRS][2]


cdef inline const Group *group_of(const Learner *m, size_t pair, int side, const Scratch *s) noexcept nogil:
    cdef int index = s.where[m.group[pair][side]]
    if index < 0:
        return NULL
    return &s.group[index]


cdef inline void add_shifted(Learner *m, DyadicScratch *work, size_t pair, int which, const uint32_t *index,
                             const float *value, size_t size, size_t *used, uint32_t mask) noexcept nogil:
    """``add_side``, with the offset in the vector."""
    cdef size_t i
    cdef double *vector = work.vector + (2 * work.components + which) * m.latent[pair][which].rank
    add_side(work, &m.latent[pair][which], which, index, value, size, used, mask)
    for i in range(m.latent[pair][which].rank):
        vector[i] += m.offset


cdef inline void close_component(DyadicScratch *work, size_t rank) noexcept nogil:
    """Keep the component if it can change."""
    cdef const Side *a = &work.side[2 * work.components]
    cdef const Side *b = a + 1
    if can_move(a, b):
        work.component[work.components] = component_of(a.vector, b.vector, a.square, b.square, rank)
        work.components += 1


cdef inline bint repeats_slot(const Group *group, DyadicScratch *work, uint32_t mask) noexcept nogil:
    """Whether two features of a side share a slot. Overwrites the arrays of the sides."""
    cdef size_t i
    for i in range(group.size):
        work.index[i] = group.index[i] & mask
    return merge_slots(work.index, work.value, group.size) < group.size


cdef inline int make_components(Learner *m, DyadicScratch *work, uint32_t mask) noexcept nogil:
    """Build all components of the row. OK, NO_MEMORY, or -1 when the sides of a positional pair differ in length."""
    cdef const Group *a
    cdef const Group *b
    cdef size_t pair, i, used = 0, features = 0, rank = m.latent[0][0].rank
    for pair in range(m.pairs):
        a = group_of(m, pair, 0, &work.row)
        b = group_of(m, pair, 1, &work.row)
        features += (a.size if a != NULL else 0) + (b.size if b != NULL else 0)
        if m.positional and (a.size if a != NULL else 0) != (b.size if b != NULL else 0):
            return -1
    if not reserve(work, 2 * features + 2 * MAX_PAIRS, rank):
        return NO_MEMORY
    work.components = 0
    work.repeats = False
    for pair in range(m.pairs if m.positional else 0):
        a = group_of(m, pair, 0, &work.row)
        b = group_of(m, pair, 1, &work.row)
        if a != NULL and (repeats_slot(a, work, mask) or repeats_slot(b, work, mask)):
            work.repeats = True
    for pair in range(m.pairs):
        a = group_of(m, pair, 0, &work.row)
        b = group_of(m, pair, 1, &work.row)
        if a == NULL or b == NULL:
            continue
        for i in range(a.size if m.positional else 1):
            add_shifted(m, work, pair, 0, a.index + i, a.value + i, 1 if m.positional else a.size, &used, mask)
            add_shifted(m, work, pair, 1, b.index + i, b.value + i, 1 if m.positional else b.size, &used, mask)
            close_component(work, rank)
    return OK


cdef inline double dot_products(const DyadicScratch *work) noexcept nogil:
    cdef size_t i
    cdef double total = 0
    for i in range(work.components):
        total += 0.25 * (work.component[i].plus - work.component[i].minus)
    return total


cdef inline double step_rate(const Learner *m) noexcept nogil:
    """The current learning rate."""
    cdef double t1 = m.first_pass_t if m.scalars[LATER] == 0 else 0
    return decayed_rate(m.scalars[RATE_NOW], m.scalars[TIME], t1, m.power_t, m.initial_t)


cdef inline void move_components(const Learner *m, DyadicScratch *work, const Flow *flow, const Step *step) noexcept nogil:
    """Move the vectors of both sides of every component to the end of the flow."""
    cdef size_t i, rank = m.latent[0][0].rank
    cdef double fade = flow.rate * flow.decay * step.h, decay = safe_exp(-fade)
    cdef Side *left
    cdef Side *right
    for i in range(work.components):
        left, right = &work.side[2 * i], &work.side[2 * i + 1]
        vector_changes(&work.component[i], step.s, fade, left.square, right.square, rank, left.vector, right.vector)
        move_vector(left, left.vector, decay, (decay - 1) * m.offset / left.square)
        move_vector(right, right.vector, decay, (decay - 1) * m.offset / right.square)


cdef inline Flow open_flow(Learner *m, DyadicScratch *work, double linear, float y) noexcept nogil:
    """The flow of the row; its terms that share a slot are merged."""
    cdef Flow flow
    cdef size_t i
    cdef Scratch *s = &work.row
    flow.component, flow.components = work.component, work.components
    flow.linear, flow.label = linear, y
    flow.rate, flow.decay = step_rate(m), m.decay
    flow.loss, flow.params = m.loss_code, &m.params
    flow.square = 0
    s.terms = merge_slots(s.index, s.value, s.terms)
    for i in range(s.terms):
        flow.square += <double>s.value[i] * s.value[i]
    return flow


cdef inline int learn(Learner *m, DyadicScratch *work, double p, double linear, float y, float weight) noexcept nogil:
    cdef Flow flow
    cdef Step step
    cdef size_t i
    cdef Scratch *s = &work.row
    if work.repeats:
        m.scalars[MISMATCHED] += 1
        return OK
    flow = open_flow(m, work, linear, y)
    if work.components == 0 and flow.square == 0:
        return OK
    step = flow_step(&flow, p, weight)
    m.scalars[TIME] += weight
    m.scalars[UNBOUNDED] += not step.bounded
    if not isfinite(step.s):
        return UNSTABLE
    if step.s == 0 and (step.h == 0 or m.decay == 0):
        return OK
    for i in range(s.terms):
        m.table[s.index[i]] = <float>(m.table[s.index[i]] - step.s * s.value[i])
    move_components(m, work, &flow, &step)
    return OK


cdef inline float clip(double p, const Learner *m) noexcept nogil:
    if isnan(p):
        return 0
    if p < m.scalars[MIN_LABEL]:
        return <float>m.scalars[MIN_LABEL]
    return <float>m.scalars[MAX_LABEL] if p > m.scalars[MAX_LABEL] else <float>p


cdef inline double linear_part(const Learner *m, const Scratch *s, double start) noexcept nogil:
    cdef size_t i
    cdef double sum = start
    for i in range(s.terms):
        sum += <double>m.table[s.index[i]] * s.value[i]
    return sum


cdef inline void set_flip(Results *out, size_t row, double importance) noexcept nogil:
    if out.flip_importance != NULL:
        out.flip_importance[row] = <float>importance


cdef inline int process_example(Learner *m, const Rows *rows, size_t row, DyadicScratch *work, Results *out, bint learning,
                                uint32_t mask) noexcept nogil:
    cdef float y = rows.label[row], weight = rows.importance[row], clipped
    cdef bint labeled = not isnan(y), wanted = learning and labeled and not (out.holdout_mask != NULL and out.holdout_mask[row])
    cdef double linear, p
    cdef Flow flow
    cdef int status = make_components(m, work, mask)
    out.loss[row] = 0
    out.features[row] = <uint32_t>work.row.count
    if status == NO_MEMORY:
        return status
    if status == -1:
        m.scalars[MISMATCHED] += 1
        out.raw[row] = out.prediction[row] = clip(0, m)
        set_flip(out, row, INFINITY)
        return OK
    if wanted and not m.frozen:
        m.scalars[MIN_LABEL] = y if y < m.scalars[MIN_LABEL] else m.scalars[MIN_LABEL]
        m.scalars[MAX_LABEL] = y if y > m.scalars[MAX_LABEL] else m.scalars[MAX_LABEL]
        m.params.min_label, m.params.max_label = <float>m.scalars[MIN_LABEL], <float>m.scalars[MAX_LABEL]
    linear = linear_part(m, &work.row, rows.initial_prediction[row])
    p = linear + dot_products(work)
    clipped = clip(p, m)
    out.raw[row] = <float>p
    out.prediction[row] = apply_link(m.link, clipped)
    if labeled and weight > 0:
        out.loss[row] = m.loss.value(&m.params, clipped, y) * weight
    if not isfinite(p):
        return UNSTABLE
    if out.flip_importance != NULL:
        flow = open_flow(m, work, linear, y)
        set_flip(out, row, importance_to_flip(&flow, p))
    return learn(m, work, p, linear, y, weight) if wanted and weight > 0 else OK


cdef inline void prefetch_row(const Learner *m, const Scratch *s, uint32_t mask) noexcept nogil:
    """Prefetch the table entries of the next row."""
    cdef size_t i, pair
    cdef int side
    cdef const Group *group
    cdef const float *vector
    for i in range(s.terms):
        prefetch(m.table + s.index[i])
    for pair in range(m.pairs):
        for side in range(2):
            group = group_of(m, pair, side, s)
            if group == NULL:
                continue
            for i in range(group.size):
                vector = m.latent[pair][side].table + m.latent[pair][side].stride * (group.index[i] & mask)
                prefetch(vector)
                prefetch(vector + m.latent[pair][side].rank)


cdef int run(Learner *m, const Rows *rows, const Plan *plan, Results *out, size_t *row, size_t end, bint learning,
             DyadicScratch *work) noexcept nogil:
    """Rows ``[row, end)`` in order; the table entries of the next row are prefetched while one is processed."""
    cdef size_t next = row[0]
    cdef int status = OK
    while row[0] < end and status == OK:
        if unlikely(plan.stop[0]):
            return STOPPED
        while next < end and next <= row[0] + 1 and status == OK:
            if next > row[0] and work[row[0] & 1].row.terms > LONG_ROW:
                break
            status = expand(rows, next, plan, &work[next & 1].row)
            if status == OK:
                prefetch_row(m, &work[next & 1].row, plan.mask)
            next += 1
        if status != OK:
            row[0] = next if status == TOO_MANY else row[0]
            break
        if rows.flags[row[0]] & (BLANK | SAVE):
            out.raw[row[0]] = out.prediction[row[0]] = out.loss[row[0]] = 0
            out.features[row[0]] = 0
            set_flip(out, row[0], INFINITY)
        else:
            status = process_example(m, rows, row[0], &work[row[0] & 1], out, learning, plan.mask)
            if status == UNSTABLE and m.vw_compat:
                status = OK
        if work[row[0] & 1].row.max_terms > LONG_ROW:
            free_terms(&work[row[0] & 1].row)
        row[0] += 1
    return status


cdef Latent open_latent(state, config, size_t pair, int side):
    cdef const float[:, ::1] table = state.latent[pair][side]
    cdef size_t rank = max(config.rank, 1)
    if table.shape[0] != len(state.weights) or <size_t>table.shape[1] <= rank:
        raise ValueError("a table of latent vectors has a wrong shape")
    return Latent(<float *>&table[0, 0], table.shape[1], rank, config.seeds[pair][side], config.scale, config.normal)


cdef Learner open_learner(state, config, plan):
    """From a ``Dyadic`` and its ``KernelConfig``; the pairs of ``plan`` name the sides' groups."""
    cdef const float[:, ::1] table = state.weights
    cdef double[::1] scalars = state.scalars
    cdef Learner m
    cdef size_t pair
    cdef int side
    if scalars.shape[0] != SCALARS or get_loss(config.loss_code, &m.loss) != 0 or not 0 < len(plan.pairs) <= MAX_PAIRS:
        raise ValueError("unknown loss, or a wrong number of scalars or pairs")
    m.table, m.scalars = <float *>&table[0, 0], &scalars[0]
    read_params(config.loss_params, &m.params)
    m.params.min_label, m.params.max_label = <float>scalars[MIN_LABEL], <float>scalars[MAX_LABEL]
    m.loss_code, m.link = config.loss_code, config.link_code
    m.decay, m.offset, m.power_t, m.initial_t = config.decay, config.offset, config.power_t, config.initial_t
    m.first_pass_t = config.first_pass_t
    m.positional, m.frozen, m.vw_compat = config.rank == 0, config.frozen, config.vw_compat
    m.pairs = len(plan.pairs)
    for pair in range(m.pairs):
        for side in range(2):
            m.group[pair][side] = plan.pairs[pair][side]
            m.latent[pair][side] = open_latent(state, config, pair, side)
    return m


def read_vectors(state, config, pair_and_side, const uint32_t[::1] slots, float[:, ::1] vectors):
    """Fill ``vectors``, float32[n, rank], with the latent vectors of the slots of one side of a pair, start values included."""
    cdef Latent latent = open_latent(state, config, pair_and_side[0], pair_and_side[1])
    cdef const float *row
    cdef size_t i, d
    if vectors.shape[0] != slots.shape[0] or <size_t>vectors.shape[1] != latent.rank:
        raise ValueError("a vector of the model's rank for each slot")
    for i in range(<size_t>slots.shape[0]):
        if slots[i] >= <size_t>len(state.weights):
            raise IndexError(slots[i])
        row = latent.table + latent.stride * slots[i]
        for d in range(latent.rank):
            vectors[i, d] = row[d] if row[latent.rank] else start_value(&latent, slots[i], d)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; see ``learners/gd.pyx``."""
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Learner m = open_learner(state, config, plan)
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef DyadicScratch work[2]
    cdef int status
    if <size_t>state.weights.shape[0] != <size_t>native_plan.mask + 1 or end > rows.size:
        raise ValueError("table, plan and batch do not belong together")
    open_work(&work[0])
    open_work(&work[1])
    with nogil:
        status = run(&m, &rows, &native_plan, &out, &begin, end, learning, work)
    close_work(&work[0])
    close_work(&work[1])
    return status, begin
