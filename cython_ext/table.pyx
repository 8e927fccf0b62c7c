"""Scans over the weight table, whose rows are the slots: ``float32[slots, stride]``, seen as bits."""


def nonzero_rows(const unsigned int[:, ::1] bits, Py_ssize_t begin, Py_ssize_t end,
                 Py_ssize_t columns, unsigned int[::1] out):
    """Write the numbers of the rows in [begin, end) that have a bit set in the first ``columns`` columns.

    ``bits`` is uint32[slots, stride] with stride >= columns; ``out`` is uint32[at least end - begin] and is filled
    from its start, ascending. Returns how many were found. Bits are tested, so -0.0 counts as set.
    Raises IndexError when the range, the columns or ``out`` do not fit.
    """
    cdef Py_ssize_t row, column, found = 0
    cdef unsigned int any_bit
    if not (0 <= begin <= end <= bits.shape[0] and end - begin <= out.shape[0]
            and 0 < columns <= bits.shape[1] and end <= <Py_ssize_t>1 << 32):
        raise IndexError("the rows or columns to scan lie outside the table")
    with nogil:
        if columns == 3:
            for row in range(begin, end):
                any_bit = bits[row, 0] | bits[row, 1] | bits[row, 2]
                if any_bit:
                    out[found] = <unsigned int>row
                    found += 1
        else:
            for row in range(begin, end):
                any_bit = bits[row, 0]
                for column in range(1, columns):
                    any_bit |= bits[row, column]
                if any_bit:
                    out[found] = <unsigned int>row
                    found += 1
    return found
