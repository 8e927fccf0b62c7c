"""Terms of rows, those of a slot added up, with other values: of a function, of weights of slots, of length 1."""

from libc.math cimport fabs, log, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort

from base.status cimport NO_MEMORY, OK

cdef enum:
    RAW = 0
    LOG = 1
    BINARY = 2


cdef int compare(const void *a, const void *b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t *>a)[0], y = (<const uint64_t *>b)[0]
    return (x > y) - (x < y)


cdef inline double changed(double value, int kind) noexcept nogil:
    if kind == LOG and fabs(value) >= 1:
        return (1 + log(fabs(value))) * (1 if value > 0 else -1)
    return 1 if kind == BINARY and value != 0 else value


def merge(int64_t[::1] indptr, uint32_t[::1] index, float[::1] value, int kind):
    """Add up the terms of a row that have the same slot, in their order, and change the sums' values; in place.

    ``indptr`` int64[rows + 1], ``index`` uint32[n] and ``value`` float32[n] are the terms by rows, afterwards ascending by slot
    and without those of value 0. ``kind``: 0 raw, 1 log (1 + ln of values beyond 1 in size), 2 binary. Returns a status code.
    """
    cdef size_t row, rows = indptr.shape[0] - 1, begin = 0, end, i, n, most = 0, out = 0
    cdef uint64_t *key
    cdef float *copied
    cdef uint32_t slot
    cdef double total
    for row in range(rows):
        most = max(most, <size_t>(indptr[row + 1] - indptr[row]))
    key = <uint64_t *>malloc((most + 1) * sizeof(uint64_t))
    copied = <float *>malloc((most + 1) * sizeof(float))
    if key == NULL or copied == NULL:
        free(key)
        free(copied)
        return NO_MEMORY
    with nogil:
        for row in range(rows):
            end = indptr[row + 1]
            n = end - begin
            for i in range(n):
                key[i] = <uint64_t>index[begin + i] << 32 | i
                copied[i] = value[begin + i]
            begin = end
            qsort(key, n, sizeof(uint64_t), &compare)
            i = 0
            while i < n:
                slot, total = <uint32_t>(key[i] >> 32), 0
                while i < n and <uint32_t>(key[i] >> 32) == slot:
                    total += copied[<uint32_t>key[i]]
                    i += 1
                total = changed(total, kind)
                if total != 0:
                    index[out], value[out] = slot, <float>total
                    out += 1
            indptr[row + 1] = out
    free(key)
    free(copied)
    return OK


def scale(int64_t[::1] indptr, uint32_t[::1] index, float[::1] value, const float[::1] factor):
    """Multiply every term's value by its slot's factor, and drop those that become 0; in place.

    ``factor`` float32[slots]. Raises IndexError for a slot without a factor.
    """
    cdef size_t row, rows = indptr.shape[0] - 1, begin = 0, end, i, out = 0, slots = factor.shape[0]
    cdef float product
    cdef bint beyond = False
    with nogil:
        for row in range(rows):
            end = indptr[row + 1]
            for i in range(begin, end):
                if index[i] >= slots:
                    beyond = True
                    break
                product = value[i] * factor[index[i]]
                if product != 0:
                    index[out], value[out] = index[i], product
                    out += 1
            begin = end
            indptr[row + 1] = out
    if beyond:
        raise IndexError("a slot has no factor")


def normalize(const int64_t[::1] indptr, float[::1] value):
    """Scale every row to length 1; rows of length 0 stay."""
    cdef size_t row, i, rows = indptr.shape[0] - 1
    cdef double square
    with nogil:
        for row in range(rows):
            square = 0
            for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                square += <double>value[i] * value[i]
            if square > 0:
                square = sqrt(square)
                for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                    value[i] = <float>(value[i] / square)


def divide_by_degree(const int64_t[::1] indptr, const uint32_t[::1] index, float[::1] value, const double[::1] total,
                     double[::1] degree):
    """Divide every row x by x.s, its degree, where that is above 0; rows of degree 0 get values 0.

    ``total`` float64[slots] is s, the sum of all rows; ``degree`` float64[rows] is filled. Raises IndexError for a slot beyond s.
    """
    cdef size_t row, i, rows = indptr.shape[0] - 1, slots = total.shape[0]
    cdef bint beyond = False
    cdef double sum
    with nogil:
        for row in range(rows):
            sum = 0
            for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                if index[i] >= slots:
                    beyond = True
                    break
                sum += value[i] * total[index[i]]
            degree[row] = sum
            for i in range(<size_t>indptr[row], <size_t>indptr[row + 1]):
                value[i] = <float>(value[i] / sum) if sum > 0 else 0
    if beyond:
        raise IndexError("a slot has no total")
