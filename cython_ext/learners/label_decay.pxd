"""L2 decay of models of labels where it is a step of its own: it takes turns with the flow, as in ``dyadic_decay.pxd``.

Decay of linear weights is that of all linear weights of the row, the constant's too; with a global rate
the number of updates only matters to vectors.
"""

from libc.math cimport exp, pow

from features.row_buffer cimport Scratch
from learners.label_model cimport LabelModel, set_of
from learners.latent_vectors cimport Latent, Side


cdef inline void shrink_set(const LabelModel *m, Side *side, size_t label, double time) noexcept nogil:
    """Decay of one label's vectors of a side. ``time`` is the learning rate times the importance; the update is counted already."""
    cdef const Latent *latent = side.latent
    cdef float *row
    cdef double decay, factor, shift
    cdef size_t i, d, start = set_of(m, label) * m.rank
    for i in range(side.size):
        row = latent.table + latent.stride * side.index[i]
        decay = latent.decay
        if m.decay_power != 0 and row[latent.rank] > 1:
            decay *= pow(row[latent.rank], -m.decay_power)
        factor = exp(-time * decay)
        shift = 0 if m.decays_weights else side.value[i] * (factor - 1) * m.offset / side.square
        for d in range(start, start + m.rank):
            row[d] = <float>(factor * row[d] + shift)


cdef inline void shrink_label(const LabelModel *m, const Scratch *s, size_t label, double time) noexcept nogil:
    """Decay of what a label has of the row."""
    cdef size_t i
    cdef float *weight
    cdef double factor = exp(-time * m.linear_decay)
    if <int>label == m.base:
        return
    for i in range(2 * m.work.components):
        if not m.work.side[i].latent.fixed:
            shrink_set(m, &m.work.side[i], label, time)
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
