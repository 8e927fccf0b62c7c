"""Dyadic models: a linear part and dot products of latent vectors, updated along the exact gradient flow."""

from libc.math cimport INFINITY, NAN, isfinite, isinf, isnan, sqrt
from libc.stdint cimport uint32_t

from base.byte_scan cimport prefetch, unlikely
from features.expand_row cimport expand
from learners.dyadic_components cimport (
    count_updates, dot_products, has_unknown_side, learn_in_turns, linear_sum, make_components, move_components,
)
from learners.dyadic_flow cimport Flow, Step, flow_step, importance_to_flip, is_at_rest, prediction_at
from features.namespace_groups cimport Rows
from learners.dyadic_model cimport (
    MAX_LABEL, MAX_PAIRS, MIN_LABEL, MISMATCHED, SCALARS, TIME, UNBOUNDED, DyadicScratch, Learner, close_work,
    group_of, open_work, step_rate,
)
from learners.frozen_terms cimport open_groups, take_constant, take_terms
from learners.latent_vectors cimport Latent, merge_slots, start_value
from learners.least_importance cimport least_importance
from learners.query_choice cimport Asking, asked_weight, open_asking, record_asked
from losses.loss_types cimport apply_link, read_params
from losses.losses cimport get_loss
from features.plan cimport Plan
from text.batch_builder cimport BLANK, SAVE
from features.row_buffer cimport LONG_ROW, Group, Scratch, free_terms
from base.status cimport NO_MEMORY, OK, STOPPED, TOO_MANY, UNSTABLE
from learners.example_loop cimport Call, open_call
from features.kernel_views cimport Results
from learners.dyadic_rates cimport Rates, learn_at_rates, rates_at, scale_starts, set_rates, unit_of


cdef inline double take_fixed_terms(const Learner *m, Scratch *s, uint32_t mask) noexcept nogil:
    """``take_terms`` of all linear weights that are fixed."""
    cdef double sum
    if m.fixed_linear:
        sum = linear_sum(m, s, 0)
        s.terms = 0
        return sum
    sum = take_terms(m.table, 1, &m.fixed, s, mask)
    if m.fixed_constant and s.constant:
        sum += take_constant(m.table, 1, s)
    return sum


cdef inline Flow open_flow(Learner *m, DyadicScratch *work, double linear, float y) noexcept nogil:
    """The flow of the row; its terms that share a slot are merged."""
    cdef Flow flow
    cdef size_t i
    cdef Scratch *s = &work.row
    flow.component, flow.components = work.component, work.components
    flow.linear, flow.label = linear - work.components * m.offset_square, y
    flow.rate, flow.decay = step_rate(m), m.decay
    flow.loss, flow.params = m.loss_code, &m.params
    flow.square = 0
    s.terms = merge_slots(s.index, s.value, s.terms)
    for i in range(s.terms):
        flow.square += <double>s.value[i] * s.value[i]
    for i in range(work.components):
        flow.square += work.component[i].square
    return flow


cdef inline int learn(Learner *m, DyadicScratch *work, double p, double linear, const Rows *rows, size_t row,
                      float weight, uint32_t mask) noexcept nogil:
    cdef Flow flow
    cdef Step step
    cdef size_t i
    cdef Scratch *s = &work.row
    cdef double start = rows.initial_prediction[row]
    if work.repeats:
        m.scalars[MISMATCHED] += 1
        return OK
    if m.fixed_linear or m.fixed_constant or m.fixed.size:
        start += take_fixed_terms(m, s, mask)
    flow = open_flow(m, work, linear, rows.label[row])
    if work.components == 0 and flow.square == 0:
        return OK
    if m.adaptive:
        return learn_at_rates(m, work, &flow, p, weight, start, mask)
    if m.separate and not is_at_rest(&flow, p):
        count_updates(work)
        step = learn_in_turns(m, work, &flow, p, weight, start, mask)
    else:
        step = flow_step(&flow, p, weight)
    m.scalars[TIME] += weight
    m.scalars[UNBOUNDED] += not step.bounded
    if not isfinite(step.s):
        return UNSTABLE
    if m.separate or (step.s == 0 and (step.h == 0 or m.decay == 0)):
        return OK
    for i in range(s.terms):
        m.table[s.index[i]] = <float>(m.table[s.index[i]] - step.s * s.value[i])
    count_updates(work)
    move_components(m, work, &flow, &step)
    return OK


cdef inline float clip(double p, const Learner *m) noexcept nogil:
    if isnan(p):
        return 0
    if p < m.scalars[MIN_LABEL]:
        return <float>m.scalars[MIN_LABEL]
    return <float>m.scalars[MAX_LABEL] if p > m.scalars[MAX_LABEL] else <float>p


cdef inline void set_flip(Results *out, size_t row, double importance) noexcept nogil:
    if out.flip_importance != NULL:
        out.flip_importance[row] = <float>importance


cdef inline double importance_to_change(Learner *m, DyadicScratch *work, double p, double linear, double rate) noexcept nogil:
    """The importance to flip the sign of ``p`` at this learning rate; 0 where nothing is known of a side."""
    cdef Flow flow
    cdef Rates rates
    if has_unknown_side(work) or (m.adaptive and m.rates == NULL):
        return 0
    flow = open_flow(m, work, linear, 0)
    flow.rate = rate
    if m.adaptive:
        rates = rates_at(m, rate)
        set_rates(m, work, &flow, &rates)
    return importance_to_flip(&flow, p)


cdef struct Trial:
    Flow flow
    double p


cdef double prediction_after(void *update, double importance) noexcept nogil:
    cdef Trial *t = <Trial *>update
    cdef Step step = flow_step(&t.flow, t.p, importance)
    return prediction_at(&t.flow, step.s, step.h) if isfinite(step.s) else NAN


cdef inline double importance_to_target(Learner *m, DyadicScratch *work, double p, double linear, float y, uint32_t mask) noexcept nogil:
    """The importance with which the label ``y`` would carry ``p`` to the target; of an unlabelled row that of the target's side.

    Decay that is a step of its own (``separate``) is left out, and adaptive rates are those before the example.
    """
    cdef Trial t
    cdef Rates rates
    if m.adaptive and m.rates == NULL:
        return NAN
    if work.repeats:
        return INFINITY
    if isnan(y):
        y = m.high_label if m.target > p else m.low_label
    m.params.min_label, m.params.max_label = <float>min(m.scalars[MIN_LABEL], y), <float>max(m.scalars[MAX_LABEL], y)
    if m.fixed_linear or m.fixed_constant or m.fixed.size:
        take_fixed_terms(m, &work.row, mask)
    t.flow, t.p = open_flow(m, work, linear, y), p
    t.flow.rate = m.flip_rate
    if m.adaptive:
        rates = rates_at(m, m.flip_rate)
        set_rates(m, work, &t.flow, &rates)
    return least_importance(prediction_after, &t, p, m.target)


cdef inline int process_example(Learner *m, const Rows *rows, size_t row, DyadicScratch *work, Results *out, bint learning,
                                uint32_t mask) noexcept nogil:
    cdef float y = rows.label[row], weight = rows.importance[row], clipped
    cdef bint labeled = not isnan(y), wanted = learning and labeled and not (out.holdout_mask != NULL and out.holdout_mask[row])
    cdef double linear, p, flip
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
    if m.dropped.size:
        take_terms(m.table, 1, &m.dropped, &work.row, mask)
    linear = linear_sum(m, &work.row, rows.initial_prediction[row])
    p = linear + dot_products(m, work)
    clipped = clip(p, m)
    out.raw[row] = <float>p
    out.prediction[row] = apply_link(m.link, clipped)
    if wanted and weight > 0 and m.asking.counts != NULL and isfinite(p):
        flip = importance_to_change(m, work, p, linear, step_rate(m)) if <float>m.scalars[TIME] > 1 else 0
        weight = asked_weight(&m.asking, m.scalars[TIME], flip, weight)
        record_asked(&m.asking, row, weight, m.loss.value(&m.params, clipped, y))
    if labeled and weight > 0:
        out.loss[row] = m.loss.value(&m.params, clipped, y) * weight
    if weight > rows.importance[row]:           # one over its probability would move vectors that have few labels too far
        m.scalars[TIME] += weight - rows.importance[row]
        weight = rows.importance[row]
    if not isfinite(p) or isinf(out.prediction[row]):
        return UNSTABLE
    if m.aims and out.flip_importance != NULL:
        set_flip(out, row, importance_to_target(m, work, p, linear, y, mask))
    elif out.flip_importance != NULL:
        set_flip(out, row, importance_to_change(m, work, p, linear, step_rate(m) if learning else m.flip_rate))
    return learn(m, work, p, linear, rows, row, weight, mask) if wanted and weight > 0 else OK


cdef inline void prefetch_row(const Learner *m, const Scratch *s, uint32_t mask) noexcept nogil:
    """Prefetch the table entries of the next row."""
    cdef size_t i, pair
    cdef int side
    cdef const Group *group
    cdef const float *vector
    for i in range(s.terms):
        prefetch(m.table + s.index[i])
        if m.rates != NULL:
            prefetch(m.rates + 2 * <size_t>s.index[i])
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
    return Latent(<float *>&table[0, 0], table.shape[1], rank, config.seeds[pair][side], config.scale, config.normal,
                  0 if state.learning else config.fewest, config.decay, False, NULL)


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
    m.offset, m.power_t, m.initial_t = config.offset, config.power_t, config.initial_t
    m.offset_square = config.offset_square
    decays = config.decays(plan)
    m.aims = config.target is not None
    m.separate = config.is_separate(plan, state.learning or m.aims)
    m.decay = 0 if m.separate else decays[0][0]
    m.decay_power, m.linear_decay, m.decays_weights = config.decay_power, config.linear_decay, config.decays_weights
    m.fixed_linear, m.fixed_constant = plan.frozen.linear, plan.frozen.constant
    m.fixed, m.dropped = open_groups(plan.frozen.groups), open_groups(plan.dropped)
    m.first_pass_t, m.flip_rate = config.first_pass_t, config.confidence_rate
    if m.aims:
        m.target = config.target
        m.low_label, m.high_label = config.ends or (scalars[MIN_LABEL], scalars[MAX_LABEL])
    m.asking = Asking(NULL, NULL, NULL, NULL, 0)
    m.positional, m.frozen, m.vw_compat = config.rank == 0, config.frozen, config.vw_compat
    m.pairs = len(plan.pairs)
    for pair in range(m.pairs):
        for side in range(2):
            m.group[pair][side] = plan.pairs[pair][side]
            m.latent[pair][side] = open_latent(state, config, pair, side)
            m.latent[pair][side].decay = decays[pair][side]
            m.latent[pair][side].fixed = (state.learning or m.aims) and plan.frozen.sides[pair][side]
    open_rates(&m, state, config)
    return m


cdef int open_rates(Learner *m, state, config) except -1:
    """What adaptive rates need, where there are such."""
    cdef float[:, ::1] rates
    cdef double[:, ::1] squares
    cdef size_t pair
    cdef int side
    m.adaptive, m.has_unit, m.slope_power, m.scale = config.adaptive, config.has_unit, config.slope_power, config.scale
    m.pass_decay, m.rates = config.pass_decay, NULL
    if not m.adaptive:
        return 0
    squares = state.side_squares
    if <size_t>squares.shape[0] != m.pairs or squares.shape[1] != 2 or m.latent[0][0].stride < m.latent[0][0].rank + 3:
        raise ValueError("arrays of adaptive rates have a wrong shape")
    for pair in range(m.pairs):
        for side in range(2):
            m.latent[pair][side].squares = &squares[pair, side]
    if state.rates is not None:
        rates = state.rates
        if rates.shape[0] != len(state.weights) or rates.shape[1] != 2:
            raise ValueError("the table of adaptive rates has a wrong shape")
        m.rates = &rates[0, 0]
    elif state.learning:
        raise ValueError("no table of adaptive rates")
    scale_starts(m)
    return 0


def read_vectors(state, config, pair_and_side, const uint32_t[::1] slots, float[:, ::1] vectors):
    """Fill ``vectors``, float32[n, rank], with the latent vectors of the slots of one side of a pair, start values included."""
    cdef Latent latent = open_latent(state, config, pair_and_side[0], pair_and_side[1])
    cdef const float *row
    cdef const double[::1] scalars
    cdef size_t i, d
    if config.adaptive and config.has_unit:
        scalars = state.scalars
        latent.scale *= sqrt(unit_of(&scalars[0]))
    if vectors.shape[0] != slots.shape[0] or <size_t>vectors.shape[1] != latent.rank:
        raise ValueError("a vector of the model's rank for each slot")
    for i in range(<size_t>slots.shape[0]):
        if slots[i] >= <size_t>len(state.weights):
            raise IndexError(slots[i])
        row = latent.table + latent.stride * slots[i]
        for d in range(latent.rank):
            vectors[i, d] = row[d] if row[latent.rank] else start_value(&latent, slots[i], d)
            if row[latent.rank] < latent.fewest:
                vectors[i, d] = 0


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; see ``learners/gd.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Learner m = open_learner(state, config, plan)
    cdef DyadicScratch work[2]
    cdef int status = NO_MEMORY
    if <size_t>state.weights.shape[0] != <size_t>call.plan.mask + 1 or call.end > call.rows.size:
        raise ValueError("table, plan and batch do not belong together")
    if call.end:
        m.asking = open_asking(state, config, call.end)
    open_work(&work[0])
    open_work(&work[1])
    with nogil:
        status = run(&m, &call.rows, &call.plan, &call.out, &call.row, call.end, call.learning, work)
    close_work(&work[0])
    close_work(&work[1])
    return status, call.row
