"""Scans over the weight table, ``float32[slots, stride]``, which most functions read as uint32 to test for set bits."""

from libc.math cimport isfinite
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from base.byte_scan cimport first_bit, prefetch

cdef extern from *:
    """
    /* A write access that changes nothing, even if another thread writes to the word at the same time. */
    #if defined(__GNUC__)
    #define VWL_TOUCH(word) ((void)__atomic_fetch_or(word, 0u, __ATOMIC_RELAXED))
    #else
    #define VWL_TOUCH(word) ((void)(word))
    #endif
    """
    void touch_word "VWL_TOUCH"(unsigned int *word) noexcept nogil

cdef extern from "learners/slots_simd.h" nogil:
    bint has_simd "vwl_has_simd"()
    uint32_t find_set_slots "vwl_slots_set"(const unsigned int *bits, size_t n, int columns)
    uint32_t find_set_pairs "vwl_pairs_set"(const unsigned int *bits, size_t n)


cdef inline uint32_t find_set_rows(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end,
                                   Py_ssize_t columns) noexcept nogil:
    """A mask whose bit i says whether row ``begin + i`` has a bit set in its first ``columns`` columns, for at most 32 rows."""
    cdef Py_ssize_t row, column
    cdef unsigned int union_of_bits
    cdef uint32_t found = 0
    if has_simd() and bits.shape[1] == 4:
        return find_set_slots(&bits[begin, 0], end - begin, <int>columns)
    if bits.shape[1] == 2 and columns == 2:
        return find_set_pairs(&bits[begin, 0], end - begin)
    for row in range(begin, end):
        union_of_bits = bits[row, 0]
        for column in range(1, columns):
            union_of_bits |= bits[row, column]
        found |= <uint32_t>(union_of_bits != 0) << (row - begin)
    return found


cdef inline int count_bits(uint32_t word) noexcept nogil:
    """The number of set bits, by sums over pairs, groups of four and so on."""
    word -= word >> 1 & 0x55555555
    word = (word & 0x33333333) + (word >> 2 & 0x33333333)
    return <int>(((word + (word >> 4)) & 0x0f0f0f0f) * <uint32_t>0x01010101 >> 24)


cdef inline Py_ssize_t mark_range(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t columns,
                                  unsigned int[::1] marks) noexcept nogil:
    """Set the marks of the rows ``[begin, end)`` that have a bit set; returns how many there are."""
    cdef Py_ssize_t next, found = 0
    cdef uint32_t word
    while begin < end:
        next = min((begin | 31) + 1, end)
        word = find_set_rows(bits, begin, next, columns)
        marks[begin >> 5] |= word << (begin & 31)
        found += count_bits(word)
        begin = next
    return found


def mark_rows(const unsigned int[:, ::1] bits, Py_ssize_t columns, unsigned int[::1] marks, const unsigned char[::1] pages=None):
    """Set the mark of every row that has a bit set in the first ``columns`` columns; returns how many there are.

    ``bits`` is uint32[rows, stride] with stride >= columns; ``marks`` is uint32[at least rows / 32]: bit r % 32 of word
    r // 32 is the mark of row r. ``pages``, uint8[n], divides the rows into n parts of equal size; parts with 0 are skipped. Bits
    are tested, so -0.0 counts as set. Raises IndexError when the columns, the pages or ``marks`` do not fit.
    """
    cdef Py_ssize_t found = 0, rows = bits.shape[0], parts = 1 if pages is None else pages.shape[0], page
    if not 0 < columns <= bits.shape[1] or rows > marks.shape[0] << 5:
        raise IndexError("the columns lie outside the table or the marks are too short")
    if not parts or rows % parts:
        raise IndexError("the pages do not fit the rows")
    rows //= parts
    with nogil:
        for page in range(parts):
            if pages is None or pages[page]:
                found += mark_range(bits, page * rows, (page + 1) * rows, columns, marks)
    return found


def marked_rows(const unsigned int[::1] marks, uint64_t first, unsigned int[::1] out):
    """Write the numbers of the marked rows to ``out``, uint32[n], in ascending order; returns how many there are.

    The first mark is that of row ``first``. Raises IndexError when ``out`` is too short.
    """
    cdef Py_ssize_t word, found = 0
    cdef uint32_t left
    for word in range(marks.shape[0]):
        left = marks[word]
        if found + count_bits(left) > out.shape[0]:
            raise IndexError("the array for the numbers is too short")
        while left:
            out[found] = <unsigned int>(first + (word << 5) + first_bit(left))
            left &= left - 1
            found += 1
    return found


def changed_rows(const unsigned int[:, ::1] bits, const unsigned int[::1] known, const unsigned int[:, ::1] before,
                 uint64_t first, unsigned int[::1] out, const unsigned char[::1] pages=None):
    """Write to ``out``, uint32[n], the numbers of the rows that have other bits than before, in ascending order; returns how
    many there are.

    ``bits``, uint32[rows, stride], is a part of a table that begins with row ``first``; ``before``, uint32[columns, m], has the
    bits that the first columns of the rows ``known``, uint32[m] ascending, once had; those of all other rows were zero.
    ``pages``: as for ``mark_rows``; rows of parts with 0 have not changed. Raises IndexError when the arrays do not fit.
    """
    cdef Py_ssize_t found = 0, rows = bits.shape[0], parts = 1 if pages is None else pages.shape[0], page, row, column
    cdef Py_ssize_t at = 0, columns = before.shape[0]
    cdef uint32_t different
    if not 0 < columns <= bits.shape[1] or known.shape[0] != before.shape[1] or out.shape[0] < rows:
        raise IndexError("the arrays do not fit the table")
    if not parts or rows % parts:
        raise IndexError("the pages do not fit the rows")
    rows //= parts
    with nogil:
        for page in range(parts):
            if pages is not None and not pages[page]:
                continue
            for row in range(page * rows, (page + 1) * rows):
                different = 0
                while at < known.shape[0] and known[at] < first + row:
                    at += 1
                if at < known.shape[0] and known[at] == first + row:
                    for column in range(columns):
                        different |= bits[row, column] ^ before[column, at]
                else:
                    for column in range(columns):
                        different |= bits[row, column]
                out[found] = <unsigned int>(first + row)
                found += different != 0
    return found


def take_column(const float[:, ::1] values, Py_ssize_t column, const unsigned int[::1] slots, float[::1] out):
    """Fill ``out``, float32[n], with a column of the table's first n rows or, with ``slots``, uint32[n], of the rows listed
    there.

    Returns whether all values are finite. Raises IndexError for a column or row outside the table.
    """
    cdef Py_ssize_t i, row, n = out.shape[0], rows = values.shape[0]
    cdef bint finite = True
    if not 0 <= column < values.shape[1] or n > (rows if slots is None else slots.shape[0]):
        raise IndexError("the numbers lie outside the table")
    with nogil:
        for i in range(n):
            row = i if slots is None else slots[i]
            if row >= rows:
                break
            out[i] = values[row, column]
            finite = finite and isfinite(out[i])
        else:
            i = n
    if i < n:
        raise IndexError("a slot lies outside the table")
    return finite


def fill_column(float[:, ::1] values, Py_ssize_t column, Py_ssize_t begin, const unsigned int[::1] slots,
                const unsigned char[::1] data):
    """Write float32 numbers to a column of a table, from row ``begin`` on or, with ascending ``slots``, to the rows
    ``slots[begin:]``.

    ``data`` are the numbers as bytes. Returns the ``begin`` of the next call. Raises IndexError for a row or column outside the
    table.
    """
    cdef Py_ssize_t i, n = data.shape[0] // 4, rows = values.shape[0]
    if slots is not None:
        rows = slots.shape[0]
        if rows and slots[rows - 1] >= values.shape[0]:
            raise IndexError("the slots lie outside the table")
    if not 0 <= column < values.shape[1] or begin < 0 or n > rows - begin:
        raise IndexError("the numbers lie outside the table")
    with nogil:
        for i in range(n):
            memcpy(&values[begin + i if slots is None else slots[begin + i], column], &data[4 * i], 4)
    return begin + n


def touch_pages(unsigned int[:, ::1] bits, unsigned char[::1] pages, const unsigned int[::1] slots):
    """Write to the pages of some slots, without changing a weight, so that the system allocates them before they are learned.

    ``pages`` uint8[n] divides the table into n pages, a power of two; it is not 0 for pages that are allocated already, and is
    set to 1 for those that this call touches. ``slots`` are taken modulo the number of rows, a power of two. Another thread may
    write to the table. Returns the number of pages touched.
    """
    cdef Py_ssize_t i, rows, new = 0
    cdef unsigned int page, mask = <unsigned int>(bits.shape[0] - 1)
    cdef int shift = 0
    if not pages.shape[0] or bits.shape[0] % pages.shape[0] or bits.shape[0] & (bits.shape[0] - 1):
        raise IndexError("the pages do not fit the table")
    rows = bits.shape[0] // pages.shape[0]
    while rows >> shift > 1:
        shift += 1
    with nogil:
        for i in range(slots.shape[0]):
            page = (slots[i] & mask) >> shift
            if not pages[page]:
                pages[page] = 1
                new += 1
                touch_word(&bits[<Py_ssize_t>page << shift, 0])
    return new


def prefetch_slots(const float[:, ::1] values, const unsigned int[::1] slots):
    """Prefetch slots into the caches that threads share. ``slots`` are taken modulo the number of rows, a power of two."""
    cdef Py_ssize_t i
    cdef unsigned int mask = <unsigned int>(values.shape[0] - 1)
    if not values.shape[0] or not values.shape[1] or values.shape[0] & (values.shape[0] - 1):
        raise IndexError("the slots do not fit the table")
    with nogil:
        for i in range(slots.shape[0]):
            prefetch(&values[slots[i] & mask, 0])
