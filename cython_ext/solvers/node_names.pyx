"""Numbers names as they appear, whole names and not their hashes: open addressing in ``int32[power of two]``, -1 where empty."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


cdef inline uint64_t hash_of(const uint8_t *name, size_t length) noexcept nogil:
    """FNV-1a of 64 bits (Fowler, Noll, Vo); its low bits are mixed well enough for a table."""
    cdef uint64_t h = <uint64_t>0xCBF29CE484222325
    cdef size_t i
    for i in range(length):
        h = (h ^ name[i]) * <uint64_t>0x100000001B3
    return h ^ (h >> 32)


def number(const uint8_t[::1] text, const uint32_t[::1] start, const uint32_t[::1] end, int32_t[::1] table, int64_t[::1] ends,
           uint8_t[::1] names, Py_ssize_t known, int32_t[::1] out):
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


def enter(int32_t[::1] table, const int64_t[::1] ends, const uint8_t[::1] names, Py_ssize_t known):
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
