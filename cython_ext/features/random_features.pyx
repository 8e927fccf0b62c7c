"""Random features of kernels, whose dot products approximate those of the kernel, and kernels of an example with landmarks.

Random Fourier features: Rahimi and Recht, NIPS 2007. Structured orthogonal directions: Yu et al., NIPS 2016. Buckets with
signs: Weinberger et al., ICML 2009. Tensor Sketch: Pham and Pagh, KDD 2013; factors are multiplied where the Walsh-Hadamard
transform has taken them, which keeps dot products, so none is transformed back. Arc-cosine kernel: Cho and Saul, NIPS 2009.

Landmarks are fixed examples; the similarities with them, whitened, are Nystrom's approximation (Williams and Seeger, NIPS 2000).
Dot products are summed through an index from slots to landmarks, so that they cost what is met.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from base.random cimport mix64, unit_interval
from features.plan cimport ARCCOS, LAPLACE, POLY3, RBF, FillFeatures, Landmarks, RandomMap, as_capsule

cdef extern from "features/random_features.h" nogil:
    void vwl_hadamard(float *x, size_t n)
    void vwl_multiply(float *x, const float *factor, size_t n)
    void vwl_add_multiple(float *sum, const float *row, float value, size_t n)
    void vwl_cosines(float *x, const float *phase, float scale, float size, size_t n)
    void vwl_rectified(float *out, const float *x, float size, size_t n)
    void vwl_scaled(float *out, const float *x, float size, size_t n)


cdef inline void drop_into(float *bucket, uint64_t hash, size_t mask, float value) noexcept nogil:
    bucket[hash & mask] += -value if hash >> 63 else value


cdef inline void fold_terms(const RandomMap *m, const uint32_t *index, const float *value, size_t n, float *bucket) noexcept nogil:
    """Add up the terms in buckets, by hash and with a sign; slots below the number of buckets go to the bucket of that number."""
    cdef size_t i
    memset(bucket, 0, m.fold * sizeof(float))
    for i in range(n):
        if index[i] < m.fold:
            bucket[index[i]] += value[i]
        else:
            drop_into(bucket, mix64(m.fold_key + index[i]), m.fold - 1, value[i])


cdef inline void sketch(const RandomMap *m, const uint32_t *index, const float *value, size_t n, uint64_t number,
                        float *bucket) noexcept nogil:
    """The transform of the terms added up in the buckets of sketch ``number``."""
    cdef size_t i
    memset(bucket, 0, m.fold * sizeof(float))
    for i in range(n):
        drop_into(bucket, mix64(m.sketch_key + (number << 32 | index[i])), m.fold - 1, value[i])
    vwl_hadamard(bucket, m.fold)


cdef inline void project(const RandomMap *m, const float *folded, size_t block, float *out) noexcept nogil:
    """H D1 H D2 H D3 x, with H not normalised: the projections on directions that are ``fold`` times as long as the rows of H."""
    cdef size_t k, n = m.fold
    cdef const float *sign = m.sign + 3 * block * n
    vwl_scaled(out, folded, 1, n)
    for k in range(3):
        vwl_multiply(out, sign + k * n, n)
        vwl_hadamard(out, n)


cdef inline void add_directions(const RandomMap *m, const float *folded, float *out) noexcept nogil:
    cdef size_t i
    memset(out, 0, m.size * sizeof(float))
    for i in range(m.fold):
        if folded[i] != 0:
            vwl_add_multiple(out, m.direction + i * m.size, folded[i], m.size)


cdef void fill_random(const RandomMap *m, const uint32_t *index, const float *value, size_t n, float *work, float *out) noexcept nogil:
    cdef float *first = work
    cdef float *second = work + m.fold
    cdef size_t block, factor, begin, size, degree = 3 if m.kernel == POLY3 else 2
    if m.kernel in (RBF, LAPLACE, ARCCOS):
        fold_terms(m, index, value, n, first)
    if m.kernel == LAPLACE:
        add_directions(m, first, out)
        vwl_cosines(out, m.phase, m.scale, m.amplitude, m.size)
        return
    for block in range((m.size + m.fold - 1) // m.fold):
        begin = block * m.fold
        size = min(m.fold, m.size - begin)
        if m.kernel == RBF:
            project(m, first, block, second)
            vwl_cosines(second, m.phase + begin, m.scale, m.amplitude, size)
            memcpy(out + begin, second, size * sizeof(float))
        elif m.kernel == ARCCOS:
            project(m, first, block, second)
            vwl_rectified(out + begin, second, m.amplitude, size)
        else:
            sketch(m, index, value, n, 3 * block, first)
            for factor in range(1, degree):
                sketch(m, index, value, n, 3 * block + factor, second)
                vwl_multiply(first, second, m.fold)
            vwl_scaled(out + begin, first, m.amplitude, size)


cdef FillFeatures filling_random = fill_random
FILL_RANDOM = as_capsule(&filling_random)


cdef inline double sine_of_half_turns(double x) noexcept nogil:
    """sin(pi x) for 0 <= x <= 1, by a Taylor series, so that it is the same with every mathematical library."""
    cdef double u = (x if x <= 0.5 else 1 - x) * 3.141592653589793, term = u, sum = u
    cdef int k
    for k in range(1, 11):
        term = -term * u * u / (2 * k * (2 * k + 1))
        sum += term
    return sum


def fill_directions(uint64_t hash_key, float[::1] direction, size_t size):
    """Fill ``direction`` float32[fold * size] with standard Cauchy numbers, functions of ``hash_key`` and the place."""
    cdef size_t i
    cdef double u
    with nogil:
        for i in range(<size_t>direction.shape[0]):
            u = unit_interval(mix64(hash_key + (<uint64_t>(i // size) << 32 | i % size)))
            direction[i] = <float>(-sine_of_half_turns(u + 0.5 if u < 0.5 else u - 0.5) / sine_of_half_turns(u)
                                   * (1 if u < 0.5 else -1))


cdef extern from "losses/exponentials.h" nogil:
    float vwl_expf(float x)

cdef enum:
    LANDMARK_LINEAR = 0                 # numbered as in vwlite/features/config.py
    LANDMARK_RBF = 1
    LANDMARK_POLY2 = 2
    LANDMARK_POLY3 = 3
    LANDMARK_COSINE = 4


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
    if kernel == LANDMARK_LINEAR:
        return <float>dot
    if kernel == LANDMARK_RBF:
        distance = square + norm - 2 * dot
        return vwl_expf(<float>(-gamma * (distance if distance > 0 else 0)))
    if kernel == LANDMARK_POLY2:
        return <float>((1 + dot) * (1 + dot))
    if kernel == LANDMARK_POLY3:
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


cdef void fill_landmarks(const RandomMap *map, const uint32_t *index, const float *value, size_t n, float *work, float *out) noexcept nogil:
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


cdef FillFeatures filling_landmarks = fill_landmarks
FILL_LANDMARKS = as_capsule(&filling_landmarks)
