"""k-means over sparse rows; for each feature the means of all clusters stand side by side."""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef inline double add_products(const uint32_t *index, const float *value, size_t count, const float *means, size_t clusters,
                                double *product) noexcept nogil:
    """Add the dot products of a row and all means to ``product``. Returns the sum of the row's squares.

    Four features at a time, so that products are loaded and stored less often.
    """
    cdef size_t i = 0, c
    cdef const float *p
    cdef const float *q
    cdef const float *r
    cdef const float *s
    cdef float t, u, v, w
    cdef double square = 0
    while i + 4 <= count:
        p, q = means + index[i] * clusters, means + index[i + 1] * clusters
        r, s = means + index[i + 2] * clusters, means + index[i + 3] * clusters
        t, u, v, w = value[i], value[i + 1], value[i + 2], value[i + 3]
        square += <double>t * t + <double>u * u + <double>v * v + <double>w * w
        for c in range(clusters):
            product[c] += (t * p[c] + u * q[c]) + (v * r[c] + w * s[c])
        i += 4
    while i < count:
        p, t = means + index[i] * clusters, value[i]
        square += <double>t * t
        for c in range(clusters):
            product[c] += t * p[c]
        i += 1
    return square


cdef inline double of_rounding(double distance) noexcept nogil:
    """0 for what rounding has made negative; infinite for products beyond single precision."""
    return fabs(distance) if distance == -INFINITY else 0 if distance < 0 else distance


def assign(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, const float[:, ::1] means,
           const double[::1] scale, const double[::1] squares, int32_t[::1] cluster, double[::1] distance, size_t begin,
           size_t end):
    """The nearest mean of each of the rows ``[begin, end)``, the first of several, and the squared distance from it.

    ``indptr`` int64[rows + 1], ``index`` uint32[n] and ``value`` float32[n] are the rows; ``means`` float32[features, clusters],
    become means when they are multiplied by ``scale`` float64[clusters], and have squares of their lengths ``squares``; ``cluster`` int32[rows], ``distance`` float64[rows].
    Raises IndexError, MemoryError.
    """
    cdef size_t row, c, best, first, clusters = means.shape[1], rows = indptr.shape[0] - 1
    cdef double square, least, found
    cdef double *product
    check(indptr, index, value, means.shape[0])
    if end > rows or <size_t>cluster.shape[0] != rows or <size_t>distance.shape[0] != rows or not clusters:
        raise IndexError("the rows do not fit their arrays")
    if <size_t>squares.shape[0] != clusters or <size_t>scale.shape[0] != clusters:
        raise IndexError("the squares do not fit the means")
    product = <double *>malloc(clusters * sizeof(double))
    if product == NULL:
        raise MemoryError
    with nogil:
        for row in range(begin, end):
            memset(product, 0, clusters * sizeof(double))
            first, square = indptr[row], 0
            if <size_t>indptr[row + 1] > first:
                square = add_products(&index[first], &value[first], indptr[row + 1] - first, &means[0, 0], clusters, product)
            best, least = 0, squares[0] - 2 * scale[0] * product[0]
            for c in range(1, clusters):
                found = squares[c] - 2 * scale[c] * product[c]
                if found < least:
                    best, least = c, found
            cluster[row] = <int32_t>best
            distance[row] = of_rounding(square + least)
    free(product)


def distances(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, const float[:, ::1] means,
              const double[::1] squares, double[:, ::1] out):
    """Fill ``out`` float64[rows, clusters] with the squared distances of every row from all means; as ``assign``."""
    cdef size_t row, c, first, clusters = means.shape[1], rows = indptr.shape[0] - 1
    cdef double square
    check(indptr, index, value, means.shape[0])
    if <size_t>out.shape[0] != rows or <size_t>out.shape[1] != clusters or <size_t>squares.shape[0] != clusters:
        raise IndexError("the rows do not fit their arrays")
    with nogil:
        for row in range(rows if clusters else 0):
            memset(&out[row, 0], 0, clusters * sizeof(double))
            first, square = indptr[row], 0
            if <size_t>indptr[row + 1] > first:
                square = add_products(
                    &index[first], &value[first], indptr[row + 1] - first, &means[0, 0], clusters, &out[row, 0]
                )
            for c in range(clusters):
                out[row, c] = of_rounding(square + (squares[c] - 2 * out[row, c]))


def add_members(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, const float[::1] weight,
                const int32_t[::1] cluster, const double[::1] distance, double[:, ::1] sums, double[:, ::1] totals):
    """Add every row times its weight to the sum of its cluster, ``sums`` float64[features, clusters].

    ``totals`` float64[3, clusters]: the clusters' rows, their weights and these times the distances. One row after the other,
    so that batches do not matter; a row of weight 0 counts for nothing. Raises IndexError.
    """
    cdef size_t row, i, rows = indptr.shape[0] - 1
    check_members(indptr, index, value, weight, cluster, distance, sums, totals)
    with nogil:
        for row in range(rows):
            if weight[row] > 0:
                add_to_totals(weight[row], distance[row], cluster[row], totals)
                for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                    sums[index[i], cluster[row]] += <double>weight[row] * value[i]


def add_shares(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, const double[:, ::1] share,
               const double[:, ::1] distance, double[:, ::1] sums, double[:, ::1] totals):
    """Add every row times its ``share`` float64[rows, clusters] to the sums of all clusters, float64[features, clusters].

    ``totals`` float64[3, clusters]: the shares are added to the second row, and times ``distance`` to the third. One row after
    the other, so that batches do not matter. Raises IndexError.
    """
    cdef size_t row, i, c, rows = indptr.shape[0] - 1, clusters = sums.shape[1]
    cdef const double *own
    cdef double *target
    cdef double v
    check(indptr, index, value, sums.shape[0])
    if <size_t>share.shape[0] != rows or <size_t>share.shape[1] != clusters or not clusters:
        raise IndexError("the shares do not fit the sums")
    if <size_t>distance.shape[0] != rows or <size_t>distance.shape[1] != clusters:
        raise IndexError("the distances do not fit the shares")
    if totals.shape[0] != 3 or <size_t>totals.shape[1] != clusters:
        raise IndexError("the totals do not fit the sums")
    with nogil:
        for row in range(rows):
            own = &share[row, 0]
            for c in range(clusters):
                totals[1, c] += own[c]
                totals[2, c] += own[c] * distance[row, c]
            for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                target, v = &sums[index[i], 0], value[i]
                for c in range(clusters):
                    target[c] += own[c] * v


cdef inline void add_to_totals(double weight, double distance, size_t cluster, double[:, ::1] totals) noexcept nogil:
    totals[0, cluster] += 1
    totals[1, cluster] += weight
    totals[2, cluster] += weight * distance


cdef int check_members(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, const float[::1] weight,
                       const int32_t[::1] cluster, const double[::1] distance, double[:, ::1] sums,
                       double[:, ::1] totals) except -1:
    cdef size_t row, rows = indptr.shape[0] - 1, clusters = sums.shape[1]
    check(indptr, index, value, sums.shape[0])
    if <size_t>weight.shape[0] != rows or <size_t>cluster.shape[0] != rows or <size_t>distance.shape[0] != rows:
        raise IndexError("the rows do not fit their arrays")
    if totals.shape[0] != 3 or <size_t>totals.shape[1] != clusters:
        raise IndexError("the totals do not fit the sums")
    for row in range(rows):
        if <uint32_t>cluster[row] >= clusters:
            raise IndexError("there is no such cluster")
    return 0


def add_to_means(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, const float[::1] weight,
                 const int32_t[::1] cluster, const double[::1] distance, double[:, ::1] sums, double[:, ::1] totals,
                 float[:, ::1] means, double[::1] squares):
    """As ``add_members``; ``means`` float32[features, clusters] get the sums, ``squares`` float64[clusters] the squares of
    their lengths. Raises IndexError.
    """
    cdef size_t row, i, rows = indptr.shape[0] - 1
    cdef double old
    cdef double *target
    if means.shape[0] != sums.shape[0] or means.shape[1] != sums.shape[1] or squares.shape[0] != sums.shape[1]:
        raise IndexError("the means do not fit the sums")
    check_members(indptr, index, value, weight, cluster, distance, sums, totals)
    with nogil:
        for row in range(rows):
            if weight[row] > 0:
                add_to_totals(weight[row], distance[row], cluster[row], totals)
                for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                    target = &sums[index[i], cluster[row]]
                    old = target[0]
                    target[0] += <double>weight[row] * value[i]
                    squares[cluster[row]] += target[0] * target[0] - old * old
                    means[index[i], cluster[row]] = <float>target[0]


cdef int check(const int64_t[::1] indptr, const uint32_t[::1] index, const float[::1] value, size_t features) except -1:
    cdef size_t i, n = index.shape[0]
    if <size_t>indptr[indptr.shape[0] - 1] > n or <size_t>value.shape[0] != n:
        raise IndexError("the rows do not fit their arrays")
    for i in range(n):
        if index[i] >= features:
            raise IndexError("a feature has no row in the means")
    return 0
