"""Vectors of a kernel machine, and rows of their kernel matrix, of which those used last stay in memory.

Vectors have numbers in the order in which they came. A row is known for the numbers below ``known``: nothing in it moves when
vectors change their places among the support vectors. Numbers that are not needed any more are given up now and then.

And the merger of two support vectors (Wang, Crammer and Vucetic, JMLR 13, 2012, section 4.3).
"""

from libc.math cimport exp, expf, pow, powf
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memmove

cdef enum:
    LINEAR = 0               # numbered as KERNELS in vwlite/learners/configs/dual.py
    POLY = 1
    RBF = 2
    SPARE = 64               # numbers given up at once, at least
    NOBODY = -1


cdef struct Vector:
    size_t start             # of its terms
    size_t size
    float square             # its squared length
    float self_kernel
    int64_t origin           # number of its example in a pass; -1: none of this run
    bint gone
    size_t claimed           # places of which vw's cache would know the kernels
    float *own               # (claimed,) these kernels, where the places may not be those of now; else NULL
    float *row               # (known,) kernels with the vectors of lower numbers; NULL: not in memory
    size_t known
    size_t room
    int64_t older            # neighbours in the order in which rows were used
    int64_t newer


cdef struct Vectors:
    int kernel
    int degree
    float bandwidth
    float bias               # added to every kernel: the intercept's
    bint delayed             # vectors wait while others come and go, so that in vw's cache their kernels are in other places
    Vector *vector           # (count,)
    size_t count
    size_t max_vectors
    size_t gone
    uint32_t *index          # terms, ascending by slot
    float *value
    size_t terms
    size_t max_terms
    float *dense             # (2^bits,) zeros
    int64_t *of_origin       # (max_origins,) the vector of an example; -1: none
    size_t max_origins
    int64_t oldest
    int64_t newest
    size_t held              # numbers in rows
    size_t most_held
    size_t evaluations       # of the kernel


cdef inline void *grown(void *memory, size_t size, size_t *room, size_t needed) noexcept nogil:
    """Memory for at least ``needed`` items; NULL where there is none (the old memory stays valid)."""
    cdef size_t more = needed if needed > 2 * room[0] else 2 * room[0]
    cdef void *found = realloc(memory, (more + 16) * size)
    if found != NULL:
        room[0] = more + 16
    return found


cdef inline float kernel_of(Vectors *v, float product, float left, float right) noexcept nogil:
    """The kernel of two vectors with this dot product and these squared lengths."""
    if v.kernel == POLY:
        return powf(1 + product, <float>v.degree) + v.bias
    if v.kernel == RBF:
        return expf(-v.bandwidth * (left + right - 2 * product)) + v.bias
    return product + v.bias


cdef inline void spread(Vectors *v, size_t number, bint there) noexcept nogil:
    """Put the terms of a vector into the dense array, or zeros in their place."""
    cdef size_t i, start = v.vector[number].start
    for i in range(start, start + v.vector[number].size):
        v.dense[v.index[i]] = v.value[i] if there else 0


cdef inline float dense_product(Vectors *v, size_t number) noexcept nogil:
    cdef float sum = 0
    cdef size_t i, start = v.vector[number].start
    for i in range(start, start + v.vector[number].size):
        sum += v.dense[v.index[i]] * v.value[i]
    return sum


cdef inline float sparse_product(Vectors *v, size_t left, size_t right) noexcept nogil:
    """By merging the sorted slots."""
    cdef size_t i = v.vector[left].start, j = v.vector[right].start
    cdef size_t i_end = i + v.vector[left].size, j_end = j + v.vector[right].size
    cdef float sum = 0
    while i < i_end and j < j_end:
        if v.index[i] == v.index[j]:
            sum += v.value[i] * v.value[j]
            i += 1
            j += 1
        elif v.index[i] < v.index[j]:
            i += 1
        else:
            j += 1
    return sum


cdef inline void unlink(Vectors *v, int64_t number) noexcept nogil:
    """Take a row out of the order of use."""
    cdef Vector *one = &v.vector[number]
    if one.older >= 0:
        v.vector[one.older].newer = one.newer
    elif v.oldest == number:
        v.oldest = one.newer
    if one.newer >= 0:
        v.vector[one.newer].older = one.older
    elif v.newest == number:
        v.newest = one.older
    one.older = one.newer = NOBODY


cdef inline void use(Vectors *v, int64_t number) noexcept nogil:
    unlink(v, number)
    v.vector[number].older = v.newest
    if v.newest >= 0:
        v.vector[v.newest].newer = number
    else:
        v.oldest = number
    v.newest = number


cdef inline void drop_row(Vectors *v, int64_t number) noexcept nogil:
    cdef Vector *one = &v.vector[number]
    unlink(v, number)
    v.held -= one.room
    free(one.row)
    one.row = NULL
    one.known = one.room = 0


cdef inline bint complete_row(Vectors *v, size_t number) noexcept nogil:
    """Know the kernels of a vector with all others; False without memory."""
    cdef Vector *one = &v.vector[number]
    cdef size_t other, old = one.room
    cdef bint dense = False
    cdef void *row
    use(v, number)
    if one.room < v.count:
        row = grown(one.row, sizeof(float), &one.room, v.count)
        if row == NULL:
            return False
        one.row = <float *>row
        v.held += one.room - old
        while v.held > v.most_held and v.oldest != <int64_t>number:
            drop_row(v, v.oldest)
    for other in range(one.known, v.count):
        if v.vector[other].gone:
            one.row[other] = 0
        elif other != number and v.vector[other].known > number:
            one.row[other] = v.vector[other].row[number]
        else:
            if not dense:
                spread(v, number, True)
                dense = True
            one.row[other] = kernel_of(v, dense_product(v, other), one.square, v.vector[other].square)
            v.evaluations += 1
    if dense:
        spread(v, number, False)
    one.known = v.count
    return True


cdef inline bint push_vector(Vectors *v, const uint32_t *index, const float *value, size_t size, int64_t origin) noexcept nogil:
    """A new vector, the last one; False without memory."""
    cdef size_t i
    cdef Vector *one
    cdef void *found
    if v.count == v.max_vectors:
        found = grown(v.vector, sizeof(Vector), &v.max_vectors, v.count + 1)
        if found == NULL:
            return False
        v.vector = <Vector *>found
    if v.terms + size > v.max_terms:
        i = v.max_terms
        found = grown(v.index, sizeof(uint32_t), &i, v.terms + size)
        if found == NULL:
            return False
        v.index = <uint32_t *>found
        found = grown(v.value, sizeof(float), &v.max_terms, v.terms + size)
        if found == NULL:
            return False
        v.value = <float *>found
    one = &v.vector[v.count]
    one.start, one.size, one.square = v.terms, size, 0
    for i in range(size):
        v.index[v.terms + i], v.value[v.terms + i] = index[i], value[i]
        one.square += value[i] * value[i]
    one.self_kernel = kernel_of(v, one.square, one.square, one.square)
    one.origin, one.gone = origin, False
    one.claimed = one.known = one.room = 0
    one.own, one.row, one.older, one.newer = NULL, NULL, NOBODY, NOBODY
    v.terms += size
    v.count += 1
    return True


cdef inline void pop_vector(Vectors *v) noexcept nogil:
    """Drop the last vector, which no kernel value refers to yet."""
    drop_row(v, v.count - 1)
    free(v.vector[v.count - 1].own)
    v.terms -= v.vector[v.count - 1].size
    v.count -= 1


cdef inline bint mark_origin(Vectors *v, size_t number) noexcept nogil:
    """Let the vector be found by its example; False without memory."""
    cdef size_t origin = <size_t>v.vector[number].origin, i = v.max_origins
    cdef void *found
    if v.vector[number].origin < 0:
        return True
    if origin >= v.max_origins:
        found = grown(v.of_origin, sizeof(int64_t), &v.max_origins, origin + 1)
        if found == NULL:
            return False
        v.of_origin = <int64_t *>found
        for i in range(i, v.max_origins):
            v.of_origin[i] = NOBODY
    v.of_origin[origin] = number
    return True


cdef inline int64_t found_by_origin(Vectors *v, int64_t origin) noexcept nogil:
    return v.of_origin[origin] if <size_t>origin < v.max_origins else NOBODY


cdef inline void forget_vector(Vectors *v, size_t number) noexcept nogil:
    """It is no support vector any more."""
    cdef Vector *one = &v.vector[number]
    if one.origin >= 0 and <size_t>one.origin < v.max_origins:
        v.of_origin[one.origin] = NOBODY
    one.gone = True
    v.gone += 1
    drop_row(v, number)
    free(one.own)
    one.own = NULL


cdef inline void renumber(Vectors *v, uint32_t *order, size_t support) noexcept nogil:
    """Give up the numbers and terms of vectors that are gone, where these are most; ``order`` has numbers."""
    cdef size_t old, new = 0, other, kept, end
    cdef Vector *one
    if v.gone < SPARE or 2 * v.gone < v.count:
        return
    for old in range(v.count):              # rows first, which need to know who is gone
        one, kept = &v.vector[old], 0
        for other in range(one.known):
            if not v.vector[other].gone:
                one.row[kept] = one.row[other]
                kept += 1
        one.known = kept
        if not one.gone:
            one.claimed |= new << 32        # its new number, for a moment
            new += 1
    for other in range(support):
        order[other] = <uint32_t>(v.vector[order[other]].claimed >> 32)
    v.oldest = new_number(v, v.oldest)
    v.newest = new_number(v, v.newest)
    for old in range(v.count):
        v.vector[old].older, v.vector[old].newer = new_number(v, v.vector[old].older), new_number(v, v.vector[old].newer)
    new = end = 0
    for old in range(v.count):
        one = &v.vector[old]
        if one.gone:
            continue
        memmove(v.index + end, v.index + one.start, one.size * sizeof(uint32_t))
        memmove(v.value + end, v.value + one.start, one.size * sizeof(float))
        v.vector[new] = one[0]
        v.vector[new].start = end
        v.vector[new].claimed &= 0xffffffffu
        if one.origin >= 0:
            v.of_origin[v.vector[new].origin] = new
        end += v.vector[new].size
        new += 1
    v.count, v.terms, v.gone = new, end, 0


cdef inline int64_t new_number(Vectors *v, int64_t number) noexcept nogil:
    return <int64_t>(v.vector[number].claimed >> 32) if number >= 0 else NOBODY


cdef inline void free_vectors(Vectors *v) noexcept nogil:
    cdef size_t number
    for number in range(v.count):
        free(v.vector[number].row)
        free(v.vector[number].own)
    free(v.vector)
    free(v.index)
    free(v.value)
    free(v.dense)
    free(v.of_origin)


cdef enum:
    STEPS = 48               # of the golden section, which end in the precision of float32

cdef extern from *:
    """
    static const double VWL_GOLDEN = 0.6180339887498949;
    """
    double GOLDEN "VWL_GOLDEN"


cdef struct Merged:
    double share             # of the first vector
    double a                 # the coefficient that comes nearest to both


cdef struct Pair:
    int kernel
    int degree
    double bandwidth, bias, left, right, both   # squared lengths and product
    double a_left, a_right


cdef inline double pair_kernel(const Pair *p, double product, double one, double other) noexcept nogil:
    if p.kernel == POLY:
        return pow(1 + product, p.degree) + p.bias
    return (exp(-p.bandwidth * (one + other - 2 * product)) if p.kernel == RBF else product) + p.bias


cdef inline double coefficient(const Pair *p, double share, double *explained) noexcept nogil:
    """The best a of z = share left + (1 - share) right, and how much of |a_left k(left) + a_right k(right)|^2 it explains."""
    cdef double rest = 1 - share
    cdef double square = share * share * p.left + 2 * share * rest * p.both + rest * rest * p.right
    cdef double sum = (p.a_left * pair_kernel(p, share * p.left + rest * p.both, p.left, square)
                       + p.a_right * pair_kernel(p, share * p.both + rest * p.right, p.right, square))
    cdef double own = pair_kernel(p, square, square, square)
    explained[0] = sum * sum / own if own > 0 else 0
    return sum / own if own > 0 else 0


cdef inline Merged best_share(const Pair *p) noexcept nogil:
    """By golden section."""
    cdef double low = 0, high = 1, left = 1 - GOLDEN, right = GOLDEN, at_left, at_right
    cdef Merged found
    cdef int i
    coefficient(p, left, &at_left)
    coefficient(p, right, &at_right)
    for i in range(STEPS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            coefficient(p, left, &at_left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            coefficient(p, right, &at_right)
    found.share = (low + high) / 2
    found.a = coefficient(p, found.share, &at_left)
    return found


cdef inline bint merge_vectors(Vectors *v, size_t left, size_t right, double a_left, double a_right, Merged *made) noexcept nogil:
    """A new vector, the last one, between two; False without memory."""
    cdef Pair p
    cdef size_t i = v.vector[left].start, j = v.vector[right].start, n = 0
    cdef size_t i_end = i + v.vector[left].size, j_end = j + v.vector[right].size
    cdef uint32_t *index = <uint32_t *>malloc((i_end - i + j_end - j + 1) * sizeof(uint32_t))
    cdef float *value = <float *>malloc((i_end - i + j_end - j + 1) * sizeof(float))
    cdef bint done = index != NULL and value != NULL
    p.kernel, p.degree, p.bandwidth, p.bias = v.kernel, v.degree, v.bandwidth, v.bias
    p.left, p.right, p.both = v.vector[left].square, v.vector[right].square, sparse_product(v, left, right)
    p.a_left, p.a_right = a_left, a_right
    made[0] = best_share(&p)
    while done and (i < i_end or j < j_end):
        if j == j_end or (i < i_end and v.index[i] < v.index[j]):
            index[n], value[n] = v.index[i], <float>(made.share * v.value[i])
            i += 1
        elif i == i_end or v.index[j] < v.index[i]:
            index[n], value[n] = v.index[j], <float>((1 - made.share) * v.value[j])
            j += 1
        else:
            index[n], value[n] = v.index[i], <float>(made.share * v.value[i] + (1 - made.share) * v.value[j])
            i += 1
            j += 1
        n += 1
    done = done and push_vector(v, index, value, n, -1)
    free(index)
    free(value)
    return done
