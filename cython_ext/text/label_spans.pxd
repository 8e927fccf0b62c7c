"""The spans of a batch's text in which its labels stand."""

from libc.stdint cimport int64_t, uint8_t, uint32_t


cdef inline int64_t most_labels(const uint8_t[::1] wanted, const uint32_t[::1] start, const uint32_t[::1] end,
                                Py_ssize_t text_size) except -1:
    """How many labels, parted by single bytes, the rows marked in ``wanted`` have at most.

    Raises ValueError where a span lies outside the text, or there are fewer spans than rows.
    """
    cdef Py_ssize_t i
    cdef int64_t most = 0
    if min(start.shape[0], end.shape[0]) < wanted.shape[0]:
        raise ValueError("an array is too short")
    for i in range(wanted.shape[0]):
        if wanted[i]:
            if start[i] > end[i] or end[i] > text_size:
                raise ValueError("a label lies outside the text")
            most += (end[i] - start[i]) // 2 + 1
    return most
