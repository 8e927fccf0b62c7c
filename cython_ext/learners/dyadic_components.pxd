"""The dot products of a row: made from its features, and moved to the end of its update.

L2 decay that differs between parameters takes turns with the flow (Strang, SIAM J. Numer. Anal. 5, 1968): half a decay, the flow
without decay, half a decay: of order 2, and stable for any size, since each part is exact.
"""

from libc.math cimport ceil, exp, fabs, pow, sqrt
from libc.stdint cimport uint32_t

from base.status cimport NO_MEMORY, OK
from features.row_buffer cimport Group, Scratch
from learners.dyadic_flow cimport (
    Component, Flow, Step, constant_slope, flow_step, has_constant_slope, loss_slope, safe_exp, speed_slope,
)
from learners.dyadic_model cimport (
    MAX_PAIRS, DyadicScratch, Learner, add_side, can_move, component_of, group_of, reserve, vector_changes,
)
from learners.latent_vectors cimport Latent, Side, count_update, merge_slots, move_vector, read_vector, shrink_vectors


cdef inline void measure_component(const Learner *m, DyadicScratch *work, size_t number) noexcept nogil:
    """Sum the vectors of both sides, and what their dot product is along the flow."""
    cdef Side *a = &work.side[2 * number]
    cdef Side *b = a + 1
    cdef Component *c = &work.component[number]
    cdef size_t d
    cdef int side
    for side in range(2):
        read_vector(&a[side])
        for d in range(a.latent.rank):
            a[side].vector[d] += m.offset
    if not (a.latent.fixed or b.latent.fixed):
        c[0] = component_of(a.vector, b.vector, a.square, b.square, a.latent.rank)
        return
    c[0] = component_of(a.vector, b.vector, 1, 1, a.latent.rank)
    c.omega = 0
    for d in range(a.latent.rank):
        c.square += (0 if a.latent.fixed else a.square) * b.vector[d] * b.vector[d]
        c.square += (0 if b.latent.fixed else b.square) * a.vector[d] * a.vector[d]


cdef inline void close_component(const Learner *m, DyadicScratch *work) noexcept nogil:
    """Keep the component if it can change."""
    if can_move(&work.side[2 * work.components], &work.side[2 * work.components + 1]):
        measure_component(m, work, work.components)
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
            add_side(work, &m.latent[pair][0], 0, a.index + i, a.value + i, 1 if m.positional else a.size, &used, mask)
            add_side(work, &m.latent[pair][1], 1, b.index + i, b.value + i, 1 if m.positional else b.size, &used, mask)
            close_component(m, work)
    return OK


cdef inline bint has_unknown_side(const DyadicScratch *work) noexcept nogil:
    """Whether of some side no vector was ever updated, so that nothing is known of its dot product."""
    cdef size_t i, j
    cdef const Side *side
    for i in range(2 * work.components):
        side = &work.side[i]
        for j in range(side.size):
            if side.latent.table[side.latent.stride * side.index[j] + side.latent.rank]:
                break
        else:
            return True
    return False


cdef inline double dot_products(const Learner *m, const DyadicScratch *work) noexcept nogil:
    cdef size_t i
    cdef double total = 0
    for i in range(work.components):
        total += 0.25 * (work.component[i].plus - work.component[i].minus)
    return total - work.components * m.offset_square


cdef inline void move_component(const Learner *m, DyadicScratch *work, size_t number, double s, double fade) noexcept nogil:
    """Move the vectors of both sides to the end of the flow."""
    cdef Side *left = &work.side[2 * number]
    cdef Side *right = left + 1
    cdef double decay = safe_exp(-fade)
    vector_changes(
        &work.component[number], s, fade, left.square, right.square, left.latent.rank, left.vector, right.vector)
    move_vector(left, left.vector, decay, (decay - 1) * m.offset / left.square)
    move_vector(right, right.vector, decay, (decay - 1) * m.offset / right.square)


cdef inline void move_one_side(DyadicScratch *work, size_t number, double s) noexcept nogil:
    """Where a side is fixed the other one moves along it; nothing where both are."""
    cdef Side *moving = &work.side[2 * number]
    cdef Side *fixed = moving + 1
    cdef size_t d
    if moving.latent.fixed:
        moving, fixed = fixed, moving
    for d in range(fixed.latent.rank):
        moving.vector[d] = -s * fixed.vector[d]
    if not moving.latent.fixed:
        move_vector(moving, moving.vector, 1, 0)


cdef inline void count_updates(const DyadicScratch *work) noexcept nogil:
    cdef size_t i, j
    for i in range(2 * work.components):
        for j in range(0 if work.side[i].latent.fixed else work.side[i].size):
            count_update(work.side[i].latent, work.side[i].index[j])


cdef inline void move_components(const Learner *m, DyadicScratch *work, const Flow *flow, const Step *step) noexcept nogil:
    """Move the vectors of every component, whose updates were counted, to the end of the flow."""
    cdef size_t i
    cdef double fade = flow.rate * flow.decay * step.h
    for i in range(work.components):
        if work.component[i].omega > 0:
            move_component(m, work, i, step.s, fade)
        else:
            move_one_side(work, i, step.s)


cdef enum:
    MAX_TURNS = 64


cdef inline double decay_of(const Learner *m, double decay, double updates) noexcept nogil:
    """The decay of what was updated so often before."""
    if m.decay_power == 0 or updates <= 0:
        return decay
    return decay * pow(1 + updates, -m.decay_power)


cdef struct Rates:       # of a model whose parameters have rates of their own, see learners/dyadic_rates.pxd
    double vectors        # v m sqrt(c)
    double linear         # l m z c
    double start          # c^(2 e + 1)
    double decay          # c^e: by it rates of vectors are free of the unit
    double linear_decay   # of linear weights likewise, l m z c^e
    double pass_decay     # X / n is added to the decay of what was updated n (j + 1) times up to pass j


cdef inline double decay_at(const Learner *m, const Rates *rates, double decay, double updates) noexcept nogil:
    """Of what was updated so often, the present time included."""
    decay = decay / sqrt(sqrt(updates)) if m.decay_power == 0.25 and updates >= 1 else decay_of(m, decay, updates - 1)
    return decay + rates.pass_decay / max(updates, 1.0)


cdef inline bint is_repeated(const Learner *m, size_t pair, int side) noexcept nogil:
    """Whether the group was a side before."""
    cdef size_t before
    cdef int other
    for before in range(pair + 1):
        for other in range(2 if before < pair else side):
            if m.group[before][other] == m.group[pair][side]:
                return True
    return False


cdef inline bint has_linear(const Learner *m, int number) noexcept nogil:
    """Whether the linear weights of the group are updated."""
    cdef int i
    for i in range(m.fixed.size):
        if m.fixed.number[i] == number:
            return False
    for i in range(m.dropped.size):
        if m.dropped.number[i] == number:
            return False
    return not m.fixed_linear


cdef inline void shrink_linear(const Learner *m, const DyadicScratch *work, const Rates *rates, double time,
                               uint32_t mask) noexcept nogil:
    """Decay of the linear weights of the pairs' namespaces. ``rates`` NULL: all have the same, which ``time`` includes."""
    cdef const Group *group
    cdef const Latent *latent
    cdef double decay
    cdef float updates
    cdef size_t pair, i, slot
    cdef int side
    for pair in range(m.pairs):
        for side in range(2):
            group = group_of(m, pair, side, &work.row)
            if group == NULL or is_repeated(m, pair, side) or not has_linear(m, group.number):
                continue
            latent = &m.latent[pair][side]
            for i in range(group.size):
                slot = group.index[i] & mask
                updates = latent.table[latent.stride * slot + latent.rank]
                if rates == NULL:
                    decay = time * decay_of(m, m.linear_decay, updates - (0 if latent.fixed else 1))
                elif m.rates[2 * slot] > 0:
                    decay = decay_at(m, rates, m.linear_decay, updates + latent.fixed)
                    decay *= rates.linear_decay * time / sqrt(m.rates[2 * slot])
                else:
                    continue
                m.table[slot] = <float>(m.table[slot] * exp(-decay))


cdef inline void shrink(const Learner *m, DyadicScratch *work, double time, uint32_t mask) noexcept nogil:
    cdef size_t i
    for i in range(2 * work.components):
        if not work.side[i].latent.fixed:
            shrink_vectors(&work.side[i], 0, work.side[i].latent.rank, time, m.decay_power, m.offset, m.decays_weights)
    if m.linear_decay > 0:
        shrink_linear(m, work, NULL, time, mask)


cdef inline double linear_sum(const Learner *m, const Scratch *s, double start) noexcept nogil:
    cdef size_t i
    cdef double sum = start
    for i in range(s.terms):
        sum += <double>m.table[s.index[i]] * s.value[i]
    return sum


cdef inline int turns_for(double decay, double way) noexcept nogil:
    """How many turns there are: more the more decay and flow disagree, by the error of a turn, which is of third order; fitted to
    come within 3e-6 of the flow in the tests, and 5e-5 where a loss with a kink stops at the label.
    """
    cdef double number = max(decay / 0.05, sqrt(decay * way * (decay + way) / 24e-6))
    return MAX_TURNS if number > MAX_TURNS else max(1, <int>ceil(number))


cdef inline double way_of(const Flow *flow, double p) noexcept nogil:
    """How far a flow from ``p`` goes for an importance of 1, relative to itself."""
    cdef bint constant = has_constant_slope(flow)
    cdef double slope = fabs(constant_slope(flow, p) if constant else loss_slope(flow, p)), in_h
    cdef double way = 0 if constant else fabs(speed_slope(flow, 0, 0, &in_h))
    cdef size_t i
    for i in range(flow.components):
        way = max(way, flow.rate * slope * flow.component[i].omega)
    return way


cdef inline int turns(const Learner *m, const DyadicScratch *work, const Flow *flow, double p, double importance) noexcept nogil:
    cdef double most = m.linear_decay
    cdef size_t i
    for i in range(2 * work.components):
        most = max(most, work.side[i].latent.decay)
    return turns_for(flow.rate * importance * most, importance * way_of(flow, p))


cdef inline Step step_after(const Learner *m, DyadicScratch *work, Flow *flow, double decay_time, double importance, double start,
                            uint32_t mask) noexcept nogil:
    """The step of the flow once parameters have decayed for this time, which may be negative."""
    cdef double p
    cdef size_t i
    shrink(m, work, decay_time, mask)
    for i in range(work.components):
        measure_component(m, work, i)
    flow.linear = linear_sum(m, &work.row, start) - work.components * m.offset_square
    p = flow.linear
    for i in range(work.components):
        p += 0.25 * (work.component[i].plus - work.component[i].minus)
    return flow_step(flow, p, importance)


cdef inline Step learn_in_turns(const Learner *m, DyadicScratch *work, Flow *flow, double p, double importance, double start,
                                uint32_t mask) noexcept nogil:
    """An update, counted already, of a row whose linear terms are merged. ``start`` is what they are added to.

    Where the slope of the loss is constant the update ends at the label, decay included.
    """
    cdef int i, count = turns(m, work, flow, p, importance)
    cdef size_t j
    cdef double part = importance / count
    cdef bint ends = False
    cdef Step step = Step(0, 0, True), whole = Step(0, 0, True)
    for i in range(count):
        step = step_after(m, work, flow, 0.5 * flow.rate * part, part, start, mask)
        ends = has_constant_slope(flow) and step.h < part
        if ends:                  # all decay of the time up to the label comes before the flow, which ends there
            step = step_after(m, work, flow, flow.rate * (step.h - 0.5 * part), part, start, mask)
        whole.s, whole.h, whole.bounded = whole.s + step.s, whole.h + step.h, whole.bounded and step.bounded
        if step.s != step.s:
            return step
        for j in range(work.row.terms):
            m.table[work.row.index[j]] = <float>(m.table[work.row.index[j]] - step.s * work.row.value[j])
        move_components(m, work, flow, &step)
        if ends:
            break
        shrink(m, work, 0.5 * flow.rate * part, mask)
    return whole
