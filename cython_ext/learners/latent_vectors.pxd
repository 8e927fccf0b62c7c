"""Latent vectors: rows of a table, which have a computed initial value until they are first updated."""

from libc.math cimport cos, exp, fabs, log, pow, sqrt
from libc.stdint cimport uint32_t, uint64_t

from base.random cimport mix64, unit_interval


cdef struct Latent:
    float *table          # (2^bits, stride) the vector, then the number of its updates (0: use the initial value), perhaps N and G
    size_t stride
    size_t rank           # length of the vectors
    uint64_t seed         # of this table's initial values
    double scale          # of the initial values
    bint normal           # normally distributed; else uniform in [-scale, scale]
    double fewest         # vectors of fewer updates count as 0
    double decay          # L2, where decay is a step of its own
    bint fixed            # the vectors are not updated
    double *squares       # (1,) where rates are adaptive, of dyadic models: sum of h (x / N)^2 of the side


cdef struct Side:         # one of the two namespaces of a dot product
    const Latent *latent
    uint32_t *index       # (size,) slots, each once
    float *value          # (size,)
    size_t size
    double square         # sum of squared values
    double *vector        # (rank,) sum of value times vector


cdef inline float start_value(const Latent *latent, uint32_t slot, size_t dimension) noexcept nogil:
    """The initial value of an element: a pure function of seed, slot and dimension."""
    cdef uint64_t key = latent.seed + <uint64_t>slot * <uint64_t>0x9e3779b97f4a7c15
    cdef uint64_t bits = mix64(key + (<uint64_t>dimension + 1) * <uint64_t>0xd1b54a32d192ed03)
    cdef double u = unit_interval(bits)
    if latent.normal:
        return <float>(latent.scale * sqrt(-2 * log(u)) * cos(6.283185307179586 * unit_interval(mix64(bits))))
    return <float>(latent.scale * (2 * u - 1))


cdef inline void read_part(Side *side, size_t first, size_t size) noexcept nogil:
    """Fill ``size`` elements of ``side.vector`` from ``first`` on."""
    cdef const Latent *latent = side.latent
    cdef const float *row
    cdef size_t i, d
    cdef double x
    for d in range(first, first + size):
        side.vector[d] = 0
    for i in range(side.size):
        row = latent.table + latent.stride * side.index[i]
        x = side.value[i]
        if row[latent.rank] < latent.fewest:
            continue
        if row[latent.rank] == 0:
            for d in range(first, first + size):
                side.vector[d] += x * start_value(latent, side.index[i], d)
        else:
            for d in range(first, first + size):
                side.vector[d] += x * row[d]


cdef inline void read_vector(Side *side) noexcept nogil:
    """Fill ``side.vector``."""
    read_part(side, 0, side.latent.rank)


cdef inline void count_update(const Latent *latent, uint32_t slot) noexcept nogil:
    """Store the initial value before the first update."""
    cdef float *row = latent.table + latent.stride * slot
    cdef size_t d
    if row[latent.rank] == 0:
        for d in range(latent.rank):
            row[d] = start_value(latent, slot, d)
    if row[latent.rank] < 16777216.0:
        row[latent.rank] += 1


cdef inline void count_side(const Side *side) noexcept nogil:
    cdef size_t i
    for i in range(side.size):
        count_update(side.latent, side.index[i])


cdef inline void move_part(Side *side, size_t first, size_t size, const double *change, double decay, double shift) noexcept nogil:
    """Set ``size`` elements from ``first`` on of each feature's vector, whose update was counted, to ``decay * vector + value *
    (change + shift)``.
    """
    cdef const Latent *latent = side.latent
    cdef float *row
    cdef size_t i, d
    cdef double x
    for i in range(side.size):
        row = latent.table + latent.stride * side.index[i] + first
        x = side.value[i]
        for d in range(size):
            row[d] = <float>(decay * row[d] + x * (change[d] + shift))


cdef inline void move_vector(Side *side, const double *change, double decay, double shift) noexcept nogil:
    """``move_part`` of the whole vectors."""
    move_part(side, 0, side.latent.rank, change, decay, shift)


cdef inline size_t merge_slots(uint32_t *index, float *value, size_t size) noexcept nogil:
    """Merge terms that share a slot into one with the sum of their values; returns the new size. Long lists become sorted."""
    cdef size_t i, j, kept = 0, gap = size
    cdef uint32_t slot
    cdef float x
    if size > 32:
        while gap > 1:
            gap = 1 if gap < 5 else gap * 5 // 11
            for i in range(gap, size):
                slot, x, j = index[i], value[i], i
                while j >= gap and index[j - gap] > slot:
                    index[j], value[j] = index[j - gap], value[j - gap]
                    j -= gap
                index[j], value[j] = slot, x
    for i in range(size):
        j = kept - 1 if size > 32 and kept else 0
        while j < kept and index[j] != index[i]:
            j += 1
        if j < kept:
            value[j] += value[i]
        else:
            index[kept], value[kept] = index[i], value[i]
            kept += 1
    return kept


cdef inline void shrink_vectors(const Side *side, size_t first, size_t last, double time, double decay_power, double offset,
                                bint decays_weights) noexcept nogil:
    """L2 decay of the elements [first, last) of a side's vectors, whose update is counted already: what was updated n times before
    has a decay multiplied by (1 + n)^-decay_power. ``time`` is the learning rate times the importance.
    """
    cdef const Latent *latent = side.latent
    cdef float *row
    cdef double decay, factor, shift
    cdef size_t i, d
    for i in range(side.size):
        row = latent.table + latent.stride * side.index[i]
        decay = latent.decay
        if decay_power != 0 and row[latent.rank] > 1:
            decay *= pow(row[latent.rank], -decay_power)
        factor = exp(-time * decay)
        shift = 0 if decays_weights else side.value[i] * (factor - 1) * offset / side.square
        for d in range(first, last):
            row[d] = <float>(factor * row[d] + shift)


cdef inline double largest(const Side *side, size_t i) noexcept nogil:
    """N of a feature of a side, as it is where the present value counts."""
    cdef double n = side.latent.table[side.latent.stride * side.index[i] + side.latent.rank + 1], x = fabs(side.value[i])
    return x if x > n else n


cdef inline bint grow_side(const Side *side, size_t i) noexcept nogil:
    """Let N of a feature be at least its value; where N grows, the vector shrinks by as much. Whether the vector has changed."""
    cdef float *row = side.latent.table + side.latent.stride * side.index[i]
    cdef double x = fabs(side.value[i]), by
    cdef size_t d
    if x <= row[side.latent.rank + 1]:
        return False
    by = (row[side.latent.rank + 1] if row[side.latent.rank + 1] > 0 else 1.0) / x
    row[side.latent.rank + 1] = <float>x
    for d in range(side.latent.rank if by != 1 else 0):
        row[d] = <float>(row[d] * by)
    return by != 1


cdef inline double square_of(const double *vector, size_t rank) noexcept nogil:
    cdef size_t d
    cdef double sum = 0
    for d in range(rank):
        sum += vector[d] * vector[d]
    return sum
