"""Adaptive learning rates for each vector and linear weight of a dyadic model (AdaGrad: Duchi, Hazan and Singer, 2011).

Each vector has the sum G of its squared gradients, and each feature its largest absolute value N so far. When N grows, the vector and
the weight of the feature are divided by the growth of N. With x the value, g the slope of the loss, b the summed vector of the other
side, h the importance, c the unit of the labels, c^e the scale of g, l the learning rate, v = 0.4 l, and m the part of the rate that
its decay over the passes leaves:

    G += h g^2 (x / N)^2 |b|^2      rate = v m z sqrt(c) / (N^2 sqrt(c^(2 e + 1) + G))
    of linear weights: G += h g^2 (x / N)^2      rate = l m z c / (N^2 sqrt(G))

z is sqrt(T / S), where S is the sum of h (x / N)^2 over a side, or over all linear terms, and T the sum of h. The rates are constant
during an example, so the parameters divided by the square roots of their rates follow plain gradient flow at the rate 1: the flow of
``dyadic_flow.pxd`` with sums of rate * x^2 in the place of squared values. Decay is a separate step after it. From the second pass on
the decay of a parameter that is updated n times in a pass has a term X / n, so that its sum over a pass does not depend on n.
"""

from libc.float cimport FLT_MAX
from libc.math cimport ceil, exp, fabs, isfinite, pow, sqrt
from libc.stdint cimport uint32_t

from base.status cimport OK, UNSTABLE
from features.row_buffer cimport Scratch
from learners.dyadic_components cimport Rates, count_updates, decay_at, linear_sum, measure_component, shrink_linear
from learners.dyadic_flow cimport Component, Flow, Step, constant_slope, flow_step, has_constant_slope, is_at_rest, loss_slope
from learners.dyadic_model cimport (
    LABEL_MEAN, LABEL_SQUARES, LABEL_WEIGHT, LATER, LINEAR_SQUARES, PASSES, RATE_NOW, TIME, UNBOUNDED, DyadicScratch,
    Learner, component_of, vector_changes,
)
from learners.latent_vectors cimport Latent, Side, grow_side, largest, square_of


cdef extern from *:
    """
    #define VWL_OF_VECTORS 0.4
    #define VWL_MOST_PARTS 256
    """
    const double OF_VECTORS "VWL_OF_VECTORS"  # v / l: the rate of vectors over that of linear weights
    const int MOST_PARTS "VWL_MOST_PARTS"     # parts that a row of large importance is split into


cdef inline double unit_of(const double *scalars) noexcept nogil:
    """The unit c of the labels: their standard deviation; their size while they are all the same, and 1 where that is 0."""
    cdef double weight = scalars[LABEL_WEIGHT], squares = scalars[LABEL_SQUARES], mean = fabs(scalars[LABEL_MEAN])
    if weight <= 0:
        return 1
    if squares > 1e-12 * mean * mean * weight:
        return sqrt(squares / weight)
    return mean if mean > 0 else 1


cdef inline void scale_starts(Learner *m) noexcept nogil:
    """Set the scale of the start values of vectors, which are in the unit of the labels."""
    cdef size_t pair
    cdef int side
    cdef double unit = unit_of(m.scalars)
    for pair in range(m.pairs):
        for side in range(2):
            m.latent[pair][side].scale = m.scale * sqrt(unit)


cdef inline bint meet_label(Learner *m, double y, double h) noexcept nogil:
    """Add a label to the sums that the unit is computed from, in the first pass. Returns whether the unit may have changed."""
    cdef double gap
    if not m.has_unit or m.scalars[LATER] != 0:
        return False
    m.scalars[LABEL_WEIGHT] += h
    gap = y - m.scalars[LABEL_MEAN]
    m.scalars[LABEL_MEAN] += gap * h / m.scalars[LABEL_WEIGHT]
    m.scalars[LABEL_SQUARES] += h * gap * (y - m.scalars[LABEL_MEAN])
    scale_starts(m)
    return True


cdef inline double largest_of_term(const Learner *m, const Scratch *s, size_t i) noexcept nogil:
    """The same for linear term ``i``."""
    cdef double n = m.rates[2 * <size_t>s.index[i] + 1], x = fabs(s.value[i])
    return x if x > n else n


cdef inline bint raise_largest(Learner *m, DyadicScratch *work, double h) noexcept nogil:
    """Raise N of all features to their values in the row, and add the row to S. Returns whether a vector or weight has changed.

    The updates of the features have been counted before, by ``count_updates``.
    """
    cdef size_t i, j
    cdef const Side *side
    cdef Scratch *s = &work.row
    cdef double x, n, sum
    cdef bint changed = False
    for i in range(2 * work.components):
        side = &work.side[i]
        sum = 0
        for j in range(side.size if not side.latent.fixed else 0):
            changed = grow_side(side, j) or changed
            x, n = fabs(side.value[j]), largest(side, j)
            sum += (x / n) * (x / n) if n > 0 else 0
        side.latent.squares[0] += h * sum
    sum = 0
    for i in range(s.terms):
        x, n = fabs(s.value[i]), m.rates[2 * <size_t>s.index[i] + 1]
        if x > n:
            if n > 0:
                m.table[s.index[i]] = <float>(m.table[s.index[i]] * (n / x))
                changed = True
            m.rates[2 * <size_t>s.index[i] + 1] = <float>x
            n = x
        sum += (x / n) * (x / n) if n > 0 else 0
    m.scalars[LINEAR_SQUARES] += h * sum
    return changed


cdef inline void add_gradients(Learner *m, const DyadicScratch *work, double g, double h) noexcept nogil:
    cdef size_t i, j
    cdef const Side *side
    cdef const Side *other
    cdef const Scratch *s = &work.row
    cdef float *sums
    cdef double part, x, n
    for i in range(2 * work.components):
        side, other = &work.side[i], &work.side[i ^ 1]
        part = h * g * g * square_of(other.vector, other.latent.rank)
        for j in range(side.size if not side.latent.fixed else 0):
            n = largest(side, j)
            x = side.value[j] / n if n > 0 else 0
            sums = side.latent.table + side.latent.stride * side.index[j] + side.latent.rank + 2
            sums[0] = <float>min(sums[0] + part * x * x, FLT_MAX)
    for i in range(s.terms):
        n = largest_of_term(m, s, i)
        x = s.value[i] / n if n > 0 else 0
        sums = m.rates + 2 * <size_t>s.index[i]
        sums[0] = <float>min(sums[0] + h * g * g * x * x, FLT_MAX)


cdef inline double normaliser(double time, double squares) noexcept nogil:
    return sqrt(time / squares) if time > 0 and squares > 0 else 1


cdef inline Rates rates_at(const Learner *m, double rate) noexcept nogil:
    """The parts of all rates that are common to a row; ``rate`` is l m."""
    cdef Rates rates
    cdef double unit = unit_of(m.scalars)
    rates.decay = unit if m.slope_power == 1 else (1 if m.slope_power == 0 else pow(unit, m.slope_power))
    rates.start = unit * rates.decay * rates.decay
    rates.vectors = OF_VECTORS * rate * sqrt(unit)
    rates.linear = rate * normaliser(m.scalars[TIME], m.scalars[LINEAR_SQUARES]) * unit
    rates.linear_decay = rates.linear / unit * rates.decay
    rates.pass_decay = m.pass_decay * (1 + m.scalars[PASSES]) if m.scalars[PASSES] > 0 else 0
    return rates


cdef inline double rate_of_vector(const Side *side, size_t i, const Rates *rates, double normal) noexcept nogil:
    """The rate of the vector of feature ``i``; ``normal`` is z of the side."""
    cdef double n = largest(side, i), sum
    if n == 0 or side.latent.fixed:
        return 0
    sum = side.latent.table[side.latent.stride * side.index[i] + side.latent.rank + 2]
    return rates.vectors * normal / (n * n * sqrt(rates.start + sum))


cdef inline double rate_of_weight(const Learner *m, const Scratch *s, size_t i, const Rates *rates) noexcept nogil:
    cdef double sum = m.rates[2 * <size_t>s.index[i]], n = largest_of_term(m, s, i)
    return rates.linear / (n * n * sqrt(sum)) if sum > 0 and n > 0 else 0


cdef inline double weighted_square(const Learner *m, const Side *side, const Rates *rates) noexcept nogil:
    cdef size_t i
    cdef double sum = 0, normal = normaliser(m.scalars[TIME], side.latent.squares[0])
    for i in range(side.size):
        sum += rate_of_vector(side, i, rates, normal) * side.value[i] * side.value[i]
    return sum


cdef inline void set_rates(const Learner *m, DyadicScratch *work, Flow *flow, const Rates *rates) noexcept nogil:
    """Set up the flow, with rate 1. Needs a row with merged terms, and the summed vectors of its sides."""
    cdef size_t i
    cdef double a2, b2
    cdef const Side *a
    cdef const Side *b
    cdef Component *c
    flow.rate, flow.decay, flow.square = 1, 0, 0
    for i in range(work.row.terms):
        flow.square += rate_of_weight(m, &work.row, i, rates) * work.row.value[i] * work.row.value[i]
    for i in range(work.components):
        a, b, c = &work.side[2 * i], &work.side[2 * i + 1], &work.component[i]
        a2, b2 = weighted_square(m, a, rates), weighted_square(m, b, rates)
        if a2 > 0 and b2 > 0:
            c[0] = component_of(a.vector, b.vector, a2, b2, a.latent.rank)
            continue
        c[0] = component_of(a.vector, b.vector, 1, 1, a.latent.rank)
        c.omega = 0
        c.square = a2 * square_of(b.vector, b.latent.rank) + b2 * square_of(a.vector, a.latent.rank)
        flow.square += c.square


cdef inline void find_changes(const DyadicScratch *work, size_t number, double s) noexcept nogil:
    """Replace the vectors of both sides by their changes along the flow, for a value and a rate of 1."""
    cdef const Component *c = &work.component[number]
    cdef double *a = work.side[2 * number].vector
    cdef double *b = work.side[2 * number + 1].vector
    cdef double x
    cdef size_t d, rank = work.side[2 * number].latent.rank
    if c.omega > 0:
        vector_changes(c, s, 0, c.omega * c.kappa, c.omega / c.kappa, rank, a, b)
        return
    for d in range(rank):
        x = a[d]
        a[d] = -s * b[d]
        b[d] = -s * x


cdef inline void move_side(const Learner *m, const Side *side, const Rates *rates, double h) noexcept nogil:
    """Move the vectors of a side by the change of their sum, and let them decay."""
    cdef const Latent *latent = side.latent
    cdef float *row
    cdef double own, n, keep, shift, decay, normal = normaliser(m.scalars[TIME], latent.squares[0])
    cdef size_t i, d
    for i in range(side.size if not latent.fixed else 0):
        row = latent.table + latent.stride * side.index[i]
        own, n = rate_of_vector(side, i, rates, normal), largest(side, i)
        decay = decay_at(m, rates, latent.decay, row[latent.rank])
        keep = exp(-decay * rates.decay * own * n * n * h)
        shift = 0 if m.decays_weights else side.value[i] * (keep - 1) * m.offset / side.square
        own *= side.value[i]
        for d in range(latent.rank):
            row[d] = <float>(keep * (row[d] + own * side.vector[d]) + shift)


cdef inline void move(Learner *m, DyadicScratch *work, const Step *step, const Rates *rates, uint32_t mask) noexcept nogil:
    """Move all parameters to the end of the flow, and let them decay. The vectors of sides are overwritten."""
    cdef size_t i
    cdef Scratch *s = &work.row
    for i in range(s.terms):
        m.table[s.index[i]] = <float>(m.table[s.index[i]] - step.s * rate_of_weight(m, s, i, rates) * s.value[i])
    for i in range(work.components):
        find_changes(work, i, step.s)
        move_side(m, &work.side[2 * i], rates, step.h)
        move_side(m, &work.side[2 * i + 1], rates, step.h)
    if m.linear_decay > 0 or rates.pass_decay > 0:
        shrink_linear(m, work, rates, step.h, mask)


cdef inline double predict_again(const Learner *m, DyadicScratch *work, Flow *flow, double start) noexcept nogil:
    """Sum the vectors of all sides again, and return the prediction."""
    cdef size_t i
    cdef double p
    flow.linear = p = linear_sum(m, &work.row, start) - work.components * m.offset_square
    for i in range(work.components):
        measure_component(m, work, i)
        p += 0.25 * (work.component[i].plus - work.component[i].minus)
    return p


cdef inline int learn_at_rates(Learner *m, DyadicScratch *work, Flow *flow, double p, double importance, double start,
                               uint32_t mask) noexcept nogil:
    """Learn a row whose terms are merged. ``start`` is what its linear terms are added to.

    Decay would undo a step of large importance, so the row is learned in parts of importance 1 at most, with new rates for each.
    """
    cdef double slope, part
    cdef int i, count = <int>min(max(ceil(importance), 1), MOST_PARTS)
    cdef bint changed = meet_label(m, flow.label, importance)
    cdef Rates rates
    cdef Step step
    m.scalars[TIME] += importance
    if is_at_rest(flow, p):
        return OK
    count_updates(work)
    changed = raise_largest(m, work, importance) or changed
    rates = rates_at(m, m.scalars[RATE_NOW])
    part = importance / count
    for i in range(count):
        if i or changed:
            p = predict_again(m, work, flow, start)
            if is_at_rest(flow, p):
                return OK
        slope = constant_slope(flow, p) if has_constant_slope(flow) else loss_slope(flow, p)
        add_gradients(m, work, slope, part)
        set_rates(m, work, flow, &rates)
        step = flow_step(flow, p, part)
        m.scalars[UNBOUNDED] += not step.bounded
        if not isfinite(step.s):
            return UNSTABLE
        move(m, work, &step, &rates, mask)
        if step.h < part:
            return OK
    return OK
