"""What a run over rows has beside the tables of a ``LabelModel``: scalars and their rates, sums of log losses, room for scores.

L2 decay, where it is a step of its own, takes turns with the flow, as in ``dyadic_components.pxd``. Decay of linear weights is that of all
linear weights of the row, the constant's too; with a global rate the number of updates only matters to vectors.

Rates of their own for every parameter of a model of labels, by what it was moved so far (AdaGrad: Duchi, Hazan and Singer, 2011).

A vector has the sum G of its squared gradients, and a feature the greatest N of its values without sign so far: where N grows, the
vectors of the feature shrink by as much. With x the value, g the gradient by the label's score, b the vector of the other side, h the
importance and m the present share of the rate:

    G += h g^2 (x / N)^2 |b|^2          rate = v m / (N^2 sqrt(1 + G))        of linear weights: G += h g^2 (x / N)^2, l m / (N^2 sqrt(G))

With the rates as they are during an example, parameters divided by the roots of their rates follow plain gradient flow at the rate 1. So
the flow is that of ``label_flow.pxd`` with sums of rate * x^2 in the place of squared values. Decay is a step of its own after it.
"""

from libc.math cimport exp, fabs, pow, sqrt
from libc.stdint cimport uint32_t

from features.row_buffer cimport Scratch
from learners.dyadic_flow cimport Component
from learners.dyadic_model cimport component_of, decayed_rate
from learners.label_model cimport LabelModel, change_vectors, open_model, set_of
from learners.latent_vectors cimport Latent, Side, grow_side, largest, shrink_vectors, square_of
from learners.query_choice cimport Asking, open_asking

cdef enum:                 # positions in the scalars, named in vwlite/learners/label_vectors.py
    RATE = 0               # learning rate, decayed by the passes so far
    FIRST = 1              # number of the first class, -1 while unknown
    TIME = 2               # sum of importance of the examples learned
    UNBOUNDED = 3          # number of updates that hit an iteration limit
    LATER = 4              # 0 in the first pass
    MISMATCHED = 7         # number of rows whose sides cannot be paired by position
    SCALARS = 9            # kernels do not use the others


cdef struct LabelRun:
    double *scalars
    double *log_loss       # (2, 2) as in learners/class_update.pxd
    double power_t, initial_t, first_pass_t
    double flip_rate       # the learning rate at which the importance to change a prediction is found
    Asking asking
    bint vw_compat
    float *raw             # (rows of the batch, labels), or a single row
    float *score
    size_t score_stride


cdef inline double rate_now(const LabelRun *run) noexcept nogil:
    return decayed_rate(run.scalars[RATE], run.scalars[TIME], run.first_pass_t if run.scalars[LATER] == 0 else 0, run.power_t,
                        run.initial_t)


cdef inline int open_run(LabelRun *run, LabelModel *m, state, config, plan, size_t rows, size_t end) except -1:
    """Open the model as well; ``rows`` are those of the batch, up to ``end`` they are run. Raises ValueError for arrays of other
    shapes.
    """
    cdef double[::1] scalars = state.scalars
    cdef double[:, ::1] log_loss = state.log_loss
    cdef float[:, ::1] raw = state.raw, score = state.score
    open_model(m, state, config, plan)
    run.scalars, run.log_loss, run.vw_compat = &scalars[0], &log_loss[0, 0], config.vw_compat
    run.first_pass_t, run.power_t, run.initial_t = config.first_pass_t, config.power_t, config.initial_t
    run.flip_rate, run.asking = config.confidence_rate, open_asking(state, config, end)
    if scalars.shape[0] != SCALARS or log_loss.shape[0] != 2 or log_loss.shape[1] != 2:
        raise ValueError("scalars or sums of losses do not fit")
    run.score_stride = m.labels if state.wants_scores else 0
    if <size_t>min(raw.shape[0], score.shape[0]) < (rows if run.score_stride else 1) or (
            raw.shape[1] != <Py_ssize_t>m.labels or score.shape[1] != <Py_ssize_t>m.labels):
        raise ValueError("no room for the scores")
    run.raw, run.score = &raw[0, 0], &score[0, 0]
    return 0


cdef inline void shrink_label(const LabelModel *m, const Scratch *s, size_t label, double time) noexcept nogil:
    """Decay of what a label has of the row."""
    cdef size_t i
    cdef float *weight
    cdef double factor = exp(-time * m.linear_decay)
    cdef size_t start = set_of(m, label) * m.rank
    if <int>label == m.base:
        return
    for i in range(2 * m.work.components):
        if not m.work.side[i].latent.fixed:
            shrink_vectors(&m.work.side[i], start, start + m.rank, time, m.decay_power, m.offset, m.decays_weights)
    for i in range(s.terms if m.linear_decay > 0 else 0):
        if s.value[i] != 0:
            weight = m.w + s.index[i] * m.width + label
            weight[0] = <float>(weight[0] * factor)


cdef inline double largest_decay(const LabelModel *m) noexcept nogil:
    cdef size_t i
    cdef double most = m.linear_decay
    for i in range(2 * m.work.components):
        if not m.work.side[i].latent.fixed and m.work.side[i].latent.decay > most:
            most = m.work.side[i].latent.decay
    return most


cdef extern from *:
    """
    #define VWL_OF_VECTORS (4.0 / 3)
    """
    const double OF_VECTORS "VWL_OF_VECTORS"  # v / l


cdef inline bint grow(LabelModel *m, const Scratch *s) noexcept nogil:
    """Let N of all features of the row, whose updates were counted, be at least their values. Whether a vector has changed."""
    cdef size_t i, j, d, labels
    cdef const Side *side
    cdef float *scale
    cdef double x
    cdef bint changed = False
    for i in range(2 * m.work.components):
        side = &m.work.side[i]
        for j in range(side.size if not side.latent.fixed else 0):
            changed = grow_side(side, j) or changed
    for i in range(s.terms):
        scale = m.scale + 2 * s.index[i]
        x = fabs(s.value[i])
        if scale[1] < 16777216.0:
            scale[1] += 1
        if x <= scale[0]:
            continue
        labels = m.labels if scale[0] > 0 else 0
        for d in range(labels):
            m.w[s.index[i] * m.width + d] = <float>(m.w[s.index[i] * m.width + d] * (scale[0] / x))
        changed = changed or scale[0] > 0
        scale[0] = <float>x
    return changed


cdef inline void add_gradients(LabelModel *m, const Scratch *s, const double *g, double h) noexcept nogil:
    """``g`` float64[labels], of the loss by the scores."""
    cdef size_t i, j, label, set_
    cdef int which
    cdef const Side *side
    cdef const Side *other
    cdef float *sums
    cdef double part, x
    for label in range(m.labels):
        if <int>label == m.base:
            continue
        set_ = set_of(m, label)
        for i in range(m.work.components):
            for which in range(2):
                side, other = &m.work.side[2 * i + which], &m.work.side[2 * i + 1 - which]
                part = h * g[label] * g[label] * square_of(other.vector + set_ * m.rank, m.rank)
                for j in range(side.size if not side.latent.fixed else 0):
                    x = side.value[j] / largest(side, j)
                    sums = side.latent.table + side.latent.stride * side.index[j] + side.latent.rank + 2
                    sums[set_] = <float>(sums[set_] + part * x * x)
    for i in range(s.terms):
        if s.value[i] == 0:
            continue
        x = s.value[i] / m.scale[2 * s.index[i]]
        for label in range(m.labels):
            if <int>label != m.base:
                sums = m.gradients + s.index[i] * m.width + label
                sums[0] = <float>(sums[0] + h * g[label] * g[label] * x * x)


cdef inline double rate_of_vector(const Side *side, size_t i, size_t set_, double rate) noexcept nogil:
    """``rate`` is l m."""
    cdef const float *row = side.latent.table + side.latent.stride * side.index[i] + side.latent.rank
    cdef double n = largest(side, i)
    return OF_VECTORS * rate / (n * n * sqrt(1.0 + row[2 + set_])) if n > 0 and not side.latent.fixed else 0


cdef inline double rate_of_weight(const LabelModel *m, const Scratch *s, size_t i, size_t label, double rate) noexcept nogil:
    cdef double sum = m.gradients[s.index[i] * m.width + label], n = m.scale[2 * s.index[i]]
    return rate / (n * n * sqrt(sum)) if sum > 0 and n > 0 else 0


cdef inline double weighted_square(const Side *side, size_t set_, double rate) noexcept nogil:
    cdef size_t i
    cdef double sum = 0
    for i in range(side.size):
        sum += rate_of_vector(side, i, set_, rate) * side.value[i] * side.value[i]
    return sum


cdef inline void set_rates(LabelModel *m, const Scratch *s, double rate) noexcept nogil:
    """Fill in the flows of all labels, which have a rate of 1 then."""
    cdef size_t i, label, set_
    cdef double a2, b2
    cdef const double *a
    cdef const double *b
    cdef Component *c
    for label in range(m.labels):
        m.label[label].rate, m.label[label].decay, m.label[label].square = 1, 0, 0
        if <int>label == m.base:
            continue
        set_ = set_of(m, label)
        for i in range(s.terms):
            m.label[label].square += rate_of_weight(m, s, i, label, rate) * s.value[i] * s.value[i]
        for i in range(m.work.components):
            a, b = m.work.side[2 * i].vector + set_ * m.rank, m.work.side[2 * i + 1].vector + set_ * m.rank
            a2, b2 = weighted_square(&m.work.side[2 * i], set_, rate), weighted_square(&m.work.side[2 * i + 1], set_, rate)
            c = &m.component[label * m.room + i]
            if a2 > 0 and b2 > 0:
                c[0] = component_of(a, b, a2, b2, m.rank)
                continue
            c[0] = component_of(a, b, 1, 1, m.rank)
            c.omega = 0
            m.label[label].square += a2 * square_of(b, m.rank) + b2 * square_of(a, m.rank)


cdef inline double share_kept(double decay, double updates, double power) noexcept nogil:
    """``updates`` counts the present one."""
    return exp(-decay * pow(updates, -power)) if decay > 0 and updates > 0 else 1


cdef inline void move_side(LabelModel *m, const Side *side, size_t set_, double rate, double h) noexcept nogil:
    """Move a label's vectors of a side by what its sum is to change by, for a value of 1 and a rate of 1, and let them decay."""
    cdef const Latent *latent = side.latent
    cdef const double *change = side.vector + set_ * m.rank
    cdef float *row
    cdef double own, n, keep, shift
    cdef size_t i, d
    for i in range(side.size if not latent.fixed else 0):
        row = latent.table + latent.stride * side.index[i]
        own, n = rate_of_vector(side, i, set_, rate), largest(side, i)
        keep = share_kept(latent.decay * own * n * n * h, row[latent.rank], m.decay_power)
        shift = 0 if m.decays_weights else side.value[i] * (keep - 1) * m.offset / side.square
        own *= side.value[i]
        for d in range(m.rank):
            row[set_ * m.rank + d] = <float>(keep * (row[set_ * m.rank + d] + own * change[d]) + shift)


cdef inline void move_at_rates(LabelModel *m, const Scratch *s, const double *state, double rate, double h) noexcept nogil:
    """Move all parameters to the end of the flow, ``state`` float64[labels], and let them decay. Vectors of sides are overwritten."""
    cdef size_t i, label, set_
    cdef double own, keep, n, factor
    cdef float *w
    for label in range(m.labels):
        if <int>label == m.base:
            continue
        set_ = set_of(m, label)
        for i in range(s.terms):
            own, n = rate_of_weight(m, s, i, label, rate), m.scale[2 * s.index[i]]
            keep = share_kept(m.linear_decay * own * n * n * h, m.scale[2 * s.index[i] + 1], m.decay_power)
            w = m.w + s.index[i] * m.width + label
            w[0] = <float>(keep * (w[0] - own * state[label] * s.value[i]))
        for i in range(m.work.components):
            factor = m.component[label * m.room + i].omega
            n = m.component[label * m.room + i].kappa
            change_vectors(m, <uint32_t>label, i, state[label], 0, factor * n, factor / n)
            move_side(m, &m.work.side[2 * i], set_, rate, h)
            move_side(m, &m.work.side[2 * i + 1], set_, rate, h)
