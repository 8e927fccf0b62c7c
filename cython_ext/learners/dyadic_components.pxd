"""The dot products of a row: made from its features, and moved to the end of its update."""

from libc.stdint cimport uint32_t

from base.status cimport NO_MEMORY, OK
from features.row_buffer cimport Group
from learners.dyadic_flow cimport Component, Flow, Step, safe_exp
from learners.dyadic_model cimport MAX_PAIRS, Learner, group_of
from learners.dyadic_moves cimport add_side, can_move, component_of, vector_changes
from learners.dyadic_scratch cimport DyadicScratch, reserve
from learners.latent_vectors cimport Side, count_update, merge_slots, move_vector, read_vector


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
