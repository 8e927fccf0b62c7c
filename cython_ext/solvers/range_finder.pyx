"""Products of sparse rows with a matrix of a few columns, as randomised decompositions need them."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from base.random cimport mix64

cdef enum:
    WIDTH = 64  # columns worked on at a time


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
