"""Scans over the weight table, whose rows are the slots: ``float32[slots, stride]``, seen as bits."""


cdef inline Py_ssize_t scan_rows(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t columns,
                                 unsigned int *out) noexcept nogil:
    """Numbers of the rows with a bit set; returns how many."""
    cdef Py_ssize_t row, column, found = 0
    cdef unsigned int any_bit
    for row in range(begin, end):
        any_bit = bits[row, 0]
        for column in range(1, columns):
            any_bit |= bits[row, column]
        if any_bit:
            out[found] = <unsigned int>row
            found += 1
    return found


cdef inline bint rows_finite(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t columns) noexcept nogil:
    cdef Py_ssize_t row, column
    cdef unsigned int wrong = 0
    for row in range(begin, end):
        for column in range(columns):
            wrong |= (bits[row, column] & 0x7f800000) == 0x7f800000
    return not wrong


cdef Py_ssize_t part_of(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t columns,
                        const unsigned char[::1] pages) except -1:
    """Rows of a page; 1 when there are no rows. Raises IndexError for what does not fit the table."""
    cdef Py_ssize_t rows = end - begin
    if not (0 <= begin <= end <= bits.shape[0] and 0 < columns <= bits.shape[1] and end <= <Py_ssize_t>1 << 32):
        raise IndexError("the rows or columns to scan lie outside the table")
    if pages is None or not rows:
        return rows if rows else 1
    if not pages.shape[0] or rows % pages.shape[0]:
        raise IndexError("the pages do not fit the rows")
    return rows // pages.shape[0]


def nonzero_rows(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t columns,
                 unsigned int[::1] out, const unsigned char[::1] pages=None):
    """Write the numbers of the rows in [begin, end) that have a bit set in the first ``columns`` columns.

    ``bits`` is uint32[slots, stride] with stride >= columns; ``out`` is uint32[at least end - begin] and is filled
    from its start, ascending. ``pages``, uint8[n], cuts the rows into n parts of one size; those with 0 are passed over.
    Returns how many were found. Bits are tested, so -0.0 counts as set. Raises IndexError when the range, the columns,
    the pages or ``out`` do not fit.
    """
    cdef Py_ssize_t found = 0, rows = part_of(bits, begin, end, columns, pages), first, page
    if end - begin > out.shape[0]:
        raise IndexError("the numbers have no room")
    with nogil:
        for page in range((end - begin) // rows):
            if pages is None or pages[page]:
                first = begin + page * rows
                if columns == 3:                 # the usual case, unrolled
                    found += scan_rows(bits, first, first + rows, 3, &out[found])
                else:
                    found += scan_rows(bits, first, first + rows, columns, &out[found])
    return found


def all_finite(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t columns,
               const unsigned char[::1] pages=None):
    """Whether there is neither NaN nor infinity in these rows and columns; see ``nonzero_rows``."""
    cdef Py_ssize_t rows = part_of(bits, begin, end, columns, pages), first, page
    cdef bint finite = True
    with nogil:
        for page in range((end - begin) // rows):
            if pages is None or pages[page]:
                first = begin + page * rows
                finite = finite and rows_finite(bits, first, first + rows, columns)
    return finite
