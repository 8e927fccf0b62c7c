"""Fast reading of multiline labels of one word ``class:cost``, digits and a decimal number. Other labels are left to Python."""

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t

from text.labels cimport read_word
from text.number_parser cimport POWERS, fill_powers
from text.batch_builder cimport TAGGED
from base.status cimport OK


cdef inline const char *end_of_word(const char *p, const char *end) noexcept nogil:
    while p != end and p[0] != 32:
        p += 1
    return p


cdef inline const char *next_word(const char *p, const char *end) noexcept nogil:
    while p != end and p[0] == 32:
        p += 1
    return p


cdef inline bint read_cost(const char *p, const char *end, bint tagged, const float *powers, uint32_t *number,
                           float *cost) noexcept nogil:
    """Read ``class[:cost]`` and, if ``tagged``, a tag from ``[p, end)``. False for anything else. A space ends every word of a
    label.
    """
    cdef const char *stop = end_of_word(p, end)
    cdef const char *rest = next_word(stop, end)
    cdef int digits = 0
    if stop == end or (tagged and (rest == end or next_word(end_of_word(rest, end), end) != end)) or \
            (not tagged and rest != end):
        return False
    number[0] = 0
    while <unsigned char>(p[0] - 48) <= 9 and digits < 9:
        number[0] = 10 * number[0] + <uint32_t>(p[0] - 48)
        digits += 1
        p += 1
    cost[0] = INFINITY
    if digits and p == stop:
        return True
    return digits > 0 and p[0] == 58 and read_word(p + 1, stop, powers, True, cost) == OK


def read_costs(batch, const uint8_t[::1] wanted, uint32_t[::1] number, float[::1] cost, uint8_t[::1] found):
    """Read the labels of the rows marked in ``wanted``. ``found`` marks those that could be read, whose ``number`` (the class)
    and ``cost`` are filled in. All arrays have an entry per row.

    Raises ValueError where a span of the batch lies outside its text.
    """
    cdef const uint8_t[::1] flags = batch.flags
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const unsigned char[::1] text = batch.text if len(batch.text) else b" "
    cdef const char *letters = <const char *>&text[0]
    cdef float powers[POWERS]
    cdef Py_ssize_t i, rows = wanted.shape[0]
    if min(flags.shape[0], start.shape[0], end.shape[0], number.shape[0], cost.shape[0], found.shape[0]) < rows:
        raise ValueError("an array is too short")
    for i in range(rows):
        if wanted[i] and (start[i] > end[i] or end[i] > text.shape[0]):
            raise ValueError("a label lies outside the text")
    fill_powers(powers)
    with nogil:
        for i in range(rows):
            found[i] = wanted[i] and read_cost(letters + start[i], letters + end[i], flags[i] & TAGGED, powers, &number[i],
                                               &cost[i])
