"""The merger of two support vectors (Wang, Crammer and Vucetic, JMLR 13, 2012, section 4.3)."""

from libc.math cimport exp, pow, sqrt
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from learners.kernel_rows cimport POLY, RBF, Vectors, push_vector, sparse_product

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
