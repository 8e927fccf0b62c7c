"""The dot products of a row: made from its features, and moved to the end of its update."""

from libc.math cimport exp, expm1, isfinite, sqrt
from libc.stdint cimport uint32_t

from base.status cimport NO_MEMORY, OK
from features.row_buffer cimport Group
from learners.dyadic_flow cimport Component, Flow, Step, safe_exp
from learners.dyadic_model cimport MAX_PAIRS, Learner, group_of
from learners.dyadic_scratch cimport DyadicScratch, reserve
from learners.latent_vectors cimport Side, count_update, merge_slots, move_vector, read_vector


cdef inline void add_side(Learner *m, DyadicScratch *work, size_t pair, int which, const uint32_t *index, const float *value,
                          size_t size, size_t *used, uint32_t mask) noexcept nogil:
    """Add one side of the component being built; its features are copied, and those that share a slot are merged."""
    cdef size_t i, rank = m.latent[pair][which].rank
    cdef Side *side = &work.side[2 * work.components + which]
    side.latent = &m.latent[pair][which]
    side.index, side.value = work.index + used[0], work.value + used[0]
    for i in range(size):
        side.index[i] = index[i] & mask
        side.value[i] = value[i]
    side.size = merge_slots(side.index, side.value, size)
    side.vector = work.vector + (2 * work.components + which) * rank
    used[0] += side.size
    side.square = 0
    for i in range(side.size):
        side.square += <double>side.value[i] * side.value[i]


cdef inline void measure_component(const Learner *m, DyadicScratch *work, size_t number) noexcept nogil:
    """Sum the vectors of both sides, and what their dot product is along the flow."""
    cdef Side *a = &work.side[2 * number]
    cdef Side *b = a + 1
    cdef Component *c = &work.component[number]
    cdef double root, sum, difference
    cdef size_t d
    cdef int side
    for side in range(2):
        read_vector(&a[side])
        for d in range(a.latent.rank):
            a[side].vector[d] += m.offset
    c.omega = sqrt(a.square) * sqrt(b.square)
    c.kappa = sqrt(a.square / b.square)
    c.plus = c.minus = c.square = 0
    if a.latent.fixed or b.latent.fixed:
        c.omega, c.kappa = 0, 1
        for d in range(a.latent.rank):
            c.square += (0 if a.latent.fixed else a.square) * b.vector[d] * b.vector[d]
            c.square += (0 if b.latent.fixed else b.square) * a.vector[d] * a.vector[d]
    root = sqrt(c.kappa)
    for d in range(a.latent.rank):
        sum = a.vector[d] / root + b.vector[d] * root
        difference = a.vector[d] / root - b.vector[d] * root
        c.plus += sum * sum
        c.minus += difference * difference


cdef inline void close_component(const Learner *m, DyadicScratch *work) noexcept nogil:
    """Keep the component unless a side is all zeros: such a component never changes and contributes a constant."""
    cdef Side *a = &work.side[2 * work.components]
    cdef Side *b = a + 1
    if a.square <= 0 or b.square <= 0 or not isfinite(a.square * b.square):
        return
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
            add_side(m, work, pair, 0, a.index + i, a.value + i, 1 if m.positional else a.size, &used, mask)
            add_side(m, work, pair, 1, b.index + i, b.value + i, 1 if m.positional else b.size, &used, mask)
            close_component(m, work)
    return OK


cdef inline double dot_products(const Learner *m, const DyadicScratch *work) noexcept nogil:
    cdef size_t i
    cdef double total = 0
    for i in range(work.components):
        total += 0.25 * (work.component[i].plus - work.component[i].minus)
    return total - work.components * m.offset_square


cdef inline double growth(double exponent, double fade) noexcept nogil:
    """e^-fade (e^way - 1), without overflow in between."""
    return exp(-fade) * expm1(exponent) if exponent < 1 else safe_exp(exponent - fade) - exp(-fade)


cdef inline void move_component(const Learner *m, DyadicScratch *work, size_t number, double exponent, double fade) noexcept nogil:
    """Move the vectors of both sides to the end of the flow; the terms of plus shrink by e^-exponent, those of minus grow."""
    cdef Side *left = &work.side[2 * number]
    cdef Side *right = left + 1
    cdef double root = sqrt(work.component[number].kappa), decay = safe_exp(-fade), sum, difference
    cdef double grow = 0.5 * growth(exponent, fade), fall = 0.5 * growth(-exponent, fade)
    cdef size_t d
    for d in range(left.latent.rank):
        sum = (left.vector[d] / root + right.vector[d] * root) * fall
        difference = (left.vector[d] / root - right.vector[d] * root) * grow
        left.vector[d] = root / left.square * (sum + difference)
        right.vector[d] = (sum - difference) / (right.square * root)
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
            move_component(m, work, i, work.component[i].omega * step.s, fade)
        else:
            move_one_side(work, i, step.s)
