"""Counts distinct hashes: open addressing in ``uint32[power of two]``, 0 for an empty place."""

from libc.stdint cimport uint32_t


def insert(uint32_t[::1] table, const uint32_t[::1] hashes, Py_ssize_t begin, Py_ssize_t most):
    """Enter ``hashes[begin:]``, which are not 0, as long as fewer than ``most`` are new.

    Returns where it stopped and how many were new. Raises IndexError when ``table`` has no room for so many, or a size
    that is no power of two.
    """
    cdef Py_ssize_t i = begin, end = hashes.shape[0], new = 0
    cdef size_t mask = <size_t>table.shape[0] - 1, place
    cdef uint32_t hash
    if begin < 0 or most >= table.shape[0] or table.shape[0] & <Py_ssize_t>mask:
        raise IndexError("the table has a wrong size")
    with nogil:
        while i < end and new < most:
            hash = hashes[i]
            place = (hash * <size_t>0x9E3779B97F4A7C15 >> 20) & mask
            while table[place] != 0 and table[place] != hash:
                place = (place + 1) & mask
            if table[place] == 0 and hash != 0:
                table[place] = hash
                new += 1
            i += 1
    return i, new
