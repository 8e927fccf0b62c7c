"""A set of hashes, to count distinct ones: open addressing in ``uint32[power of two]``, 0 for an empty slot."""

from libc.stdint cimport uint32_t


def insert(uint32_t[::1] table, const uint32_t[::1] hashes, Py_ssize_t begin, Py_ssize_t max_new):
    """Insert ``hashes[begin:]`` until ``max_new`` of them were new; hashes of 0 are skipped.

    Returns the index of the first hash that was not looked at, and how many were new. Raises IndexError when ``table`` is too
    small for ``max_new`` or its size is not a power of two.
    """
    cdef Py_ssize_t i = begin, end = hashes.shape[0], new = 0
    cdef size_t mask = <size_t>table.shape[0] - 1, slot
    cdef uint32_t hash
    if begin < 0 or max_new >= table.shape[0] or table.shape[0] & <Py_ssize_t>mask:
        raise IndexError("the table has a wrong size")
    with nogil:
        while i < end and new < max_new:
            hash = hashes[i]
            slot = (hash * <size_t>0x9E3779B97F4A7C15 >> 20) & mask
            while table[slot] != 0 and table[slot] != hash:
                slot = (slot + 1) & mask
            if table[slot] == 0 and hash != 0:
                table[slot] = hash
                new += 1
            i += 1
    return i, new
