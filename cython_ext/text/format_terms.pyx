"""The terms of an example as audits write them."""

from libc.stdint cimport int64_t, uint32_t
from libc.stdio cimport snprintf

cdef enum:
    MOST = 96  # bytes of what stands behind a name: a slot and three numbers


def format_terms(list names, const uint32_t[::1] slots, const float[::1] values, const float[::1] weights, squares,
                 const int64_t[::1] order):
    """``\\tname:slot:value:weight`` of each term, in the ``order`` of their numbers, int64[terms]; bytes.

    ``names``: str, with surrogate escapes for bytes that are not UTF-8; ``slots`` uint32[terms]; ``values`` and ``weights``
    float32[terms]; ``squares``, float32[terms] or None, stand behind the weights and an ``@``. Numbers have up to six digits, as
    C's ``%g`` writes them. Raises IndexError where an array is shorter.
    """
    cdef char behind[MOST]
    cdef const float[::1] square = squares
    cdef Py_ssize_t i, place, size
    cdef list parts = []
    if min(len(names), slots.shape[0], values.shape[0], weights.shape[0]) < order.shape[0]:
        raise IndexError("there are more terms than names or numbers")
    if squares is not None and square.shape[0] < order.shape[0]:
        raise IndexError("there are more terms than sums of squares")
    for i in range(order.shape[0]):
        place = order[i]
        if not 0 <= place < order.shape[0]:
            raise IndexError("no such term")
        size = snprintf(behind, MOST, b":%u:%g:%g", slots[place], <double>values[place], <double>weights[place])
        if squares is not None:
            size += snprintf(behind + size, MOST - size, b"@%g", <double>square[place])
        parts.append(b"\t")
        parts.append((<str>names[place]).encode("utf-8", "surrogateescape"))
        parts.append(behind[:size])
    return b"".join(parts)
