"""Terms of rows, those of a slot added up, with other values: of a function, of weights of slots, of length 1; numbers of slots."""

from libc.math cimport fabs, log, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort

from base.byte_scan cimport prefetch
from base.status cimport NO_MEMORY, OK

cdef enum:
    RAW = 0
    LOG = 1
    BINARY = 2
    AHEAD = 16             # slots between a prefetch and its use


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


cdef struct Numbers:       # of slots, in a table of open addresses
    uint32_t *bucket       # (2^bits,) 1 + the number of a slot; 0: empty
    int bits


cdef inline size_t bucket_of(const Numbers *n, uint32_t slot) noexcept nogil:
    return slot * <uint32_t>2654435769 >> (32 - n.bits)


cdef inline uint32_t *place_of(const Numbers *n, const uint32_t *slots, uint32_t slot) noexcept nogil:
    """The bucket of a slot, or the empty one where it belongs."""
    cdef size_t at = bucket_of(n, slot)
    while n.bucket[at] and slots[n.bucket[at] - 1] != slot:
        at = (at + 1) & ((<size_t>1 << n.bits) - 1)
    return n.bucket + at


cdef inline int hold(Numbers *n, const uint32_t *slots, size_t count) noexcept nogil:
    """Make room for so many different slots and one more, and put them in anew if there was too little."""
    cdef uint32_t *bucket = n.bucket
    cdef size_t i
    cdef int bits = n.bits
    while bits < 32 and <size_t>1 << bits < 2 * (count + 1):
        bits += 2
    if bits == n.bits and bucket != NULL:
        return OK
    bucket = <uint32_t *>calloc(<size_t>1 << bits, sizeof(uint32_t))
    if bucket == NULL:
        return NO_MEMORY
    free(n.bucket)
    n.bucket, n.bits = bucket, bits
    for i in range(count):
        place_of(n, slots, slots[i])[0] = <uint32_t>i + 1
    return OK


def number_slots(const uint32_t[::1] hashes, uint32_t[::1] slots, int64_t[::1] count):
    """Find the different slots among ``hashes``, uint32[n], in the order of their first appearances; returns how many there are.

    The first entries of ``slots``, uint32[n], get them and those of ``count``, int64[n], how often each appears. Raises
    MemoryError, IndexError where the arrays are shorter.
    """
    cdef Numbers n = Numbers(NULL, 10)
    cdef size_t i, size = hashes.shape[0], found = 0
    cdef uint32_t *place
    cdef int status = OK
    if min(slots.shape[0], count.shape[0]) < hashes.shape[0]:
        raise IndexError("there is no room for the slots")
    if not size:
        return 0
    with nogil:
        for i in range(size):
            status = hold(&n, &slots[0], found)
            if status != OK:
                break
            if i + AHEAD < size:
                prefetch(n.bucket + bucket_of(&n, hashes[i + AHEAD]))
            place = place_of(&n, &slots[0], hashes[i])
            if place[0] == 0:
                slots[found], count[found] = hashes[i], 0
                found += 1
                place[0] = <uint32_t>found
            count[place[0] - 1] += 1
        free(n.bucket)
    if status != OK:
        raise MemoryError("not enough memory for the features")
    return found


def find_slots(const uint32_t[::1] slots, const uint32_t[::1] hashes, int64_t[::1] place):
    """Fill ``place``, int64[n], with the index of each of ``hashes``, uint32[n], in ``slots``, different ones in any order; -1
    where it is not there. Raises MemoryError, IndexError where ``place`` is shorter.
    """
    cdef Numbers n = Numbers(NULL, 10)
    cdef size_t i, size = hashes.shape[0], known = slots.shape[0]
    cdef int status
    if place.shape[0] < hashes.shape[0]:
        raise IndexError("there is no room for the places")
    if not known:
        place[:] = -1
        return
    with nogil:
        status = hold(&n, &slots[0], known)
        for i in range(size if status == OK else 0):
            if i + AHEAD < size:
                prefetch(n.bucket + bucket_of(&n, hashes[i + AHEAD]))
            place[i] = <int64_t>place_of(&n, &slots[0], hashes[i])[0] - 1
        free(n.bucket)
    if status != OK:
        raise MemoryError("not enough memory for the features")
