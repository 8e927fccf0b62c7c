"""Products of sparse rows with a matrix of a few columns, as randomised decompositions need them; kernels of normalised cuts over a
graph in compressed sparse rows, each edge at both of its ends; and numbers for the names of its nodes as they appear.

A graph of n nodes is ``indptr`` int64[n + 1], ``index`` int32[entries], ascending in every row, and ``value`` float64[entries].
Rows are independent of each other, so that threads which share them out make the same numbers.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from base.random cimport mix64

cdef enum:
    WIDTH = 64         # columns worked on at a time of products
    GRAPH_WIDTH = 32   # of products with a graph


def add_products(const int64_t[::1] indptr, const int64_t[::1] index, const float[::1] value, const float[::1] weight,
                 const float[:, ::1] z, float[:, ::1] y, size_t begin, size_t end):
    """Add ``weight[i] x_i (x_i' z)`` of every row x_i to ``y``, in the columns ``[begin, end)``.

    ``indptr`` int64[rows + 1], ``index`` int64[n] and ``value`` float32[n] are the rows; ``z`` and ``y`` float32[features, columns].
    Columns are independent of each other, so that threads which share them out make the same numbers. Raises IndexError.
    """
    cdef size_t row, i, first, last, c, width, rows = indptr.shape[0] - 1, columns = z.shape[1]
    cdef float p[WIDTH]
    cdef const float *source
    cdef float *target
    cdef float v
    if end > columns or y.shape[1] != z.shape[1] or y.shape[0] != z.shape[0]:
        raise IndexError("the columns do not fit the matrices")
    check_rows(indptr, index, value, weight, z.shape[0])
    with nogil:
        while begin < end:
            width = min(<size_t>WIDTH, end - begin)
            for row in range(rows):
                first, last = indptr[row], indptr[row + 1]
                memset(p, 0, sizeof(p))
                for i in range(first, last):
                    source, v = &z[index[i], begin], value[i]
                    for c in range(width):
                        p[c] += v * source[c]
                for c in range(width):
                    p[c] *= weight[row]
                for i in range(first, last):
                    target, v = &y[index[i], begin], value[i]
                    for c in range(width):
                        target[c] += v * p[c]
            begin += width


def products(const int64_t[::1] indptr, const int64_t[::1] index, const float[::1] value, const float[:, ::1] z,
             double[:, ::1] out):
    """Fill ``out`` float64[rows, columns] with ``x_i' z`` of every row; as ``add_products``. Raises IndexError."""
    cdef size_t row, i, c, rows = indptr.shape[0] - 1, columns = z.shape[1]
    cdef const float *source
    cdef double *target
    cdef double v
    if <size_t>out.shape[0] != rows or out.shape[1] != z.shape[1]:
        raise IndexError("the columns do not fit the matrices")
    check_rows(indptr, index, value, value, z.shape[0])
    with nogil:
        for row in range(rows if columns else 0):
            target = &out[row, 0]
            memset(target, 0, columns * sizeof(double))
            for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                source, v = &z[index[i], 0], value[i]
                for c in range(columns):
                    target[c] += v * source[c]


cdef int check_rows(const int64_t[::1] indptr, const int64_t[::1] index, const float[::1] value, const float[::1] weight,
                    size_t features) except -1:
    cdef size_t i, n = index.shape[0]
    if <size_t>indptr[indptr.shape[0] - 1] > n or value.shape[0] != index.shape[0]:
        raise IndexError("the rows do not fit their arrays")
    for i in range(n):
        if <size_t>index[i] >= features:
            raise IndexError("a feature has no row in the matrix")
    return 0


def random_signs(const uint32_t[::1] slot, uint64_t seed, float[:, ::1] out):
    """Fill ``out`` float32[slots, columns] with -1 and 1, a pure function of seed, slot and column. Raises IndexError."""
    cdef size_t row, c
    if out.shape[0] != slot.shape[0]:
        raise IndexError("the slots do not fit the matrix")
    for row in range(<size_t>slot.shape[0]):
        for c in range(<size_t>out.shape[1]):
            out[row, c] = 1 if mix64(mix64(seed) ^ (<uint64_t>slot[row] << 24 | c)) & 1 else -1


def add_totals(const int64_t[::1] indptr, const int64_t[::1] index, const float[::1] value, const float[::1] weight,
               double[::1] total, double[::1] sums):
    """Add every row times its weight to ``total`` float64[features], and to ``sums`` float64[2] its weight, and the weight
    times the sum of its squared values; one after the other, so that batches do not matter. Raises IndexError.
    """
    cdef size_t row, i
    cdef double square
    check_rows(indptr, index, value, weight, total.shape[0])
    with nogil:
        for row in range(<size_t>indptr.shape[0] - 1):
            square = 0
            for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                square += <double>value[i] * value[i]
                total[index[i]] += <double>weight[row] * value[i]
            sums[0] += weight[row]
            sums[1] += weight[row] * square


cdef inline uint64_t hash_of(const uint8_t *name, size_t length) noexcept nogil:
    """FNV-1a of 64 bits (Fowler, Noll, Vo); its low bits are mixed well enough for a table."""
    cdef uint64_t h = <uint64_t>0xCBF29CE484222325
    cdef size_t i
    for i in range(length):
        h = (h ^ name[i]) * <uint64_t>0x100000001B3
    return h ^ (h >> 32)


def number_names(const uint8_t[::1] text, const uint32_t[::1] start, const uint32_t[::1] end, int32_t[::1] table,
                 int64_t[::1] ends, uint8_t[::1] names, Py_ssize_t known, int32_t[::1] out):
    """Fill ``out``, int32[n], with the numbers of the names ``text[start[i]:end[i]]``; new ones get the next numbers.

    Name ``j`` of the ``known`` ones is ``names[ends[j]:ends[j + 1]]``. Returns how many there are now. Raises IndexError for
    offsets outside the text, and where not all could be new: in ``table``, half of which stays empty, ``ends`` or ``names``.
    """
    cdef Py_ssize_t i, n = start.shape[0], slots = table.shape[0], room = names.shape[0]
    cdef size_t mask = <size_t>slots - 1, slot, length, total = 0
    cdef const uint8_t *name
    cdef int32_t found
    if end.shape[0] != n or out.shape[0] != n or slots & <Py_ssize_t>mask or 2 * (known + n) > slots:
        raise IndexError("the table does not fit the names")
    if ends.shape[0] <= known + n:
        raise IndexError("there is no room for so many names")
    for i in range(n):
        if start[i] > end[i] or end[i] > <size_t>text.shape[0]:
            raise IndexError("a name is outside the text")
        total += end[i] - start[i]
    if ends[known] < 0 or <size_t>ends[known] + total > <size_t>room:
        raise IndexError("there is no room for the names' bytes")
    with nogil:
        for i in range(n):
            name, length = &text[0] + start[i], end[i] - start[i]
            slot = <size_t>hash_of(name, length) & mask
            while True:
                found = table[slot]
                if found < 0:
                    table[slot] = found = <int32_t>known
                    memcpy(&names[0] + ends[known], name, length)
                    ends[known + 1] = ends[known] + <int64_t>length
                    known += 1
                    break
                if <size_t>(ends[found + 1] - ends[found]) == length and memcmp(&names[0] + ends[found], name, length) == 0:
                    break
                slot = (slot + 1) & mask
            out[i] = found
    return known


def enter_names(int32_t[::1] table, const int64_t[::1] ends, const uint8_t[::1] names, Py_ssize_t known):
    """Enter the ``known`` names, all different, into an empty ``table``. Raises IndexError."""
    cdef Py_ssize_t i, slots = table.shape[0]
    cdef size_t mask = <size_t>slots - 1, slot
    if slots & <Py_ssize_t>mask or 2 * known > slots or ends.shape[0] <= known:
        raise IndexError("the table does not fit the names")
    for i in range(known):
        if not 0 <= ends[i] <= ends[i + 1] <= names.shape[0]:
            raise IndexError("a name is outside the text")
    with nogil:
        for i in range(known):
            slot = <size_t>hash_of(&names[0] + ends[i], <size_t>(ends[i + 1] - ends[i])) & mask
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = <int32_t>i


cdef int check_graph(const int64_t[::1] indptr, const int32_t[::1] index, const double[::1] value, Py_ssize_t begin,
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
    cdef double sums[GRAPH_WIDTH]
    cdef const double *source
    cdef double *target
    cdef double v
    if x.shape[0] != indptr.shape[0] - 1 or y.shape[0] != x.shape[0] or y.shape[1] != columns:
        raise IndexError("the matrices do not fit the graph")
    check_graph(indptr, index, value, begin, end)
    with nogil:
        for row in range(begin, end):
            first = 0
            while first < columns:
                width = min(<Py_ssize_t>GRAPH_WIDTH, columns - first)
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
    check_graph(indptr, index, value, 0, n)
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
    check_graph(indptr, index, value, 0, n)
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
    check_graph(indptr, index, value, begin, end)
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
