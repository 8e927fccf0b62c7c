"""Kernels of an example with landmarks, fixed examples, as its features; whitened, they are Nystrom's approximation (Williams and
Seeger, NIPS 2000). Dot products are summed through an index from slots to landmarks, so that they cost what is met.
"""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from features.random_map cimport FillFeatures, Landmarks, RandomMap, as_capsule

cdef extern from "features/random_features.h" nogil:
    void vwl_add_multiple(float *sum, const float *row, float value, size_t n)

cdef extern from "losses/exponentials.h" nogil:
    float vwl_expf(float x)

cdef enum:
    LINEAR = 0                   # numbered as in vwlite/features/config.py
    RBF = 1
    POLY2 = 2
    POLY3 = 3
    COSINE = 4


cdef inline size_t place_of(const Landmarks *m, uint32_t slot) noexcept nogil:
    """Of a slot among those that landmarks have; ``m.slots`` where none has it."""
    cdef size_t low = 0, high = m.slots, middle
    while low < high:
        middle = (low + high) // 2
        if m.slot[middle] < slot:
            low = middle + 1
        else:
            high = middle
    return low if low < m.slots and m.slot[low] == slot else m.slots


cdef inline float kernel_of(int kernel, double dot, double square, double norm, double gamma) noexcept nogil:
    """``square`` and ``norm`` are the dot products of both with themselves."""
    cdef double distance
    if kernel == LINEAR:
        return <float>dot
    if kernel == RBF:
        distance = square + norm - 2 * dot
        return vwl_expf(<float>(-gamma * (distance if distance > 0 else 0)))
    if kernel == POLY2:
        return <float>((1 + dot) * (1 + dot))
    if kernel == POLY3:
        return <float>((1 + dot) * (1 + dot) * (1 + dot))
    return <float>(dot / (square * norm) ** 0.5) if square > 0 and norm > 0 else 0


cdef inline void keep_nearest(float *similarity, size_t n, size_t nearest) noexcept nogil:
    """1 for the largest of the numbers, the first among equals, and 0 for all others. None may be infinite."""
    cdef size_t i, k, best
    cdef float taken = 3e38      # above every similarity: marks those that are chosen
    for k in range(min(nearest, n)):
        best = n
        for i in range(n):
            if similarity[i] != taken and (best == n or similarity[i] > similarity[best]):
                best = i
        similarity[best] = taken
    for i in range(n):
        similarity[i] = similarity[i] == taken


cdef void fill(const RandomMap *map, const uint32_t *index, const float *value, size_t n, float *work, float *out) noexcept nogil:
    cdef const Landmarks *m = &map.landmarks
    cdef float *similarity = work if m.whiten != NULL else out
    cdef double square = 0
    cdef size_t i, place
    cdef int64_t p
    memset(similarity, 0, map.size * sizeof(float))
    for i in range(n):
        if value[i] == 0:
            continue
        square += <double>value[i] * value[i]
        place = place_of(m, index[i])
        if place == m.slots:
            continue
        for p in range(m.start[place], m.start[place + 1]):
            similarity[m.landmark[p]] += value[i] * m.value[p]
    for i in range(map.size):
        similarity[i] = kernel_of(map.kernel, similarity[i], square, m.norm[i], m.gamma)
    if m.nearest:
        keep_nearest(similarity, map.size, m.nearest)
    if m.whiten != NULL:
        memset(out, 0, map.size * sizeof(float))
        for i in range(map.size):
            if similarity[i] != 0:
                vwl_add_multiple(out, m.whiten + i * map.size, similarity[i], map.size)


cdef FillFeatures filling = fill
FILL = as_capsule(&filling)
