"""Kernels of normalised cuts over a graph in compressed sparse rows, each edge at both of its ends.

A graph of n nodes is ``indptr`` int64[n + 1], ``index`` int32[entries], ascending in every row, and ``value`` float64[entries].
Rows are independent of each other, so that threads which share them out make the same numbers.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

cdef enum:
    WIDTH = 32  # columns worked on at a time


cdef int check_rows(const int64_t[::1] indptr, const int32_t[::1] index, const double[::1] value, Py_ssize_t begin,
                    Py_ssize_t end) except -1:
    """Raises IndexError for rows outside the graph, and neighbours of theirs."""
    cdef Py_ssize_t i, n = indptr.shape[0] - 1
    if value.shape[0] != index.shape[0] or not 0 <= begin <= end <= n:
        raise IndexError("the rows do not fit the graph")
    for i in range(begin, end):
        if not 0 <= indptr[i] <= indptr[i + 1] <= index.shape[0]:
            raise IndexError("a row is outside the graph")
    for i in range(indptr[begin] if n else 0, indptr[end] if n else 0):
        if not 0 <= index[i] < n:
            raise IndexError("a neighbour is outside the graph")
    return 0


def multiply(const int64_t[::1] indptr, const int32_t[::1] index, const double[::1] value, const double[:, ::1] x,
             double[:, ::1] y, double product, double same, double before, Py_ssize_t begin, Py_ssize_t end):
    """``y = product * S x + same * x + before * y`` in the rows ``[begin, end)``, S the graph's matrix: a step of a recurrence.

    ``x`` and ``y`` are float64[n, columns]. Raises IndexError.
    """
    cdef Py_ssize_t row, i, c, first, width, columns = x.shape[1]
    cdef double sums[WIDTH]
    cdef const double *source
    cdef double *target
    cdef double v
    if x.shape[0] != indptr.shape[0] - 1 or y.shape[0] != x.shape[0] or y.shape[1] != columns:
        raise IndexError("the matrices do not fit the graph")
    check_rows(indptr, index, value, begin, end)
    with nogil:
        for row in range(begin, end):
            first = 0
            while first < columns:
                width = min(<Py_ssize_t>WIDTH, columns - first)
                memset(sums, 0, sizeof(sums))
                for i in range(indptr[row], indptr[row + 1]):
                    source, v = &x[index[i], first], value[i]
                    for c in range(width):
                        sums[c] += v * source[c]
                source, target = &x[row, first], &y[row, first]
                for c in range(width):
                    target[c] = product * sums[c] + same * source[c] + before * target[c]
                first += width


def components(const int64_t[::1] indptr, const int32_t[::1] index, const double[::1] value, int32_t[::1] first):
    """Fill ``first``, int32[n], with the first node of each node's connected component. Raises IndexError."""
    cdef Py_ssize_t node, i, n = indptr.shape[0] - 1
    cdef int32_t a, b
    if first.shape[0] != n:
        raise IndexError("there must be as many numbers as nodes")
    check_rows(indptr, index, value, 0, n)
    with nogil:
        for node in range(n):
            first[node] = <int32_t>node
        for node in range(n):
            a = root(first, <int32_t>node)
            for i in range(indptr[node], indptr[node + 1]):
                b = root(first, index[i])
                if b < a:
                    first[a] = b
                    a = b
                else:
                    first[b] = a
        for node in range(n):
            first[node] = root(first, <int32_t>node)


cdef inline int32_t root(int32_t[::1] parent, int32_t node) noexcept nogil:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


cdef int check_clusters(const int32_t[::1] cluster, Py_ssize_t nodes, Py_ssize_t clusters) except -1:
    cdef Py_ssize_t i
    if cluster.shape[0] != nodes:
        raise IndexError("every node needs a cluster")
    for i in range(nodes):
        if not 0 <= cluster[i] < clusters:
            raise IndexError("there is no such cluster")
    return 0


def inside(const int64_t[::1] indptr, const int32_t[::1] index, const double[::1] value, const int32_t[::1] cluster,
           double[::1] out):
    """Fill ``out``, float64[n], with the weight of each node's edges to its own ``cluster``, int32[n]. Raises IndexError."""
    cdef Py_ssize_t row, i, n = indptr.shape[0] - 1
    cdef double total
    check_rows(indptr, index, value, 0, n)
    if cluster.shape[0] != n or out.shape[0] != n:
        raise IndexError("there must be as many numbers as nodes")
    with nogil:
        for row in range(n):
            total = 0
            for i in range(indptr[row], indptr[row + 1]):
                if cluster[index[i]] == cluster[row]:
                    total += value[i]
            out[row] = total


def nearest(const int64_t[::1] indptr, const int32_t[::1] index, const double[::1] value, const double[::1] degree,
            const int32_t[::1] cluster, const double[::1] square, const double[::1] volume, double shift, double[::1] sums,
            int32_t[::1] out, double[::1] distance, Py_ssize_t begin, Py_ssize_t end):
    """Fill ``out``, int32[n], in the rows ``[begin, end)`` with the cluster j whose centre is nearest, and ``distance``.

    That is the least of ``square[j] - 2 (K_ij / degree[i] + shift [i in j]) / volume[j]``, K_ij the weight of the edges from i
    to the cluster; clusters of volume 0 are passed over. Of equally near ones a node keeps its own, else takes the first.
    ``sums``, float64[k], is scratch of zeros and is left so. Raises IndexError.
    """
    cdef Py_ssize_t row, i, j, n = indptr.shape[0] - 1, k = volume.shape[0]
    cdef int32_t own, best
    cdef double least, found
    check_rows(indptr, index, value, begin, end)
    check_clusters(cluster, n, k)
    if degree.shape[0] != n or out.shape[0] != n or distance.shape[0] != n or square.shape[0] != k or sums.shape[0] != k:
        raise IndexError("the arrays differ in length")
    with nogil:
        for row in range(begin, end):
            own = cluster[row]
            for i in range(indptr[row], indptr[row + 1]):
                sums[cluster[index[i]]] += value[i]
            best, least = own, square[own] - 2 * (sums[own] / degree[row] + shift) / volume[own]
            for j in range(k):
                if j != own and volume[j] > 0:
                    found = square[j] - 2 * sums[j] / degree[row] / volume[j]
                    if found < least:
                        best, least = <int32_t>j, found
            out[row], distance[row] = best, least
            for i in range(indptr[row], indptr[row + 1]):
                sums[cluster[index[i]]] = 0
